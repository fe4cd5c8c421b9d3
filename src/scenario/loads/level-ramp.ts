import * as v from "valibot";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Schema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { spanSchema } from "../fields.ts";
import { checkExtent, during, type Extent, extentEntries, toExtentPlan } from "./extent.ts";

/** What ramps of the concurrency and of the rate have in common: from one load to another, level by level or over a time. */

/** Options of `ramp`: level by level, or over a time. */
export type RampOptions =
  | ({
      /** Difference between two levels. Default: 1. */
      readonly step?: number;
      readonly over?: never;
    } & Extent)
  | {
      /** Change the load evenly over this time, in one measurement with a time line. Default: level by level. */
      readonly over: Duration;
      readonly step?: never;
      readonly for?: never;
      readonly requests?: never;
    };

/** Returns the schemas of these options. @param step the schema of a step */
export function levelRampEntries(step: Schema<number>) {
  return { ...extentEntries(), step: v.optional(step), over: v.optional(spanSchema()) };
}

type GivenRamp = v.InferOutput<v.ObjectSchema<ReturnType<typeof levelRampEntries>, undefined>>;

/** Returns what is wrong with a ramp. @param name of its builder */
export function checkLevelRamp(
  name: string,
  { values: [start = 1, end = 1], options }: { readonly values: readonly number[]; readonly options: GivenRamp },
): Problem[] {
  const { over, step, for: duration, requests } = options;
  const problems = checkExtent(options);
  if (over !== undefined && (step !== undefined || duration !== undefined || requests !== undefined)) {
    const message = "is the length of the whole measurement and cannot be given together with step, for or requests";
    problems.push(problem("conflict", "load.over", message, "Leave them out."));
  }
  if (over !== undefined || end >= start) return problems;
  const message = `a ramp over levels cannot fall from ${start} to ${end}`;
  const hint = `Write ${name}(${end}, ${start}), or give it a duration: { over: "1 min" }.`;
  return [...problems, problem("invalid-value", "load", message, hint)];
}

/** Converts these options to how long a plan measures; undefined: each level until it is stable. */
export function rampExtent(options: GivenRamp): MeasurementModePlan | undefined {
  return options.over === undefined ? toExtentPlan(options) : during(options.over);
}
