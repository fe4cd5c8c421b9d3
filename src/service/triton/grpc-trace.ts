import { encodeMessage, type ProtoObject } from "../protobuf/message.ts";
import type { TraceQueries, TraceValues } from "../service.ts";
import { grpcQuery } from "./grpc-api.ts";
import { TRACE_SETTING_REQUEST, TRACE_SETTING_RESPONSE } from "./messages.ts";

/** Triton's trace extension over gRPC. Its one method also returns the settings when it gets none. */
export const grpcTrace: TraceQueries = {
  read: () => query({}),
  write: (values) => query(values),
  parse: (answer) => {
    const settings = ((answer as ProtoObject)["settings"] ?? {}) as ProtoObject;
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
