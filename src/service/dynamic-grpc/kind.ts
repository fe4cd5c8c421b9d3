import type { ServiceProbe } from "../probe.ts";
import { checkResponseRules } from "../response-reader.ts";
import { describeServer, OF_SERVERS } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { type GrpcTargetPlan, grpcTargetSchema } from "./target.ts";

const DEFAULT_PORT = 8001;
/** A ServerReflectionRequest with an empty text as its field 7, `list_services`. */
const LIST_SERVICES = Uint8Array.of(0x3a, 0);

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
  ...OF_SERVERS,
  subject: (target) => `${target.method} on ${describeServer(target)}`,
  check: (target) => checkResponseRules(target),
  hasNoStatistics: true,
  throughputUnit: "calls/s",
  takes: () => "messages",
  exported: () => ({ serviceKind: "dynamic_grpc", endpoint: "" }),
  path: ({ method }) => method,
  server: "a gRPC server",
  // Any server may have any method; servers with reflection list theirs.
  api: { name: "grpc", label: "gRPC with reflection", probes: ["v1", "v1alpha"].map(toReflectionProbe) },
  open: async (target) => (await import("./front.ts")).createGrpcFront(target),
};

/** Reflection is a stream that also answers a call with one message. */
function toReflectionProbe(version: string): ServiceProbe {
  return {
    protocol: "grpc",
    path: `/grpc.reflection.${version}.ServerReflection/ServerReflectionInfo`,
    payload: LIST_SERVICES,
    recognize: ({ status, body }) =>
      status === 0 && body.length > 0 ? "a server that describes its services by reflection" : undefined,
  };
}
