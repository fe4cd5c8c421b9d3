import * as v from "valibot";
import type { LevelsPlan } from "../../plan/load-plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Duration } from "../../plan/units.ts";
import { refuseMore } from "../arguments.ts";
import type { Assertion, MetricOf } from "../assertion.ts";
import { assertionSchema } from "../assertion-schema.ts";
import { countSchema, positiveSchema, spanSchema, strictOptions, toMs } from "../fields.ts";
import { type Load, type LoadKind, pacingOf } from "./load.ts";
import { loadBuilder } from "./load-builder.ts";
import { type ArrivalOptions, arrivalEntries, checkArrivals, toRatePlan } from "./rates.ts";

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

/**
 * Concurrencies to search, from `min` to `max`.
 * @example
 * findMax({ over: concurrency(1, 64), where: [p99("latency").below("50 ms")] })
 */
export function concurrency(min: number, max: number): SearchedLoad<"closed"> {
  refuseMore("concurrency(min, max)", arguments);
  return { kind: "concurrency", pacing: "closed", values: [min, max], options: {} };
}

/**
 * Request rates to search, from `min` to `max` requests per second.
 * @example
 * findMax({ over: requestRate(10, 1000), where: [p99("latency").below("50 ms")] })
 */
export function requestRate(min: number, max: number, options: ArrivalOptions = {}): SearchedLoad<"scheduled"> {
  refuseMore("requestRate(min, max, options)", arguments);
  return { kind: "request-rate", pacing: "scheduled", values: [min, max], options };
}

/**
 * The highest load that keeps all limits. Doubles the load until a limit breaks, then bisects. Each point is measured until the whole
 * confidence interval of every limited metric is on one side of its limit; the report calls it unresolved when that takes too long.
 * Assertions are judged at the load that was found.
 * @example
 * findMax({ over: requestRate(10, 1000), where: [p99("latency").below("50 ms"), errorRate().atMost("1 %")], atMost: "30 s" })
 */
export function findMax<S extends LoadKind>(options: FindMaxOptions<S>): Load<S> {
  refuseMore("findMax(options)", arguments);
  return { kind: "find-max", pacing: pacingOf(options.over), values: [], options };
}

/** How the loads to search are written as data, each with the schemas of its ends and its options. */
export const SEARCHED_FORMS = {
  concurrency: {
    form: { name: "concurrency", args: ["min", "max"] },
    values: () => v.tuple([countSchema(), countSchema()]),
    options: () => strictOptions({}),
  },
  "request-rate": {
    form: { name: "requestRate", args: ["min", "max"] },
    values: () => v.tuple([positiveSchema(), positiveSchema()]),
    options: () => strictOptions(arrivalEntries()),
  },
} as const;

function searchedSchema() {
  const { concurrency: closed, "request-rate": scheduled } = SEARCHED_FORMS;
  const pacing = v.picklist(["closed", "scheduled"]);
  return v.variant(
    "kind",
    [
      v.object({ kind: v.literal("concurrency"), pacing, values: closed.values(), options: closed.options() }),
      v.object({ kind: v.literal("request-rate"), pacing, values: scheduled.values(), options: scheduled.options() }),
    ],
    "must be concurrency(…) or requestRate(…)",
  );
}

export const findMaxBuilder = loadBuilder({
  form: { name: "findMax", parts: { over: "searched", where: "assertions" } },
  options: () =>
    strictOptions({
      over: searchedSchema(),
      where: v.pipe(
        v.array(assertionSchema(), "must be a list of limits"),
        v.minLength(1, 'must have a limit, such as p99("latency").below("25 ms")'),
      ),
      settle: v.optional(spanSchema()),
      window: v.optional(spanSchema()),
      atMost: v.optional(spanSchema()),
    }),
  check: ({ options: { over, window = DEFAULT_WINDOW, atMost = DEFAULT_MOST } }) => {
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
  },
  toPlan: ({ options: { over } }) => {
    const [start, end] = over.values;
    const levels: LevelsPlan = { kind: "range", start, end, step: 1 };
    if (over.kind === "concurrency") return { kind: "concurrency", levels, search: "highest" };
    return { ...toRatePlan(over.values, over.options, undefined), levels, search: "highest" };
  },
  extent: ({ window = DEFAULT_WINDOW, atMost = DEFAULT_MOST }) => ({
    kind: "until-resolved",
    windowMs: toMs(window),
    maxMs: toMs(atMost),
  }),
  search: ({ where, settle = DEFAULT_SETTLE }) => ({ limits: where, settleMs: toMs(settle) }),
});
