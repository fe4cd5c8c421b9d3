import type { SessionConcurrencyLoadPlan } from "../plan/load-plan.ts";
import { concurrencySchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** A fixed number of concurrent conversations, until every one in the data has been held once. */
export const sessionConcurrencyMode: LoadMode<SessionConcurrencyLoadPlan> = {
  schema: (v) => v.object({ kind: v.literal("session-concurrency"), concurrency: concurrencySchema(v) }),
  prepare: ({ concurrency }) => ({
    search: { unit: "concurrency", levels: { kind: "list", values: [concurrency] }, search: "linear" },
    drive: () => ({ kind: "sessions", concurrency }),
  }),
};
