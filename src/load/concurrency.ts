import * as v from "valibot";
import { thinkingEntries } from "../plan/load-options.ts";
import { levelsSchema, searchSchema } from "../plan/load-plan.ts";
import { aboveZeroSchema, type PlanOf } from "../plan/schema.ts";
import { formatDurationNs, msToNs } from "../plan/units.ts";
import { areThinking, describeThinking, meanRampConcurrency, rampDrive, thinkTimeOf } from "./concurrency-ramp.ts";
import { drawLoad } from "./draw-load.ts";
import { concurrencySchema, describeLevels } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

const schema = () =>
  v.object({
    kind: v.literal("concurrency"),
    levels: levelsSchema(concurrencySchema()),
    search: searchSchema(),
    /** Time in which each level rises linearly from 1, in milliseconds. Absent: none. */
    rampMs: v.exactOptional(aboveZeroSchema()),
    ...thinkingEntries(),
  });

/** A fixed number of outstanding requests at each level, optionally with a ramp. */
export const concurrencyMode: LoadMode<PlanOf<typeof schema>> = {
  schema,
  prepare: (plan) => ({
    drive: (level, _, draw = 0) => {
      const { rampMs } = plan;
      const thinking = thinkTimeOf(drawLoad(plan, draw));
      return rampMs === undefined
        ? { kind: "closed", concurrency: level, ...thinking }
        : { ...rampDrive(1, level, rampMs), ...thinking };
    },
  }),
  unit: "concurrency",
  levels: ({ levels, search }) => ({ levels, search }),
  describe: (plan, areUsers = areThinking(plan)) => {
    const { levels, rampMs, search } = plan;
    const reached = rampMs === undefined ? "" : `, reached from 1 over ${formatDurationNs(msToNs(rampMs))}`;
    const what = areUsers ? "users" : "concurrency";
    return `${what} ${describeLevels(levels, search)}${reached}${describeThinking(plan)}`;
  },
  askedMean: ({ rampMs, thinkTime }, level, overNs) => {
    if (thinkTime !== undefined) return undefined;
    return rampMs === undefined ? level : meanRampConcurrency(1, level, msToNs(rampMs), overNs);
  },
  areUsers: areThinking,
  leadMs: ({ thinkTime, rampMs }) => (rampMs === undefined ? (thinkTime?.meanMs ?? 0) : 0),
  ramp: ({ rampMs }) => (rampMs === undefined ? undefined : { overMs: rampMs }),
};
