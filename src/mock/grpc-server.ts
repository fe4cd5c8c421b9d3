import { createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { gunzipSync, inflateSync } from "node:zlib";
import { messageOf } from "../plan/problem.ts";
import { decodeMessage, encodeMessage, type ProtoObject } from "../service/protobuf/message.ts";
import * as messages from "../service/triton/messages.ts";
import { MockError, type MockModel } from "./model.ts";

const STATUS = { ok: 0, invalidArgument: 3, notFound: 5, unimplemented: 12, internal: 13 } as const;
const PREFIX_BYTES = 5;

/** A call that ends with a status other than OK. */
class StatusError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

type Unary = (model: MockModel, message: Uint8Array) => Promise<Uint8Array> | Uint8Array;

const UNARY: Readonly<Record<string, Unary>> = {
  ServerLive: () => encodeMessage(messages.READY_RESPONSE, { ready: true }),
  ServerReady: () => encodeMessage(messages.READY_RESPONSE, { ready: true }),
  ModelReady: (model, message) => {
    checkName(model, message);
    return encodeMessage(messages.READY_RESPONSE, { ready: true });
  },
  ServerMetadata: (model) => encodeMessage(messages.SERVER_METADATA, model.serverMetadata as ProtoObject),
  ModelMetadata: (model, message) => {
    checkName(model, message);
    return encodeMessage(messages.MODEL_METADATA, model.metadata as ProtoObject);
  },
  ModelConfig: (model, message) => {
    checkName(model, message);
    return encodeMessage(messages.MODEL_CONFIG_RESPONSE, { config: model.config as ProtoObject });
  },
  ModelStatistics: (model) => encodeMessage(messages.MODEL_STATISTICS, model.statistics as ProtoObject),
  RepositoryIndex: (model) => encodeMessage(messages.REPOSITORY_INDEX, model.index as ProtoObject),
  ModelInfer: async (model, message) => encodeMessage(messages.INFER_RESPONSE, await infer(model, message)),
};

/** Creates a server for KServe v2 over gRPC. It uses the runtime's HTTP/2 server, so that the client is not tested against itself. */
export function createGrpcServer(model: MockModel): Http2Server {
  const server = createServer({ settings: { initialWindowSize: 1024 * 1024 } });
  server.on("stream", (stream, headers) => {
    const method =
      String(headers[":path"] ?? "")
        .split("/")
        .pop() ?? "";
    const encoding = String(headers["grpc-encoding"] ?? "identity");
    stream.on("error", () => {});
    if (method === "ModelStreamInfer") serveStream(model, stream, encoding);
    else serveUnary(model, stream, method, encoding);
  });
  server.on("session", (session) => session.on("error", () => {}));
  return server;
}

function serveUnary(model: MockModel, stream: ServerHttp2Stream, method: string, encoding: string): void {
  const pieces: Buffer[] = [];
  stream.on("data", (piece: Buffer) => pieces.push(piece));
  stream.on("end", () => {
    const handler = UNARY[method];
    if (handler === undefined) {
      finish(stream, STATUS.unimplemented, `unknown method ${method}`);
      return;
    }
    void answerUnary(stream, async () => handler(model, unframe(Buffer.concat(pieces), encoding)));
  });
}

/** Answers a call unless the client has disconnected. */
async function answerUnary(stream: ServerHttp2Stream, answer: () => Promise<Uint8Array>): Promise<void> {
  try {
    const message = await answer();
    if (stream.destroyed) return;
    open(stream);
    stream.end(frame(message));
  } catch (error) {
    if (!stream.destroyed) finish(stream, codeOf(error), messageOf(error));
  }
}

/** Answers each message as soon as its result is ready. Ends the stream when the client has ended it and no answer is pending. */
function serveStream(model: MockModel, stream: ServerHttp2Stream, encoding: string): void {
  let buffer = Buffer.alloc(0);
  let pending = 0;
  let hasEnded = false;
  const endIfDone = (): void => {
    if (hasEnded && pending === 0 && !stream.destroyed) stream.end();
  };
  open(stream);
  stream.on("data", (piece: Buffer) => {
    buffer = Buffer.concat([buffer, piece]);
    while (buffer.length >= PREFIX_BYTES) {
      const size = buffer.readUInt32BE(1);
      if (buffer.length < PREFIX_BYTES + size) return;
      const message = buffer.subarray(0, PREFIX_BYTES + size);
      buffer = buffer.subarray(PREFIX_BYTES + size);
      pending++;
      void answerStreamed(model, message, encoding).then((answer) => {
        pending--;
        if (!stream.destroyed) stream.write(frame(answer));
        endIfDone();
      });
    }
  });
  stream.on("end", () => {
    hasEnded = true;
    endIfDone();
  });
}

async function answerStreamed(model: MockModel, framed: Buffer, encoding: string): Promise<Uint8Array> {
  let message: Uint8Array = new Uint8Array(0);
  try {
    message = unframe(framed, encoding);
    return encodeMessage(messages.STREAM_INFER_RESPONSE, { infer_response: await infer(model, message) });
  } catch (error) {
    return encodeMessage(messages.STREAM_INFER_RESPONSE, {
      error_message: messageOf(error),
      infer_response: idOf(message),
    });
  }
}

/** Returns the request's id, if the message can be decoded. */
function idOf(message: Uint8Array): ProtoObject {
  try {
    const { id } = decodeMessage(messages.INFER_REQUEST, message);
    return id === undefined ? {} : { id };
  } catch {
    return {};
  }
}

async function infer(model: MockModel, message: Uint8Array): Promise<ProtoObject> {
  const request = decodeMessage(messages.INFER_REQUEST, message);
  const name = String(request["model_name"] ?? "");
  const version = String(request["model_version"] ?? "");
  if (!model.isNamed(name, version)) throw unknownModel(name, version);
  const raw = (request["raw_input_contents"] ?? []) as Uint8Array[];
  const inputs = new Map<string, Uint8Array>();
  for (const [index, input] of ((request["inputs"] ?? []) as ProtoObject[]).entries()) {
    inputs.set(String(input["name"]), raw[index] ?? new Uint8Array(0));
  }
  const outputs = await model.infer(inputs);
  return {
    model_name: name,
    model_version: "1",
    ...(request["id"] === undefined ? {} : { id: request["id"] }),
    outputs: outputs.map(({ name: output, datatype, shape }) => ({ name: output, datatype, shape: [...shape] })),
    raw_output_contents: outputs.map(({ bytes }) => bytes),
  };
}

function checkName(model: MockModel, message: Uint8Array): void {
  const { name, version } = decodeMessage(messages.NAMED_REQUEST, message);
  if (!model.isNamed(String(name ?? ""), String(version ?? "")))
    throw unknownModel(String(name ?? ""), String(version ?? ""));
}

function unknownModel(name: string, version: string): StatusError {
  return new StatusError(
    STATUS.notFound,
    `Request for unknown model: '${name}'${version === "" ? "" : ` version ${version}`} is not found`,
  );
}

function codeOf(error: unknown): number {
  if (error instanceof StatusError) return error.code;
  return error instanceof MockError ? STATUS.invalidArgument : STATUS.internal;
}

function open(stream: ServerHttp2Stream): void {
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(STATUS.ok) }));
}

function finish(stream: ServerHttp2Stream, code: number, message: string): void {
  if (stream.destroyed) return;
  const headers = {
    ":status": 200,
    "content-type": "application/grpc",
    "grpc-status": String(code),
    "grpc-message": encodeURIComponent(message),
  };
  stream.respond(headers, { endStream: true });
}

/** Returns the message of a frame, decompressed if necessary. */
function unframe(framed: Buffer, encoding: string): Uint8Array {
  const message = framed.subarray(PREFIX_BYTES);
  if (framed[0] !== 1) return new Uint8Array(message);
  const decompress = { gzip: gunzipSync, deflate: inflateSync }[encoding];
  if (decompress === undefined) throw new StatusError(STATUS.unimplemented, `unknown grpc-encoding ${encoding}`);
  try {
    return new Uint8Array(decompress(message));
  } catch (error) {
    throw new StatusError(STATUS.internal, `bad ${encoding} data: ${messageOf(error)}`);
  }
}

function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(PREFIX_BYTES + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX_BYTES);
  return framed;
}
