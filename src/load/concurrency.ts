import type { LevelsPlan, SearchPlan } from "../plan/load-plan.ts";
import type { Schema } from "../plan/schema.ts";
import { formatDurationNs, msToNs } from "../plan/units.ts";
import { rampDrive } from "./concurrency-ramp.ts";
import { concurrencySchema, describeLevels, levelsSchema, searchSchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** A fixed number of outstanding requests. */
export interface ConcurrencyLoadPlan {
  readonly kind: "concurrency";
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
  /** Time in which each level rises linearly from 1, in milliseconds. Absent: none. */
  readonly rampMs?: number;
}

declare module "../plan/load-plan.ts" {
  interface LoadPlans {
    readonly concurrency: ConcurrencyLoadPlan;
  }
}

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
  unit: "concurrency",
  levels: ({ levels, search }) => ({ levels, search }),
  describe: ({ levels, rampMs }) => {
    const reached = rampMs === undefined ? "" : `, reached from 1 over ${formatDurationNs(msToNs(rampMs))}`;
    return `concurrency ${describeLevels(levels)}${reached}`;
  },
  ramp: ({ rampMs }) => (rampMs === undefined ? undefined : { overMs: rampMs }),
};
