import { describeServer, registerServerSecrets, serverUrls } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { type GrpcTargetPlan, grpcTargetSchema } from "./target.ts";

const DEFAULT_PORT = 8001;

/** Methods of any gRPC service: unary, or with any number of messages each way. */
export const grpcKind: ServiceKind<GrpcTargetPlan> = {
  schema: grpcTargetSchema,
  address: ({ url, headers, compression }) => ({
    url,
    wire: "grpc-call",
    defaultPort: DEFAULT_PORT,
    headers,
    ...(compression === "none" ? {} : { compression }),
  }),
  urls: serverUrls,
  describe: describeServer,
  takes: () => "messages",
  exported: () => ({ serviceKind: "dynamic_grpc", endpoint: "" }),
  registerSecrets: registerServerSecrets,
  path: ({ method }) => method,
  server: "a gRPC server",
  open: async (target) => (await import("./front.ts")).createGrpcFront(target),
};
