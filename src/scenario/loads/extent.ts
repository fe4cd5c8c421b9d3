import * as v from "valibot";
import { MAX_CONCURRENCY } from "../../load/levels.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import { ONLY_ONE, type Problem, problem } from "../../plan/problem.ts";
import { type EntriesOf, listSchema, type Schema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { countSchema, positiveSchema, spanSchema, toMs } from "../fields.ts";

/** Common parts of several builders of loads: numbers, length of measurement, and ramps. */

/** Length of the measurement of each level. Default: until it is stable. */
export type Extent =
  | { readonly for?: never; readonly requests?: never }
  | {
      /** Time to measure each level. Default: until it is stable. */
      readonly for: Duration;
      readonly requests?: never;
    }
  | {
      readonly for?: never;
      /** Number of requests to measure at each level. Default: until it is stable. */
      readonly requests: number;
    };

/** Returns the schemas of these options. */
export function extentEntries() {
  return { for: v.optional(spanSchema()), requests: v.optional(countSchema()) };
}

/** Options for the length of the measurement, of a load that may have them. */
type GivenExtent = EntriesOf<typeof extentEntries> & { readonly over?: Duration | undefined };

/** Returns conflicts between these options. */
export function checkExtent({ for: duration, requests }: GivenExtent): Problem[] {
  if (duration === undefined || requests === undefined) return [];
  return [problem("conflict", "load.requests", "cannot be given together with for", ONLY_ONE)];
}

/** Converts these options to their form in a plan; undefined: until it is stable. */
export function toExtentPlan({
  for: duration,
  requests,
  over = duration,
}: GivenExtent): MeasurementModePlan | undefined {
  if (over !== undefined) return during(over);
  return requests === undefined ? undefined : { kind: "requests", count: requests };
}

/** Converts a duration to a plan's measurement mode. */
export function during(duration: Duration): MeasurementModePlan {
  return { kind: "duration", durationMs: toMs(duration) };
}

/** Names of the two ends of a load, as arguments. */
export const FROM_TO: readonly string[] = ["from", "to"];

/**
 * Returns the schema of a number of requests in flight. @param rule message for other types. Default: it must be a number @param
 * least smallest value. Default: 1
 */
export function inFlightSchema(rule?: string, least?: number): Schema<number> {
  return countSchema(rule, MAX_CONCURRENCY, least);
}

/** Returns the schema of numbers of requests in flight. @param least smallest value. Default: 1 */
export function levelsSchema(least?: number): Schema<readonly number[]> {
  return v.pipe(listSchema(inFlightSchema(undefined, least), "levels"), v.minLength(1, "must have a level"));
}

/** Returns the schema of rates, in requests per second. */
export function ratesSchema(): Schema<readonly number[]> {
  return v.pipe(listSchema(positiveSchema(), "rates"), v.minLength(1, "must have a rate"));
}

/** End of a load of several levels. */
export interface UntilOptions {
  /**
   * `"knee"`: end when throughput stops growing: two levels above the lowest one that reaches 90 % of the highest throughput, and at 1.25
   * times its load or more. Give rates a `for`: above the knee their latency never becomes stable. Default: all levels.
   */
  readonly until?: "knee";
}

/** Returns the schemas of these options. */
export function untilEntries() {
  return { until: v.optional(v.literal("knee", 'must be "knee"')) };
}

/** Options of `ramp`: level by level, or over a time. */
export type RampOptions =
  | ({
      /** Difference between two levels. Default: 1. */
      readonly step?: number;
      readonly over?: never;
    } & UntilOptions &
      Extent)
  | {
      /** Time over which the load changes evenly, in one measurement with a time line. Default: level by level. */
      readonly over: Duration;
      readonly step?: never;
      readonly until?: never;
      readonly for?: never;
      readonly requests?: never;
    };

/** Returns the schemas of these options. @param step schema of a step */
export function levelRampEntries(step: Schema<number>) {
  return { ...extentEntries(), ...untilEntries(), step: v.optional(step), over: v.optional(spanSchema()) };
}

type GivenRamp = v.InferOutput<v.ObjectSchema<ReturnType<typeof levelRampEntries>, undefined>>;

/** Returns the problems of a ramp. @param name name of its builder */
export function checkLevelRamp(
  name: string,
  { values: [start = 1, end = 1], options }: { readonly values: readonly number[]; readonly options: GivenRamp },
): Problem[] {
  const { over, step, until, for: duration, requests } = options;
  const problems: Problem[] = [];
  if (over !== undefined && [step, until, duration, requests].some((given) => given !== undefined)) {
    const message =
      "is the length of the whole measurement and cannot be given together with step, until, for or requests";
    problems.push(problem("conflict", "load.over", message, "Leave them out."));
  }
  if (over !== undefined || end >= start) return problems;
  const message = `a ramp over levels cannot fall from ${start} to ${end}`;
  const hint = `Write ${name}(${end}, ${start}), or give it a duration: { over: "1 min" }.`;
  return [...problems, problem("invalid-value", "load", message, hint)];
}
