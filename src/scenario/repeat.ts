import * as v from "valibot";
import type { RepeatPlan } from "../plan/plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import type { MetricName, Precision } from "./assertion.ts";
import { precisionSchema, toPrecisionPlan } from "./assertions.ts";
import { strictOptions } from "./fields.ts";

const DEFAULT_AT_LEAST = 3;
const DEFAULT_AT_MOST = 10;

/** Whole runs until a metric is known precisely enough. */
export interface RepeatOptions<N extends MetricName = MetricName> {
  /** Runs before the precision is looked at; 2 or more. Default: 3. */
  readonly atLeast?: number;
  /** Runs after which the repetition ends in any case; the run then counts as unstable. Default: 10. */
  readonly atMost?: number;
  /** The precision that ends the repetition, at every level: `p99("latency").within("5 %")`. */
  readonly until: Precision<N>;
}

/** How often the whole run is repeated: a number, or until a metric is precise. */
export type Repeat<N extends MetricName = MetricName> = number | RepeatOptions<N>;

/** Returns the schema of a repetition. */
export function repeatSchema(): Schema<Repeat> {
  const runs = v.pipe(
    v.number('must be a number of runs, or { until: p99().within("5 %") }'),
    v.integer("must be a whole number"),
    v.minValue(2, "must be 2 or more: leave it out for one run"),
  );
  const options = strictOptions({ atLeast: v.optional(runs), atMost: v.optional(runs), until: precisionSchema() });
  return v.lazy((input) => (typeof input === "object" && input !== null ? options : runs)) as unknown as Schema<Repeat>;
}

/** Returns conflicts of a repetition: between its options, and with a load that searches. */
export function checkRepeat(repeat: Repeat | undefined, isSearch: boolean): Problem[] {
  if (repeat === undefined) return [];
  if (isSearch) {
    const message = "findMax(…) chooses the loads of a run, so that several runs do not measure the same ones";
    return [problem("conflict", "repeat", message, "Leave it out, or repeat the load that the search found.")];
  }
  if (typeof repeat === "number") return [];
  const { atLeast = DEFAULT_AT_LEAST, atMost = DEFAULT_AT_MOST } = repeat;
  if (atLeast <= atMost) return [];
  const [name, other] = repeat.atMost === undefined ? ["atLeast", "atMost"] : ["atMost", "atLeast"];
  const message = `repeats at least ${atLeast} times, and at most ${atMost} times`;
  return [problem("conflict", `repeat.${name}`, message, `Change it, or give ${other}.`)];
}

/** Returns the precision of a repetition, whose metric must fit the scenario like those of assertions. */
export function untilOf(repeat: Repeat | undefined): readonly Pick<Precision, "metric">[] {
  return typeof repeat === "object" ? [repeat.until] : [];
}

/** Converts a repetition to that of a plan. */
export function toRepeatPlan(repeat: Repeat): RepeatPlan {
  if (typeof repeat === "number") return { atLeast: repeat, atMost: repeat };
  const { atLeast = DEFAULT_AT_LEAST, atMost = DEFAULT_AT_MOST, until } = repeat;
  return { atLeast, atMost, until: toPrecisionPlan(until) };
}
