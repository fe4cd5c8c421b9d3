import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Stream } from "node:http2";
import { encodeMessage, type ProtoObject } from "../../src/service/protobuf/message.ts";
import * as messages from "../../src/service/triton/messages.ts";
import { listen } from "../servers/listen.ts";
import { join } from "../transport/bytes.ts";

/** KServe v2 servers whose responses a test chooses, as texts over HTTP and as messages over gRPC. */

/** What can be asked besides inference. */
export const DOORS = ["metadata", "config", "statistics", "server"] as const;
export type Door = (typeof DOORS)[number];

/** Responses of a healthy server; its counters move with every look at them. */
export function goodAnswers(inferCount = 0): Readonly<Record<Door, object>> {
  const times = { count: inferCount, ns: inferCount * 1000 };
  const tensor = { datatype: "FP32", shape: [2] };
  return {
    metadata: {
      name: "m",
      versions: ["1"],
      platform: "x",
      inputs: [{ name: "IN", ...tensor }],
      outputs: [{ name: "OUT", ...tensor }],
    },
    config: {
      name: "m",
      max_batch_size: 0,
      input: [{ name: "IN", data_type: "TYPE_FP32", dims: [2], optional: false, is_shape_tensor: false }],
      output: [{ name: "OUT", data_type: "TYPE_FP32", dims: [2] }],
      model_transaction_policy: { decoupled: false },
      response_cache: { enable: false },
      dynamic_batching: {},
    },
    statistics: {
      model_stats: [
        {
          name: "m",
          version: "1",
          inference_count: inferCount,
          execution_count: inferCount,
          inference_stats: {
            success: times,
            fail: { count: 0, ns: 0 },
            queue: times,
            compute_input: times,
            compute_infer: times,
            compute_output: times,
          },
        },
      ],
    },
    server: { name: "s", version: "2", extensions: ["statistics"] },
  };
}

const INFERENCE =
  '{"model_name":"m","model_version":"1","outputs":[{"name":"OUT","datatype":"FP32","shape":[2],"data":[1,2]}]}';

export interface AnsweringKserve<T> {
  /** `127.0.0.1:PORT`. */
  readonly url: string;
  /** What it answers from now on; the other doors are those of a healthy server. */
  answers: Partial<Record<Door, T>>;
  stop(): void;
}

function doorOf(path: string): Door | "infer" {
  if (path.endsWith("/infer")) return "infer";
  if (path.endsWith("/config")) return "config";
  if (path.endsWith("/stats")) return "statistics";
  return path === "/v2" ? "server" : "metadata";
}

/** Starts a server that answers with texts. */
export async function startHttp(): Promise<AnsweringKserve<string>> {
  let inferCount = 0;
  const respond = (request: IncomingMessage, response: ServerResponse): void => {
    const door = doorOf(request.url ?? "");
    inferCount += 5;
    const text = door === "infer" ? INFERENCE : (kserve.answers[door] ?? JSON.stringify(goodAnswers(inferCount)[door]));
    response
      .writeHead(200, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) })
      .end(text);
  };
  const server = createServer((request, response) => {
    request.resume().on("end", () => respond(request, response));
  });
  const kserve: AnsweringKserve<string> = {
    url: `127.0.0.1:${await listen(server)}`,
    answers: {},
    stop: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  return kserve;
}

const METHODS: Readonly<Record<string, Door>> = {
  ModelMetadata: "metadata",
  ModelConfig: "config",
  ModelStatistics: "statistics",
  ServerMetadata: "server",
};

/** The message of a door's response. @param response the fields of its JSON */
export function encodeAnswer(door: Door, answer: object): Uint8Array {
  const fields = answer as ProtoObject;
  if (door === "metadata") return encodeMessage(messages.MODEL_METADATA, fields);
  if (door === "config") return encodeMessage(messages.MODEL_CONFIG_RESPONSE, { config: fields });
  if (door === "statistics") return encodeMessage(messages.MODEL_STATISTICS, fields);
  return encodeMessage(messages.SERVER_METADATA, fields);
}

/** Starts a server that answers with messages. */
export async function startGrpc(): Promise<AnsweringKserve<Uint8Array>> {
  let inferCount = 0;
  const inference = encodeMessage(messages.INFER_RESPONSE, {
    model_name: "m",
    model_version: "1",
    outputs: [{ name: "OUT", datatype: "FP32", shape: [2] }],
    raw_output_contents: [new Uint8Array(8)],
  });
  const respond = (stream: ServerHttp2Stream, path: string): void => {
    const door = METHODS[path.split("/").pop() ?? ""];
    inferCount += 5;
    const message =
      door === undefined ? inference : (kserve.answers[door] ?? encodeAnswer(door, goodAnswers(inferCount)[door]));
    const prefix = new Uint8Array(5);
    new DataView(prefix.buffer).setUint32(1, message.length);
    stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
    stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": "0" }));
    stream.end(join(prefix, message));
  };
  const server = createHttp2Server();
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    stream.resume().on("end", () => respond(stream, String(headers[":path"])));
  });
  server.on("session", (session) => session.on("error", () => {}));
  const kserve: AnsweringKserve<Uint8Array> = {
    url: `127.0.0.1:${await listen(server)}`,
    answers: {},
    stop: () => server.close(),
  };
  return kserve;
}
