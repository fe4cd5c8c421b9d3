import * as v from "valibot";
import type { RepeatPlan } from "../plan/plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import { isWhole, numberSchema, type OutputOf } from "../plan/schema.ts";
import type { AnyAssertion, MetricName, Precision } from "./assertion.ts";
import { precisionSchema, toPrecisionPlan } from "./assertion-schema.ts";
import { strictOptions } from "./fields.ts";

const DEFAULT_AT_LEAST = 3;
const DEFAULT_AT_MOST = 10;

/** Repetition of whole runs until a metric is known precisely enough. */
export interface RepeatOptions<N extends MetricName = MetricName, W extends string = never> {
  /** Number of runs before the precision is judged; 2 or more. Default: 3. */
  readonly atLeast?: number;
  /** Maximum number of runs; if the precision is not reached by then, the result counts as unstable. Default: 10. */
  readonly atMost?: number;
  /**
   * The precision that ends the repetition: at every level of every phase, or at the highest load of each search: `p99("latency").within("5
   * %")`.
   */
  readonly until: Precision<N, W>;
}

/** Number of repetitions of the whole run, or the precision of a metric that ends them. */
export type Repeat<N extends MetricName = MetricName, W extends string = never> = number | RepeatOptions<N, W>;

type RepeatData = OutputOf<typeof repeatSchema>;

/** Returns the schema of a repetition. */
export function repeatSchema() {
  const runs = v.pipe(
    numberSchema('must be a number of runs, or { until: p99().within("5 %") }'),
    isWhole(),
    v.minValue(2, "must be 2 or more: leave it out for one run"),
  );
  const options = strictOptions({ atLeast: v.optional(runs), atMost: v.optional(runs), until: precisionSchema() });
  return v.lazy((input) => (typeof input === "object" && input !== null ? options : runs));
}

/** Returns conflicts between the options of a repetition. */
export function checkRepeat(repeat: RepeatData | undefined): Problem[] {
  if (repeat === undefined || typeof repeat === "number") return [];
  const { atLeast = DEFAULT_AT_LEAST, atMost = DEFAULT_AT_MOST } = repeat;
  if (atLeast <= atMost) return [];
  const [name, other] = repeat.atMost === undefined ? ["atLeast", "atMost"] : ["atMost", "atLeast"];
  const message = `repeats at least ${atLeast} times, and at most ${atMost} times`;
  return [problem("conflict", `repeat.${name}`, message, `Change it, or give ${other}.`)];
}

/** Returns an assertion on the metric of a repetition. Like any other assertion, it must fit the scenario. */
export function untilOf(repeat: RepeatData | undefined): readonly AnyAssertion[] {
  if (typeof repeat !== "object") return [];
  const { metric, where } = repeat.until;
  return [{ metric, comparison: "at-most", limit: 0, where }];
}

/** Converts a repetition to its form in a plan. */
export function toRepeatPlan(repeat: RepeatData): RepeatPlan {
  if (typeof repeat === "number") return { atLeast: repeat, atMost: repeat };
  const { atLeast = DEFAULT_AT_LEAST, atMost = DEFAULT_AT_MOST, until } = repeat;
  return { atLeast, atMost, until: toPrecisionPlan(until) };
}
