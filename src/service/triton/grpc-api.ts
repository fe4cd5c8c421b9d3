import { decodeMessage, encodeMessage, formatText, type MessageSpec, type ProtoObject } from "../protobuf/message.ts";
import type { Query } from "../service.ts";
import type { ModelName, TritonApi } from "./api.ts";
import { methodPath } from "./grpc-codec.ts";
import * as messages from "./messages.ts";

/** The questions over gRPC. */
export const grpcApi: TritonApi = {
  metadata: (model) => grpcQuery("ModelMetadata", named(model), messages.MODEL_METADATA),
  config: (model) => {
    const query = grpcQuery("ModelConfig", named(model), messages.MODEL_CONFIG_RESPONSE);
    return { ...query, read: (body) => (query.read(body) as ProtoObject)["config"] ?? {} };
  },
  server: () => grpcQuery("ServerMetadata", new Uint8Array(0), messages.SERVER_METADATA),
  statistics: (model) =>
    grpcQuery("ModelStatistics", model === undefined ? new Uint8Array(0) : named(model), messages.MODEL_STATISTICS),
  index: () =>
    grpcQuery(
      "RepositoryIndex",
      encodeMessage(messages.REPOSITORY_INDEX_REQUEST, { ready: true }),
      messages.REPOSITORY_INDEX,
    ),
};

function named(model: ModelName): Uint8Array {
  return encodeMessage(messages.NAMED_REQUEST, {
    name: model.name,
    ...(model.version === "" ? {} : { version: model.version }),
  });
}

/** A question over gRPC. */
export function grpcQuery(method: string, payload: Uint8Array, answer: MessageSpec): Query {
  return {
    request: { path: methodPath(method), method: "POST", headers: [], payload },
    read: (bytes) => decodeMessage(answer, bytes),
    format: (bytes) => formatText(answer, decodeMessage(answer, bytes)),
  };
}
