import { ProtocolError } from "../../transport/failure.ts";
import { decodeMessage, encodeMessage, formatText, type MessageSpec, type ProtoObject } from "../protobuf/message.ts";
import type { Query } from "../service.ts";
import { methodPath } from "./grpc-codec.ts";
import { modelPath } from "./http-codec.ts";
import * as messages from "./messages.ts";

/** The calls to Triton that are not inference: the same questions over HTTP and gRPC, with answers of the same form. */

/** Which of Triton's two front ends is spoken to. */
export type TritonProtocol = "http" | "grpc";

/** A model and version; an empty version leaves the choice to the server. */
export interface ModelName {
  readonly name: string;
  readonly version: string;
}

/** The questions. */
export interface TritonApi {
  metadata(model: ModelName): Query;
  config(model: ModelName): Query;
  server(): Query;
  statistics(model: ModelName): Query;
  /** The repository's models that are ready. */
  index(): Query;
}

/** The questions in one protocol. */
export function createTritonApi(protocol: TritonProtocol): TritonApi {
  return protocol === "http" ? httpApi : grpcApi;
}

const httpApi: TritonApi = {
  metadata: (model) => httpQuery("GET", modelPath(model, "")),
  config: (model) => httpQuery("GET", modelPath(model, "/config")),
  server: () => httpQuery("GET", "/v2"),
  statistics: (model) => httpQuery("GET", modelPath(model, "/stats")),
  index: () => {
    const query = httpQuery("POST", "/v2/repository/index", '{"ready":true}');
    // Over HTTP the list comes bare.
    return { ...query, read: (body) => ({ models: query.read(body) }) };
  },
};

const grpcApi: TritonApi = {
  metadata: (model) => grpcQuery("ModelMetadata", named(model), messages.MODEL_METADATA),
  config: (model) => {
    const query = grpcQuery("ModelConfig", named(model), messages.MODEL_CONFIG_RESPONSE);
    return { ...query, read: (body) => (query.read(body) as ProtoObject)["config"] ?? {} };
  },
  server: () => grpcQuery("ServerMetadata", new Uint8Array(0), messages.SERVER_METADATA),
  statistics: (model) => grpcQuery("ModelStatistics", named(model), messages.MODEL_STATISTICS),
  index: () =>
    grpcQuery("RepositoryIndex", encodeMessage(messages.REPOSITORY_INDEX_REQUEST, { ready: true }), messages.REPOSITORY_INDEX),
};

function named(model: ModelName): Uint8Array {
  return encodeMessage(messages.NAMED_REQUEST, {
    name: model.name,
    ...(model.version === "" ? {} : { version: model.version }),
  });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();

function httpQuery(method: "GET" | "POST", path: string, body = ""): Query {
  return {
    request: {
      path,
      method,
      headers: body === "" ? [] : [["Content-Type", "application/json"]],
      payload: encoder.encode(body),
    },
    read: (bytes) => {
      const text = decoder.decode(bytes);
      try {
        return JSON.parse(text) as unknown;
      } catch {
        throw new ProtocolError(`answer to ${method} ${path} is not JSON: ${JSON.stringify(text.slice(0, 60))}`);
      }
    },
    format: (bytes) => decoder.decode(bytes),
  };
}

function grpcQuery(method: string, payload: Uint8Array, answer: MessageSpec): Query {
  return {
    request: { path: methodPath(method), method: "POST", headers: [], payload },
    read: (bytes) => decodeMessage(answer, bytes),
    format: (bytes) => formatText(answer, decodeMessage(answer, bytes)),
  };
}
