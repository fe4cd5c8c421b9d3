import * as v from "valibot";
import type { ConcurrencyLoadPlan } from "../plan/plan.ts";
import { levelsSchema, searchSchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** A fixed number of requests outstanding at each level. */
export const concurrencyMode: LoadMode<ConcurrencyLoadPlan> = {
  schema: () =>
    v.object({
      kind: v.literal("concurrency"),
      levels: levelsSchema(v.pipe(v.number(), v.integer("must be a whole number"), v.minValue(1, "must be 1 or more"))),
      search: searchSchema(),
    }),
  prepare: (plan) => ({
    search: { unit: "concurrency", levels: plan.levels, search: plan.search },
    drive: (level) => ({ kind: "closed", concurrency: level }),
  }),
};
