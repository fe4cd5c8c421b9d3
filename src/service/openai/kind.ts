import type { OpenAiTargetPlan } from "../../plan/plan.ts";
import type { ServiceKind } from "../service.ts";
import { openAiTargetSchema } from "./target.ts";

/** Servers of generative models that take JSON payloads over HTTP and answer at once or with server-sent events, as OpenAI's API does. */

const DEFAULT_PORT = 8000;

export const openAiKind: ServiceKind<OpenAiTargetPlan> = {
  schema: openAiTargetSchema,
  address: ({ url, headers }) => ({ url, wire: "http", defaultPort: DEFAULT_PORT, headers }),
  open: async (target) => (await import("./front.ts")).createOpenAiFront(target),
};
