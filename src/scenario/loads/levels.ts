import * as v from "valibot";
import type { LevelsPlan, LoadPlan } from "../../plan/load-plan.ts";
import { problem } from "../../plan/problem.ts";
import type { Count, Duration } from "../../plan/units.ts";
import { refuseMore } from "../arguments.ts";
import { countSchema, spanSchema, strictOptions, toMs } from "../fields.ts";
import { checkExtent, type Extent, extentEntries, FROM_TO, levelsSchema, toExtentPlan } from "./extent.ts";
import { checkLevelRamp, levelRampEntries, type RampOptions, rampExtent } from "./level-ramp.ts";
import type { Load } from "./load.ts";
import { loadBuilder } from "./load-builder.ts";

/** Loads that keep a number of requests in flight. */

/**
 * Concurrency from `start` to `end`: level by level, or evenly over a time (`over`).
 * @example
 * ramp(1, 50, { step: 7 })
 */
export function ramp(start: number, end: number, options: RampOptions = {}): Load<"closed"> {
  refuseMore("ramp(start, end, options)", arguments);
  return { kind: "ramp", pacing: "closed", values: [start, end], options };
}

export const rampBuilder = loadBuilder({
  form: { name: "ramp", args: FROM_TO },
  values: levelsSchema,
  options: () => strictOptions(levelRampEntries(countSchema())),
  check: (load) => checkLevelRamp("ramp", load),
  toPlan: ({ values: [start = 1, end = 1], options: { over, step = 1 } }) =>
    over === undefined
      ? toConcurrency({ kind: "range", start, end, step })
      : { kind: "concurrency-ramp", start, end, overMs: toMs(over) },
  extent: rampExtent,
});

/** Options of {@link hold}. */
export type HoldOptions = {
  /** Time in which the concurrency rises evenly from 1; it is measured too. Default: `"0 s"`. */
  readonly rampUp?: Duration;
} & Extent;

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
  values: () => v.array(countSchema("must be one number: steps([…]) takes several")),
  options: () => strictOptions({ ...extentEntries(), rampUp: v.optional(spanSchema()) }),
  check: ({ options }) => checkExtent(options),
  toPlan: ({ values, options }) => toConcurrency({ kind: "list", values }, options.rampUp),
  extent: toExtentPlan,
  isSteady: true,
});

/** Options of {@link steps}. */
export type StepsOptions = {
  /** `"knee"`: end when throughput stops growing: at the second level above the lowest one that reaches 90 % of the highest throughput. Default: all levels. */
  readonly until?: "knee";
} & Extent;

/**
 * Each of these concurrencies in turn.
 * @example
 * steps([1, 2, 4, 8], { requests: 1000 })
 */
export function steps(levels: readonly number[], options: StepsOptions = {}): Load<"closed"> {
  refuseMore("steps(levels, options)", arguments, "Write the levels as a list: steps([1, 2, 4]).");
  return { kind: "steps", pacing: "closed", values: levels, options };
}

export const stepsBuilder = loadBuilder({
  form: { name: "steps", args: ["levels"], takes: "list" },
  values: levelsSchema,
  options: () => strictOptions({ ...extentEntries(), until: v.optional(v.literal("knee", 'must be "knee"')) }),
  check: ({ options }) => checkExtent(options),
  toPlan: ({ values, options: { until = "linear" as const } }) => ({
    kind: "concurrency",
    levels: { kind: "list", values },
    search: until,
  }),
  extent: toExtentPlan,
});

function toConcurrency(levels: LevelsPlan, rampUp?: Duration): LoadPlan {
  return { kind: "concurrency", levels, search: "linear", ...(rampUp === undefined ? {} : { rampMs: toMs(rampUp) }) };
}

/** Options of {@link periodic}. */
export interface PeriodicOptions {
  /** Number of requests in each further group. Default: 1. */
  readonly step?: number;
  /** Responses to each request of a group before the next group is sent. Default: 10. */
  readonly responses?: number;
}

/**
 * `start` requests, then groups of more requests up to `end`. A group is sent when all requests of the group before have some responses.
 * For decoupled models over a stream.
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
  options: () => strictOptions({ step: v.optional(countSchema()), responses: v.optional(countSchema()) }),
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

/**
 * Each conversation of the payloads once, `concurrency` of them at a time. A turn is sent with the turns before it and their responses, after
 * the last response and the pause that the data gives. A turn that fails ends its conversation.
 * @example
 * sessions(8)
 */
export function sessions<const N extends number>(concurrency: N & Count<N>): Load<"closed", "alone"> {
  refuseMore("sessions(concurrency)", arguments);
  return { kind: "sessions", pacing: "closed", values: [concurrency], options: {} };
}

export const sessionsBuilder = loadBuilder({
  form: { name: "sessions", args: ["concurrency"] },
  values: levelsSchema,
  options: () => strictOptions({}),
  toPlan: ({ values: [concurrency = 1] }) => ({ kind: "session-concurrency", concurrency }),
});
