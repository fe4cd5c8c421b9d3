import { registerUrl } from "../../plan/secrets.ts";
import { checkResponseRules } from "../response-reader.ts";
import { describeOthers, OF_SERVERS, registerServerSecrets, withApiKey } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { createHttpFront } from "./front.ts";
import { type HttpTargetPlan, httpTargetSchema } from "./target.ts";

/** Any HTTP server, measured with requests that the user describes. */

const DEFAULT_PORT = 80;

export const httpKind: ServiceKind<HttpTargetPlan> = {
  schema: httpTargetSchema,
  address: ({ url, apiKeyEnv, successStatuses, successWhere, extract }) => ({
    url,
    wire: "http",
    defaultPort: DEFAULT_PORT,
    // The codec writes the other headers, because requests may replace them.
    headers: withApiKey([], apiKeyEnv),
    successStatuses,
    acceptsEncodings: successWhere === undefined && Object.keys(extract ?? {}).length === 0,
  }),
  ...OF_SERVERS,
  subject: ({ method, url, path, moreUrls = [] }) => {
    const address = url.replace(/^http:\/\//, "").replace(/\/$/, "");
    return `${method} ${address}/${path.replace(/^\//, "")}${describeOthers(moreUrls)}`;
  },
  hasNoStatistics: true,
  throughputUnit: "req/s",
  hasShortRequests: true,
  takes: () => "payloads",
  exported: ({ path }) => ({ serviceKind: "http", endpoint: path }),
  check: (target) => checkResponseRules(target),
  registerSecrets: (target) => {
    registerServerSecrets(target);
    registerUrl(target.path);
  },
  path: ({ path }) => path.replace(/^\/+/, ""),
  server: "an HTTP server",
  api: { name: "http", label: "HTTP", probes: [] },
  open: async (target) => createHttpFront(target),
};
