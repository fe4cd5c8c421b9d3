import type { OpenAiTargetPlan } from "../../plan/plan.ts";
import { UserError } from "../../plan/problem.ts";
import type { ServiceKind } from "../service.ts";
import { openAiTargetSchema } from "./target.ts";

/** Servers of generative models that take JSON payloads over HTTP and answer at once or with server-sent events, as OpenAI's API does. */

const DEFAULT_PORT = 8000;

export const openAiKind: ServiceKind<OpenAiTargetPlan> = {
  schema: openAiTargetSchema,
  address: ({ url, headers, apiKeyEnv }) => ({
    url,
    wire: "http",
    defaultPort: DEFAULT_PORT,
    headers: apiKeyEnv === undefined ? headers : [...headers, ["Authorization", `Bearer ${readApiKey(apiKeyEnv)}`]],
  }),
  open: async (target) => (await import("./front.ts")).createOpenAiFront(target),
};

/** Throws `UserError` when the environment has no such variable. */
function readApiKey(name: string): string {
  const key = process.env[name];
  if (key !== undefined && key !== "") return key;
  const message = `the environment has no variable ${name}`;
  throw new UserError([{ path: "target.apiKeyEnv", message, hint: `Set it: export ${name}=…` }]);
}
