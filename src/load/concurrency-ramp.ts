import * as v from "valibot";
import { type ThinkTimePlan, thinkingEntries } from "../plan/load-options.ts";
import { aboveZeroSchema, type PlanOf } from "../plan/schema.ts";
import { formatDurationNs, msToNs } from "../plan/units.ts";
import { drawLoad } from "./draw-load.ts";
import type { DriveOf, ThinkTime } from "./drive.ts";
import { concurrencySchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

const schema = () =>
  v.object({
    kind: v.literal("concurrency-ramp"),
    start: concurrencySchema(0),
    end: concurrencySchema(0),
    overMs: aboveZeroSchema(),
    ...thinkingEntries(),
  });

/** Concurrency that changes linearly from one level to another, in one measurement. */
export const concurrencyRampMode: LoadMode<PlanOf<typeof schema>> = {
  schema,
  prepare: (plan) => ({
    level: Math.max(plan.start, plan.end),
    drive: (_level, _, draw = 0) => ({
      ...rampDrive(plan.start, plan.end, plan.overMs),
      ...thinkTimeOf(drawLoad(plan, draw)),
    }),
  }),
  unit: "concurrency",
  describe: (plan) => {
    const { start, end, overMs } = plan;
    const what = areThinking(plan) ? "users" : "concurrency";
    return `${what} from ${start} to ${end} over ${formatDurationNs(msToNs(overMs))}${describeThinking(plan)}`;
  },
  describeLevel: (plan) => `${areThinking(plan) ? "users" : "concurrency"} ${plan.start} to ${plan.end}`,
  ramp: ({ overMs }) => ({ overMs, isWhole: true }),
  askedMean: ({ start, end, overMs, thinkTime }, _level, overNs) =>
    thinkTime === undefined ? meanRampConcurrency(start, end, msToNs(overMs), overNs) : undefined,
  areUsers: areThinking,
};

/** A load of users who may think between their requests. */
interface UsersPlan {
  readonly thinkTime?: ThinkTimePlan;
  readonly seed?: number;
}

/** Whether users think between their requests, so that fewer requests are in flight. */
export function areThinking({ thinkTime }: UsersPlan): boolean {
  return thinkTime !== undefined;
}

/** Returns the think time of a drive, if the load has one. */
export function thinkTimeOf({ thinkTime, seed = 0 }: UsersPlan): { readonly thinkTime?: ThinkTime } {
  return thinkTime === undefined ? {} : { thinkTime: { ...thinkTime, seed, userOf: (slot) => slot } };
}

/** Describes the think time: `, think time 2 s`; empty without one. */
export function describeThinking({ thinkTime }: UsersPlan): string {
  if (thinkTime === undefined) return "";
  const { meanMs, stddevMs = 0 } = thinkTime;
  const spread = stddevMs === 0 ? "" : ` ± ${formatDurationNs(msToNs(stddevMs))}`;
  return `, think time ${formatDurationNs(msToNs(meanMs))}${spread}`;
}

/** Concurrency that changes linearly from one level to another, then stays constant. */
export function rampDrive(start: number, end: number, overMs: number): DriveOf<"ramp"> {
  return {
    kind: "ramp",
    maxConcurrency: Math.max(start, end),
    concurrencyAt: (elapsedNs) => rampConcurrencyAt(start, end, msToNs(overMs), elapsedNs),
  };
}

/** Returns the mean concurrency over the first `overNs` of {@link rampDrive}. */
export function meanRampConcurrency(start: number, end: number, rampNs: number, overNs: number): number {
  if (overNs <= 0) return start;
  const last = Math.abs(end - start);
  const stepNs = rampNs / (last + 1);
  // Whole steps, each at the next level up or down, and then the last step, which lasts until the end.
  const whole = Math.min(last, Math.floor(overNs / stepNs));
  const direction = Math.sign(end - start);
  const inWhole = whole * (start + (direction * (whole - 1)) / 2) * stepNs;
  return (inWhole + (start + direction * whole) * (overNs - whole * stepNs)) / overNs;
}

/** Returns the concurrency after `elapsedNs`: from `start` to `end`, with equal time per level within `overNs`. */
export function rampConcurrencyAt(start: number, end: number, overNs: number, elapsedNs: number): number {
  const levels = Math.abs(end - start) + 1;
  const passed = Math.min(levels - 1, Math.floor((Math.max(0, elapsedNs) / overNs) * levels));
  return end >= start ? start + passed : start - passed;
}
