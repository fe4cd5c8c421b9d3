import { registerUrl } from "../../plan/secrets.ts";
import type { ServiceApi } from "../probe.ts";
import { OF_SERVERS, registerServerSecrets } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { createTorchServeFront } from "./front.ts";
import { type TorchServeTargetPlan, torchServeTargetSchema } from "./target.ts";

/** TorchServe over HTTP: an input is the body of a request to the path of its model, or a part of a form sent to it. */

const DEFAULT_PORT = 8080;

/** Recognizes TorchServe by its health, which it reports in one word. */
const torchServeApi: ServiceApi = {
  name: "torchserve",
  label: "TorchServe's API",
  probes: [
    {
      protocol: "http",
      path: "/ping",
      recognize: ({ text }) =>
        /\{\s*"status"\s*:\s*"(?:Partial )?(?:Healthy|Unhealthy)"\s*\}/.test(text) ? "a TorchServe server" : undefined,
    },
  ],
};

export const torchServeKind: ServiceKind<TorchServeTargetPlan> = {
  schema: torchServeTargetSchema,
  address: ({ url, headers }) => ({ url, wire: "http", defaultPort: DEFAULT_PORT, headers }),
  ...OF_SERVERS,
  hasNoStatistics: true,
  takes: () => "payloads",
  // Like in perf_analyzer: neither the bytes of a file nor those of a response are exported.
  exported: () => ({
    serviceKind: "torchserve",
    endpoint: "",
    requestInputs: '{"TORCHSERVE_INPUT":""}',
    responseOutputs: "{}",
  }),
  registerSecrets: (target) => {
    registerServerSecrets(target);
    if (target.managementUrl !== undefined) registerUrl(target.managementUrl);
  },
  path: () => "predictions",
  server: "a TorchServe server",
  api: torchServeApi,
  open: async (target) => createTorchServeFront(target, DEFAULT_PORT),
};
