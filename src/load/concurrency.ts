import type { ConcurrencyLoadPlan } from "../plan/load-plan.ts";
import type { Schema } from "../plan/schema.ts";
import { rampDrive } from "./concurrency-ramp.ts";
import { concurrencySchema, levelsSchema, searchSchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** A fixed number of outstanding requests at each level, optionally with a ramp. */
export const concurrencyMode: LoadMode<ConcurrencyLoadPlan> = {
  schema: (v) =>
    v.object({
      kind: v.literal("concurrency"),
      levels: levelsSchema(v, concurrencySchema(v)),
      search: searchSchema(v),
      rampMs: v.optional(v.pipe(v.number(), v.gtValue(0, "must be above 0"))),
    }) as Schema<ConcurrencyLoadPlan>,
  prepare: ({ levels, search, rampMs }) => ({
    search: { unit: "concurrency", levels, search },
    drive: (level) => (rampMs === undefined ? { kind: "closed", concurrency: level } : rampDrive(1, level, rampMs)),
  }),
};
