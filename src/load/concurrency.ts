import * as v from "valibot";
import { levelsSchema, searchSchema } from "../plan/load-plan.ts";
import type { PlanOf } from "../plan/schema.ts";
import { formatDurationNs, msToNs } from "../plan/units.ts";
import { meanRampConcurrency, rampDrive } from "./concurrency-ramp.ts";
import { concurrencySchema, describeLevels } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** A fixed number of outstanding requests. */
export type ConcurrencyLoadPlan = PlanOf<typeof schema>;

declare module "../plan/load-plan.ts" {
  interface LoadPlans {
    readonly concurrency: ConcurrencyLoadPlan;
  }
}

const schema = () =>
  v.object({
    kind: v.literal("concurrency"),
    levels: levelsSchema(concurrencySchema()),
    search: searchSchema(),
    /** Time in which each level rises linearly from 1, in milliseconds. Absent: none. */
    rampMs: v.exactOptional(v.pipe(v.number(), v.gtValue(0, "must be above 0"))),
  });

/** A fixed number of outstanding requests at each level, optionally with a ramp. */
export const concurrencyMode: LoadMode<ConcurrencyLoadPlan> = {
  schema,
  prepare: ({ rampMs }) => ({
    drive: (level) => (rampMs === undefined ? { kind: "closed", concurrency: level } : rampDrive(1, level, rampMs)),
  }),
  unit: "concurrency",
  levels: ({ levels, search }) => ({ levels, search }),
  describe: ({ levels, rampMs, search }) => {
    const reached = rampMs === undefined ? "" : `, reached from 1 over ${formatDurationNs(msToNs(rampMs))}`;
    return `concurrency ${describeLevels(levels, search)}${reached}`;
  },
  askedMean: ({ rampMs }, level, overNs) =>
    rampMs === undefined ? level : meanRampConcurrency(1, level, msToNs(rampMs), overNs),
  ramp: ({ rampMs }) => (rampMs === undefined ? undefined : { overMs: rampMs }),
};
