import { checkAnswerRules } from "../answer-reader.ts";
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
  subject: (target) => `${target.method} on ${describeServer(target)}`,
  check: (target) => checkAnswerRules(target),
  hasNoStatistics: true,
  throughputUnit: "calls/s",
  takes: () => "messages",
  exported: () => ({ serviceKind: "dynamic_grpc", endpoint: "" }),
  registerSecrets: registerServerSecrets,
  path: ({ method }) => method,
  server: "a gRPC server",
  // Any server may have any method.
  api: { name: "grpc", label: "gRPC", probes: [] },
  open: async (target) => (await import("./front.ts")).createGrpcFront(target),
};
