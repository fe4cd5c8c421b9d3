import * as v from "valibot";
import type { PlanOf } from "../plan/schema.ts";
import { formatDurationNs, msToNs } from "../plan/units.ts";
import type { Drive } from "./drive.ts";
import { concurrencySchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** Concurrency that changes linearly over time, in one measurement. */
export type ConcurrencyRampPlan = PlanOf<typeof schema>;

declare module "../plan/load-plan.ts" {
  interface LoadPlans {
    readonly "concurrency-ramp": ConcurrencyRampPlan;
  }
}

const schema = () =>
  v.object({
    kind: v.literal("concurrency-ramp"),
    start: concurrencySchema(),
    end: concurrencySchema(),
    overMs: v.pipe(v.number(), v.gtValue(0, "must be above 0")),
  });

/** Concurrency that changes linearly from one level to another, in one measurement. */
export const concurrencyRampMode: LoadMode<ConcurrencyRampPlan> = {
  schema,
  prepare: ({ start, end, overMs }) => ({
    level: Math.max(start, end),
    drive: () => rampDrive(start, end, overMs),
  }),
  unit: "concurrency",
  describe: ({ start, end, overMs }) => `concurrency from ${start} to ${end} over ${formatDurationNs(msToNs(overMs))}`,
  describeLevel: ({ start, end }) => `a ramp of concurrency from ${start} to ${end}`,
  ramp: ({ overMs }) => ({ overMs, isWhole: true }),
  askedMean: ({ start, end, overMs }, _level, overNs) => meanRampConcurrency(start, end, msToNs(overMs), overNs),
};

/** Concurrency that changes linearly from one level to another, then stays constant. */
export function rampDrive(start: number, end: number, overMs: number): Drive {
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
  // Whole steps, each one above or below the one before, and then the step that lasts until the end.
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
