import { encodeMessage, type ProtoObject } from "../protobuf/message.ts";
import type { TraceQueries, TraceValues } from "../service.ts";
import type { FrontEnd } from "./api.ts";
import { grpcApi, grpcQuery } from "./grpc-api.ts";
import { createGrpcCodec, readStreamed } from "./grpc-codec.ts";
import { TRACE_SETTING_REQUEST, TRACE_SETTING_RESPONSE } from "./messages.ts";
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

/** Triton's trace extension over gRPC. Its one method also returns the settings when it gets none. */
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
  return grpcQuery("TraceSetting", encodeMessage(TRACE_SETTING_REQUEST, { settings }), TRACE_SETTING_RESPONSE);
}
