import type { SharedRegion } from "../../transport/shared-memory/shared-memory.ts";
import { decodeMessage, encodeMessage, formatText, type MessageSpec, type ProtoObject } from "../protobuf/message.ts";
import type { Query, TraceQueries, TraceValues } from "../service.ts";
import type { FrontEnd, ModelName, TritonApi } from "./api.ts";
import { createGrpcCodec, methodPath, readStreamed } from "./grpc-codec.ts";
import * as messages from "./messages.ts";
import type { TritonTargetPlan } from "./target.ts";

/** Creates Triton's gRPC front end. */
export function createGrpcFrontEnd({
  isStreaming,
  parameters,
}: Pick<TritonTargetPlan, "isStreaming" | "parameters">): FrontEnd {
  return {
    api: grpcApi,
    readStreamed,
    traceQueries: async () => grpcTrace,
    createCodec: (model) => createGrpcCodec(model, { isStreaming, parameters }),
  };
}

/** Triton's trace extension over gRPC. Its only method also returns the settings when it receives none. */
export const grpcTrace: TraceQueries = {
  read: () => query({}),
  write: (values) => query(values),
  parse: (response) => {
    const settings = ((response as ProtoObject)["settings"] ?? {}) as ProtoObject;
    const values: Record<string, readonly string[]> = {};
    for (const [name, setting] of Object.entries(settings))
      values[name] = ((setting as ProtoObject)["value"] ?? []) as string[];
    return values;
  },
};

function query(values: TraceValues): ReturnType<TraceQueries["read"]> {
  const settings: ProtoObject = {};
  for (const [name, value] of Object.entries(values)) settings[name] = { value: [...value] };
  return grpcQuery(
    "TraceSetting",
    encodeMessage(messages.TRACE_SETTING_REQUEST, { settings }),
    messages.TRACE_SETTING_RESPONSE,
  );
}

/** Triton's queries over gRPC. */
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
  sharedMemory: {
    register: (region) => grpcQuery(`${MEMORY[region.kind]}Register`, encodeRegion(region), messages.EMPTY),
    unregister: ({ kind, name }) =>
      grpcQuery(`${MEMORY[kind]}Unregister`, encodeMessage(messages.NAMED_REQUEST, { name }), messages.EMPTY),
  },
};

/** Beginning of the names of methods, by the kind of memory. */
const MEMORY = { system: "SystemSharedMemory", cuda: "CudaSharedMemory" } as const;

function encodeRegion(region: SharedRegion): Uint8Array {
  const { kind, name, sizeBytes: byte_size } = region;
  if (kind === "system") return encodeMessage(messages.SYSTEM_REGION, { name, key: region.key, byte_size });
  const { rawHandle: raw_handle, deviceId: device_id } = region;
  return encodeMessage(messages.CUDA_REGION, { name, raw_handle, device_id, byte_size });
}

function named(model: ModelName): Uint8Array {
  return encodeMessage(messages.NAMED_REQUEST, {
    name: model.name,
    ...(model.version === "" ? {} : { version: model.version }),
  });
}

function grpcQuery(method: string, payload: Uint8Array, response: MessageSpec): Query {
  return {
    request: { path: methodPath(method), method: "POST", headers: [], payload },
    read: (bytes) => decodeMessage(response, bytes),
    format: (bytes) => formatText(response, decodeMessage(response, bytes)),
  };
}
