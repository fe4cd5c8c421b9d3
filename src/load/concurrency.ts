import * as v from "valibot";
import type { ConcurrencyLoadPlan } from "../plan/plan.ts";
import { concurrencySchema, levelsSchema, searchSchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** A fixed number of requests outstanding at each level. */
export const concurrencyMode: LoadMode<ConcurrencyLoadPlan> = {
  schema: () =>
    v.object({
      kind: v.literal("concurrency"),
      levels: levelsSchema(concurrencySchema()),
      search: searchSchema(),
    }),
  prepare: (plan) => ({
    search: { unit: "concurrency", levels: plan.levels, search: plan.search },
    drive: (level) => ({ kind: "closed", concurrency: level }),
  }),
};
