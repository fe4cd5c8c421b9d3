import * as v from "valibot";
import type { ThinkTimePlan } from "../../plan/load-options.ts";
import type { LevelsPlan, LoadPlan } from "../../plan/load-plan.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { Count, Duration } from "../../plan/units.ts";
import { refuseMore } from "../arguments.ts";
import {
  countSchema,
  type DurationSpread,
  spanSchema,
  spreadSchema,
  strictOptions,
  toMs,
  toThinkPlan,
} from "../fields.ts";
import {
  checkLevelRamp,
  type Extent,
  extentEntries,
  FROM_TO,
  inFlightSchema,
  levelRampEntries,
  levelsSchema,
  type RampOptions,
  type UntilOptions,
  untilEntries,
} from "./extent.ts";
import type { Load } from "./load.ts";
import { loadBuilder } from "./load-builder.ts";

/** Loads that keep a number of requests in flight. */

/** Pauses of users between their requests. */
export type ThinkOptions = {
  /**
   * Time between a response and the same user's next request: `"2 s"`, or `{ mean: "2 s", stddev: "500 ms" }` for a normal distribution.
   * Levels are then numbers of users, and fewer requests are in flight. New users begin at random times within the mean think time, and
   * this time is not measured. Default: none.
   */
  readonly thinkTime?: DurationSpread;
};

function thinkEntries() {
  return { thinkTime: v.optional(spreadSchema()) };
}

type GivenRamp = { readonly values: readonly number[]; readonly options: { readonly over?: Duration | undefined } };

type GivenThinking = { readonly thinkTime?: DurationSpread | undefined };

function checkThinking({ thinkTime }: GivenThinking): Problem[] {
  if (thinkTime === undefined || toThinkPlan(thinkTime).meanMs > 0) return [];
  const path = typeof thinkTime === "string" ? "load.thinkTime" : "load.thinkTime.mean";
  const mean = typeof thinkTime === "string" ? thinkTime : thinkTime.mean;
  return [problem("invalid-value", path, "must be longer than 0", "Leave thinkTime out.", mean)];
}

function thinkingOf({ thinkTime }: GivenThinking): { thinkTime?: ThinkTimePlan; seed?: number } {
  return thinkTime === undefined ? {} : { thinkTime: toThinkPlan(thinkTime), seed: 0 };
}

/**
 * Concurrency from `start` to `end`: level by level, or evenly over a time (`over`). A start or end of 0 is allowed
 * only with `over`.
 * @example
 * ramp(1, 50, { step: 7 })
 */
export function ramp(start: number, end: number, options: RampOptions & ThinkOptions = {}): Load<"closed"> {
  refuseMore("ramp(start, end, options)", arguments);
  return { kind: "ramp", pacing: "closed", values: [start, end], options };
}

export const rampBuilder = loadBuilder({
  form: { name: "ramp", args: FROM_TO },
  example: "ramp(1, 64)",
  values: () => levelsSchema(0),
  options: () => strictOptions({ ...levelRampEntries(countSchema()), ...thinkEntries() }),
  check: (load) => {
    const zero = checkZero(load);
    return [...(zero.length > 0 ? zero : checkLevelRamp("ramp", load)), ...checkThinking(load.options)];
  },
  toPlan: ({ values: [start = 1, end = 1], options }) =>
    options.over === undefined
      ? toConcurrency({ kind: "range", start, end, step: options.step ?? 1 }, options)
      : { kind: "concurrency-ramp", start, end, overMs: toMs(options.over), ...thinkingOf(options) },
});

/** A level without users has nothing to measure; a ramp over a time only passes it. */
function checkZero({ values: [start = 1, end = 1], options: { over } }: GivenRamp): Problem[] {
  const isFrom = start === 0;
  if ((!isFrom && end > 0) || (over !== undefined && start + end > 0)) return [];
  const path = isFrom && over === undefined ? "load.from" : "load.to";
  const message = over === undefined ? "must be 1 or more level by level" : "must be 1 or more when the start is 0";
  const [from, to] = [Math.max(1, start), Math.max(1, end)];
  const hint =
    over === undefined
      ? `Write ramp(${Math.min(from, to)}, ${Math.max(from, to)}), or give it a duration: { over: "1 min" }.`
      : "Write ramp(0, 10).";
  return [problem("invalid-value", path, message, hint, "0")];
}

/** Options of {@link hold}. */
export type HoldOptions = {
  /** Time in which the concurrency rises evenly from 1; it is part of the measurement. Default: `"0 s"`. */
  readonly rampUp?: Duration;
} & ThinkOptions &
  Extent;

/**
 * A constant concurrency.
 * @example
 * hold(16, { for: "30 s" })
 */
export function hold<const N extends number>(concurrency: N & Count<N>, options: HoldOptions = {}): Load<"closed"> {
  refuseMore("hold(concurrency, options)", arguments);
  return { kind: "hold", pacing: "closed", values: [concurrency], options };
}

export const holdBuilder = loadBuilder({
  form: { name: "hold", args: ["concurrency"] },
  example: 'hold(16, { for: "30 s" })',
  values: () => v.array(inFlightSchema("must be one number: steps([…]) takes several")),
  options: () => strictOptions({ ...extentEntries(), ...thinkEntries(), rampUp: v.optional(spanSchema()) }),
  check: ({ options }) => checkThinking(options),
  toPlan: ({ values, options }) => toConcurrency({ kind: "list", values }, options),
  isSteady: true,
});

/** Options of {@link steps}. */
export type StepsOptions = UntilOptions & ThinkOptions & Extent;

/**
 * A list of concurrencies, measured one after another.
 * @example
 * steps([1, 2, 4, 8], { requests: 1000 })
 */
export function steps(levels: readonly number[], options: StepsOptions = {}): Load<"closed"> {
  refuseMore("steps(levels, options)", arguments, "Write the levels as a list: steps([1, 2, 4]).");
  return { kind: "steps", pacing: "closed", values: levels, options };
}

export const stepsBuilder = loadBuilder({
  form: { name: "steps", args: ["levels"], takes: "list" },
  example: "steps([1, 2, 4])",
  values: levelsSchema,
  options: () => strictOptions({ ...extentEntries(), ...thinkEntries(), ...untilEntries() }),
  check: ({ options }) => checkThinking(options),
  toPlan: ({ values, options }) => toConcurrency({ kind: "list", values }, options),
});

function toConcurrency(
  levels: LevelsPlan,
  options: GivenThinking & { readonly rampUp?: Duration | undefined; readonly until?: "knee" | undefined },
): LoadPlan {
  const { rampUp, until: search = "linear" } = options;
  return {
    kind: "concurrency",
    levels,
    search,
    ...(rampUp === undefined ? {} : { rampMs: toMs(rampUp) }),
    ...thinkingOf(options),
  };
}

/** Options of {@link periodic}. */
export interface PeriodicOptions {
  /** Number of requests in each further group. Default: 1. */
  readonly step?: number;
  /** Number of responses to each request of a group before the next group is sent. Default: 10. */
  readonly responses?: number;
}

/**
 * `start` requests, then groups of more requests up to `end`. A group is sent when all requests of the previous group have some
 * responses. For decoupled models over a stream.
 * @example
 * periodic(10, 50, { step: 10, responses: 5 })
 */
export function periodic(start: number, end: number, options: PeriodicOptions = {}): Load<"closed"> {
  refuseMore("periodic(start, end, options)", arguments);
  return { kind: "periodic", pacing: "closed", values: [start, end], options };
}

export const periodicBuilder = loadBuilder({
  form: { name: "periodic", args: FROM_TO },
  values: levelsSchema,
  options: () => strictOptions({ step: v.optional(inFlightSchema()), responses: v.optional(countSchema()) }),
  check: ({ values: [start = 1, end = 1], options: { step = 1 } }) => {
    if (end >= start && (end - start) % step === 0) return [];
    const message = `periodic(${start}, ${end}) does not reach its end in steps of ${step}`;
    return [problem("invalid-value", "load", message, "The end must be the start plus a whole number of steps.")];
  },
  toPlan: ({ values: [start = 1, end = 1], options: { step = 1, responses = 10 } }) => ({
    kind: "periodic-concurrency",
    start,
    end,
    step,
    periodResponses: responses,
  }),
});
