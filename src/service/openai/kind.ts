import { registerUrl } from "../../plan/secrets.ts";
import type { ServiceApi } from "../probe.ts";
import { checkResponseRules } from "../response-reader.ts";
import { OF_SERVERS, registerServerSecrets, withApiKey } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { type OpenAiTargetPlan, openAiTargetSchema, requestPathOf } from "./target.ts";

/** Servers of generative models with JSON payloads over HTTP and whole or streamed responses, like OpenAI's API. */

const DEFAULT_PORT = 8000;

/** A list of models, whose owner often names the server's software. */
const openAiApi: ServiceApi = {
  name: "openai",
  label: "OpenAI's API",
  probes: [
    {
      protocol: "http",
      path: "/v1/models",
      recognize: ({ text }) => {
        if (!/"object"\s*:\s*"list"/.test(text)) return undefined;
        const owner = /"owned_by"\s*:\s*"([\w. -]{1,40})"/.exec(text)?.[1];
        return `an OpenAI-compatible server${owner === undefined ? "" : ` (models owned by ${owner})`}`;
      },
    },
  ],
};

export const openAiKind: ServiceKind<OpenAiTargetPlan> = {
  schema: openAiTargetSchema,
  address: ({ url, headers, apiKeyEnv }) => ({
    url,
    wire: "http",
    defaultPort: DEFAULT_PORT,
    headers: withApiKey(headers, apiKeyEnv),
  }),
  ...OF_SERVERS,
  // Also of requests without tokens, such as rankings.
  throughputUnit: "req/s",
  takes: () => "payloads",
  exported: ({ endpoint }) => ({ serviceKind: "openai", endpoint }),
  check: (target) => checkResponseRules(target),
  registerSecrets: (target) => {
    registerServerSecrets(target);
    registerUrl(target.endpoint);
  },
  path: ({ endpoint }) => requestPathOf(endpoint),
  server: "an OpenAI-compatible server",
  api: openAiApi,
  open: async (target) => (await import("./front.ts")).createOpenAiFront(target),
};
