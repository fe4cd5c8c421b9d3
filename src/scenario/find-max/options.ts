import * as v from "valibot";
import type { LevelsPlan, LoadPlan } from "../../plan/load-plan.ts";
import type { MeasurementModePlan } from "../../plan/plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Schema } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import type { Assertion, MetricOf } from "../assertion.ts";
import { assertionSchema, type CheckedAssertion } from "../assertion-schema.ts";
import { countSchema, positiveSchema, spanSchema, strictOptions, toMs } from "../fields.ts";
import type { DataForm } from "../form.ts";
import { type ArrivalOptions, arrivalEntries, type CheckedArrivals, checkArrivals, toRatePlan } from "../rates.ts";

/** The loads among which `findMax` searches: made by `concurrency(…)` or `requestRate(…)`. */
export interface SearchedLoad<S extends "closed" | "scheduled" = "closed" | "scheduled"> {
  /** What is varied. */
  readonly kind: "concurrency" | "request-rate";
  /** How requests are sent: see `LoadKind`. */
  readonly pacing: S;
  /** The lowest and the highest load: requests in flight, or requests per second. */
  readonly values: readonly [min: number, max: number];
  /** How requests of a rate are spaced. */
  readonly options: ArrivalOptions;
}

/** Options of `findMax`. */
export interface FindMaxOptions<S extends "closed" | "scheduled" = "closed" | "scheduled"> {
  /** The loads to search: `concurrency(1, 512)` or `requestRate(10, 500)`. */
  readonly over: SearchedLoad<S>;
  /** What the load must keep; one limit or more. */
  readonly where: readonly Assertion<MetricOf<S>>[];
  /** Time of load at each point before its measurement. Default: `"1 s"`. */
  readonly settle?: Duration;
  /** Length of a measuring window. A point is measured for two windows or more. Default: `"1 s"`. */
  readonly window?: Duration;
  /** Longest measurement of a point. When a limit is still inside the confidence interval then, the point is unresolved. Default: `"30 s"`. */
  readonly atMost?: Duration;
}

const DEFAULT_SETTLE: Duration = "1 s";
const DEFAULT_WINDOW: Duration = "1 s";
const DEFAULT_MOST: Duration = "30 s";

/** Validated options. */
export interface CheckedFindMax {
  readonly over?: SearchedLoad & { readonly options: CheckedArrivals };
  readonly where?: readonly CheckedAssertion[];
  readonly settle?: Duration;
  readonly window?: Duration;
  readonly atMost?: Duration;
}

/** Returns the options of a load that is a search; undefined for another one. */
export function findMaxOf({
  kind,
  options,
}: {
  readonly kind: string;
  readonly options: object;
}): CheckedFindMax | undefined {
  return kind === "find-max" ? options : undefined;
}

/** How the loads to search are written as data. */
export const SEARCHED_FORMS: Readonly<Record<SearchedLoad["kind"], DataForm>> = {
  concurrency: { name: "concurrency", args: ["min", "max"] },
  "request-rate": { name: "requestRate", args: ["min", "max"] },
};

/** Returns the schemas of these options. */
export function findMaxEntries(): v.ObjectEntries {
  const shape = (kind: SearchedLoad["kind"], value: Schema<number>, options: v.ObjectEntries) =>
    v.object({
      kind: v.literal(kind),
      pacing: v.picklist(["closed", "scheduled"]),
      values: v.tuple([value, value]),
      options: strictOptions(options),
    });
  return {
    over: v.variant(
      "kind",
      [shape("concurrency", countSchema(), {}), shape("request-rate", positiveSchema(), arrivalEntries())],
      "must be concurrency(…) or requestRate(…)",
    ),
    where: v.pipe(
      v.array(assertionSchema(), "must be a list of limits"),
      v.minLength(1, 'must have a limit, such as p99("latency").below("25 ms")'),
    ),
    settle: v.optional(spanSchema()),
    window: v.optional(spanSchema()),
    atMost: v.optional(spanSchema()),
  };
}

/** Returns conflicts between these options. */
export function checkFindMax({ over, window = DEFAULT_WINDOW, atMost = DEFAULT_MOST }: CheckedFindMax): Problem[] {
  if (over === undefined) return [];
  const problems: Problem[] = [];
  const [min, max] = over.values;
  if (max <= min) {
    const hint = "Give the lower end first.";
    problems.push(problem("invalid-value", "load.over", `has no loads between ${min} and ${max}`, hint));
  }
  if (toMs(atMost) < 2 * toMs(window)) {
    const message = "is shorter than two windows";
    problems.push(problem("conflict", "load.atMost", message, "Raise it, or lower window.", atMost));
  }
  return [...problems, ...checkArrivals(over.options)];
}

/** Converts the search to a load of a plan. */
export function toFindMaxPlan({ over }: CheckedFindMax): LoadPlan {
  const { kind, values, options } = over as NonNullable<CheckedFindMax["over"]>;
  const [start, end] = values;
  const levels: LevelsPlan = { kind: "range", start, end, step: 1 };
  if (kind === "concurrency") return { kind: "concurrency", levels, search: "highest" };
  return { ...toRatePlan(values, options, undefined), levels, search: "highest" };
}

/** Returns how each point of the search is measured. */
export function findMaxExtent({ window = DEFAULT_WINDOW, atMost = DEFAULT_MOST }: CheckedFindMax): MeasurementModePlan {
  return { kind: "until-resolved", windowMs: toMs(window), maxMs: toMs(atMost) };
}

/** Returns the time of load before each measurement, in milliseconds. */
export function findMaxSettleMs({ settle = DEFAULT_SETTLE }: CheckedFindMax): number {
  return toMs(settle);
}
