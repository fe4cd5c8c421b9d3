import type { ConcurrencyLoadPlan } from "../plan/plan.ts";
import { concurrencySchema, levelsSchema, searchSchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** A fixed number of requests outstanding at each level. */
export const concurrencyMode: LoadMode<ConcurrencyLoadPlan> = {
  schema: (v) =>
    v.object({
      kind: v.literal("concurrency"),
      levels: levelsSchema(v, concurrencySchema(v)),
      search: searchSchema(v),
    }),
  prepare: (plan) => ({
    search: { unit: "concurrency", levels: plan.levels, search: plan.search },
    drive: (level) => ({ kind: "closed", concurrency: level }),
  }),
};
