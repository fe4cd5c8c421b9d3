import { describeServer, registerServerSecrets, serverUrls } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { type OwnTargetPlan, ownTargetSchema, wireOf } from "./target.ts";

/** Servers of any protocol over HTTP or gRPC calls that a scenario encodes and decodes itself. */

const DEFAULT_PORTS = { http: 8000, grpc: 8001 } as const;

export const ownKind: ServiceKind<OwnTargetPlan> = {
  schema: ownTargetSchema,
  address: (target) => {
    const { url, headers, protocol } = target;
    return { url, wire: wireOf(target), defaultPort: DEFAULT_PORTS[protocol], headers };
  },
  urls: serverUrls,
  describe: describeServer,
  subject: (target) => `${target.model} on ${describeServer(target)}`,
  throughputUnit: "requests/s",
  hasNoStatistics: true,
  takes: () => "payloads",
  hasShortRequests: true,
  exported: () => ({ serviceKind: "user-defined", endpoint: "" }),
  registerSecrets: registerServerSecrets,
  path: () => "",
  server: "a server of the scenario's own protocol",
  api: { name: "user-defined", label: "the scenario's own protocol", probes: [] },
  open: async (target) => (await import("./front.ts")).createOwnFront(target),
};
