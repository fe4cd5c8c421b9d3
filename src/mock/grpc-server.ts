import { constants, createServer, type Http2Server, type ServerHttp2Stream } from "node:http2";
import { messageOf } from "../plan/problem.ts";
import { runtimeName } from "../runtime/runtime.ts";
import { decodeMessage, encodeMessage, type ProtoObject } from "../service/protobuf/message.ts";
import * as messages from "../service/triton/messages.ts";
import {
  CutError,
  frame,
  onMessages,
  openResponse,
  refuseCall,
  STATUS,
  StatusError,
  toTrailers,
} from "./grpc-frames.ts";
import { MockError, type MockModel } from "./model.ts";
import type { MockMethod } from "./services/service.ts";

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

/** Creates a server for KServe v2 over gRPC and other methods by path, on the runtime's HTTP/2, not the client's own. */
export function createGrpcServer(model: MockModel, methods: Readonly<Record<string, MockMethod>> = {}): Http2Server {
  const server = createServer({ settings: { initialWindowSize: 1024 * 1024 } });
  server.on("stream", (stream, headers) => {
    const path = String(headers[":path"] ?? "");
    const name = path.split("/").pop() ?? "";
    const encoding = String(headers["grpc-encoding"] ?? "identity");
    stream.on("error", () => {});
    const method = Object.hasOwn(methods, path) ? methods[path] : undefined;
    if (method !== undefined) void serveMethod(stream, method, encoding);
    else if (name === "ModelStreamInfer") serveStream(model, stream, encoding);
    else void serveMethod(stream, (messages) => answerUnary(model, name, messages), encoding);
  });
  server.on("session", (session) => session.on("error", () => {}));
  return server;
}

async function* answerUnary(
  model: MockModel,
  name: string,
  messages: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  const handler = UNARY[name];
  if (handler === undefined) throw new StatusError(STATUS.unimplemented, `unknown method ${name}`);
  for await (const message of messages) {
    try {
      yield await handler(model, message);
    } catch (error) {
      throw error instanceof MockError ? new StatusError(STATUS.invalidArgument, error.message) : error;
    }
    return;
  }
}

/** Answers each message as soon as its result is ready. Ends the stream when the client has ended it and no response is pending. */
function serveStream(model: MockModel, stream: ServerHttp2Stream, encoding: string): void {
  let pending = 0;
  let hasEnded = false;
  const endIfDone = (): void => {
    if (hasEnded && pending === 0 && !stream.destroyed) stream.end();
  };
  openResponse(stream, () => toTrailers(STATUS.ok));
  onMessages(stream, encoding, (read) => {
    pending++;
    void answerStreamed(model, read).then((response) => {
      pending--;
      if (!stream.destroyed) stream.write(frame(response));
      endIfDone();
    });
  });
  stream.on("end", () => {
    hasEnded = true;
    endIfDone();
  });
}

async function answerStreamed(model: MockModel, read: () => Uint8Array): Promise<Uint8Array> {
  let message: Uint8Array = new Uint8Array(0);
  try {
    message = read();
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

/** Answers one call of a service's method. Stops when the client disconnects. */
export async function serveMethod(stream: ServerHttp2Stream, method: MockMethod, encoding: string): Promise<void> {
  let trailers = toTrailers(STATUS.ok);
  try {
    for await (const message of method(readMessages(stream, encoding))) {
      if (stream.destroyed) return;
      if (!stream.headersSent) openResponse(stream, () => trailers);
      stream.write(frame(message));
    }
  } catch (error) {
    if (error instanceof CutError) return resetWhenSent(stream);
    const code = error instanceof StatusError ? error.code : STATUS.internal;
    trailers = toTrailers(code, messageOf(error));
    if (!stream.headersSent) return refuseCall(stream, code, messageOf(error));
  }
  if (stream.destroyed) return;
  if (!stream.headersSent) openResponse(stream, () => trailers);
  stream.end();
}

/**
 * Resets a call. On Node, waits until all written data has been sent: after an earlier reset, Node's HTTP/2 (20 and 24) may
 * send empty frames without end. On Bun, a later reset would become a normal end.
 */
function resetWhenSent(stream: ServerHttp2Stream): void {
  if (stream.destroyed) return;
  if (runtimeName === "node" && stream.writableLength > 0) setTimeout(() => resetWhenSent(stream), 1);
  else stream.close(constants.NGHTTP2_INTERNAL_ERROR);
}

/** Yields the messages of a call until the client ends its side or disconnects. */
async function* readMessages(stream: ServerHttp2Stream, encoding: string): AsyncGenerator<Uint8Array> {
  const waiting: (() => Uint8Array)[] = [];
  let hasEnded = false;
  let wake = (): void => {};
  const end = (): void => {
    hasEnded = true;
    wake();
  };
  onMessages(stream, encoding, (read) => {
    waiting.push(read);
    wake();
  });
  stream.on("end", end);
  stream.on("close", end);
  for (;;) {
    const read = waiting.shift();
    if (read !== undefined) yield read();
    else if (hasEnded) return;
    else
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
  }
}
