import { userError } from "../../plan/problem.ts";
import { readApiKey, registerSecret, registerUrl } from "../../plan/secrets.ts";
import { describeServer, registerServerSecrets, serverUrls } from "../server-target.ts";
import type { ServiceKind } from "../service.ts";
import { type OpenAiTargetPlan, openAiTargetSchema, withoutLeadingSlashes } from "./target.ts";

/** Servers of generative models with JSON payloads over HTTP and whole or streamed answers, like OpenAI's API. */

const DEFAULT_PORT = 8000;

export const openAiKind: ServiceKind<OpenAiTargetPlan> = {
  schema: openAiTargetSchema,
  address: ({ url, headers, apiKeyEnv }) => ({
    url,
    wire: "http",
    defaultPort: DEFAULT_PORT,
    headers: apiKeyEnv === undefined ? headers : [...headers, ["Authorization", `Bearer ${requireApiKey(apiKeyEnv)}`]],
  }),
  urls: serverUrls,
  describe: describeServer,
  takes: () => "payloads",
  exported: ({ endpoint }) => ({ serviceKind: "openai", endpoint }),
  registerSecrets: (target) => {
    registerServerSecrets(target);
    registerUrl(target.endpoint);
    if (target.apiKeyEnv !== undefined) registerSecret(process.env[target.apiKeyEnv] ?? "");
  },
  path: ({ endpoint }) => withoutLeadingSlashes(endpoint),
  server: "an OpenAI-compatible server",
  api: { name: "openai", path: "/v1/models", marker: /"object"\s*:\s*"list"/ },
  open: async (target) => (await import("./front.ts")).createOpenAiFront(target),
};

/** @throws UserError when the environment variable is not set */
function requireApiKey(name: string): string {
  const read = readApiKey(name);
  if ("key" in read) return read.key;
  throw userError("missing", "target.apiKeyEnv", read.problem, `Set it: export ${name}=…`);
}
