import type { FrontEnd } from "./api.ts";
import { grpcApi } from "./grpc-api.ts";
import { createGrpcCodec, readStreamed } from "./grpc-codec.ts";
import type { TritonTargetPlan } from "./target.ts";

/** Triton's gRPC front end. A separate module, loaded when used, because its message tables take time to create. */
export function createGrpcFrontEnd({
  isStreaming,
  parameters,
}: Pick<TritonTargetPlan, "isStreaming" | "parameters">): FrontEnd {
  return {
    api: grpcApi,
    readStreamed,
    traceQueries: async () => (await import("./grpc-trace.ts")).grpcTrace,
    createCodec: (model) => createGrpcCodec(model, { isStreaming, parameters }),
  };
}
