import { resolve } from "node:path";
import * as v from "valibot";
import type { LevelsPlan, LoadPlan } from "../plan/load-plan.ts";
import type { MeasurementModePlan } from "../plan/plan.ts";
import { type Problem, problem } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import type { Duration } from "../plan/units.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { countSchema, nameSchema, positiveSchema, spanSchema, strictOptions, toMs } from "./fields.ts";
import { checkFindMax, findMaxEntries, findMaxExtent, findMaxOf, toFindMaxPlan } from "./find-max/options.ts";
import { type CheckedMlperf, mlperfEntries, mlperfExtent, toMlperfPlan } from "./mlperf/options.ts";
import { type ArrivalOptions, arrivalEntries, type CheckedArrivals, checkArrivals, toRatePlan } from "./rates.ts";
import { type CheckedSchedule, checkSchedule, type ScheduleOptions, scheduleEntries, toPart } from "./schedules.ts";

/** How long each level is measured. Default: until it is stable. */
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

/** Options of {@link ramp}. */
export type RampOptions =
  | ({
      /** Difference between two levels. Default: 1. */
      readonly step?: number;
      readonly over?: never;
    } & Extent)
  | {
      /** Change the concurrency evenly over this time, in one measurement with a time line. Default: level by level. */
      readonly over: Duration;
      readonly step?: never;
      readonly for?: never;
      readonly requests?: never;
    };

/** Options of {@link hold}. */
export type HoldOptions = {
  /** Time in which the concurrency rises evenly from 1; it is measured too. Default: `"0 s"`. */
  readonly rampUp?: Duration;
} & Extent;

/** Options of {@link rate}. */
export type RateOptions = {
  /** Time in which the rate rises evenly from 0; it is measured too. Default: `"0 s"`. */
  readonly rampUp?: Duration;
} & ArrivalOptions &
  Extent;

/** Options of {@link rateRamp}: one measurement of the length `over` with a time line. */
export type RateRampOptions = {
  /** Time in which the rate changes. */
  readonly over: Duration;
} & ArrivalOptions;

/** Options of {@link periodic}. */
export interface PeriodicOptions {
  /** Number of requests in each further group. Default: 1. */
  readonly step?: number;
  /** Responses to each request of a group before the next group is sent. Default: 10. */
  readonly responses?: number;
}

/** `closed`: keeps a number of requests in flight. `scheduled`: sends requests at due times, independent of responses. */
export type LoadKind = "closed" | "scheduled";

/** A load. Its pacing determines which latencies assertions can refer to. */
export interface Load<S extends LoadKind = LoadKind> {
  readonly kind:
    | "ramp"
    | "hold"
    | "steps"
    | "rate"
    | "rate-ramp"
    | "intervals"
    | "fixed-schedule"
    | "periodic"
    | "sessions"
    | "warmup"
    | "phase"
    | "soak"
    | "spike"
    | "single-stream"
    | "multi-stream"
    | "server"
    | "offline"
    | "find-max";
  readonly pacing: S;
  readonly values: readonly number[];
  readonly options: object;
}

/** Concurrency from `start` to `end`: level by level, or evenly over a time (`over`). */
export function ramp(start: number, end: number, options: RampOptions = {}): Load<"closed"> {
  return { kind: "ramp", pacing: "closed", values: [start, end], options };
}

/** A constant concurrency. */
export function hold(concurrency: number, options: HoldOptions = {}): Load<"closed"> {
  return { kind: "hold", pacing: "closed", values: [concurrency], options };
}

/** Each of these concurrencies in turn. */
export function steps(levels: readonly number[], options: Extent = {}): Load<"closed"> {
  return { kind: "steps", pacing: "closed", values: levels, options };
}

/** Requests per second: one rate or a list of rates, whatever the server does. */
export function rate(perSec: number | readonly number[], options: RateOptions = {}): Load<"scheduled"> {
  return { kind: "rate", pacing: "scheduled", values: typeof perSec === "number" ? [perSec] : perSec, options };
}

/** Requests per second that change evenly from one rate to another. */
export function rateRamp(startPerSec: number, endPerSec: number, options: RateRampOptions): Load<"scheduled"> {
  return { kind: "rate-ramp", pacing: "scheduled", values: [startPerSec, endPerSec], options };
}

/** Requests at the gaps of a file: one whole number of microseconds per line, repeated. A relative path starts at the scenario's folder. */
export function intervals(file: string, options: Extent = {}): Load<"scheduled"> {
  return { kind: "intervals", pacing: "scheduled", values: [], options: { ...options, file } };
}

/** Each entry of the `json(…)` inputs once, at its field `timestamp` (milliseconds). */
export function fixedSchedule(options: ScheduleOptions = {}): Load<"scheduled"> {
  return { kind: "fixed-schedule", pacing: "scheduled", values: [], options };
}

/**
 * `start` requests, then groups of more requests up to `end`. A group is sent when all requests of the group before have some responses.
 * For decoupled models over a stream.
 */
export function periodic(start: number, end: number, options: PeriodicOptions = {}): Load<"closed"> {
  return { kind: "periodic", pacing: "closed", values: [start, end], options };
}

/**
 * Each conversation of the payloads once, `concurrency` of them at a time. A turn is sent with the turns before it and their answers, after
 * the last answer and the pause that the data gives. A turn that fails ends its conversation.
 */
export function sessions(concurrency: number): Load<"closed"> {
  return { kind: "sessions", pacing: "closed", values: [concurrency], options: {} };
}

interface CheckedOptions extends CheckedArrivals, CheckedSchedule, CheckedMlperf {
  readonly file?: string;
  readonly responses?: number;
  readonly step?: number;
  readonly for?: Duration;
  readonly requests?: number;
  readonly over?: Duration;
  readonly rampUp?: Duration;
}

/** The loads that are not made of other loads. */
type PlainKind = Exclude<Load["kind"], "warmup" | "phase" | "soak" | "spike">;

/** A validated load. */
export interface CheckedLoad {
  readonly kind: PlainKind;
  readonly values: readonly number[];
  readonly options: CheckedOptions;
}

/** Returns the schema of a scenario's load. */
export function loadSchema(): Schema<CheckedLoad> {
  const extent = { for: v.optional(spanSchema()), requests: v.optional(countSchema()) };
  const levels = v.pipe(v.array(countSchema(), "must be a list of levels"), v.minLength(1, "must have a level"));
  const rates = v.pipe(
    v.array(positiveSchema(), "must be a rate or a list of rates"),
    v.minLength(1, "must have a rate"),
  );
  const shape = <K extends PlainKind>(kind: K, values: Schema<readonly number[]>, options: v.ObjectEntries) =>
    v.object({ kind: v.literal(kind), values, options: strictOptions(options) });
  const load = v.variant(
    "kind",
    [
      shape("ramp", levels, { ...extent, step: v.optional(countSchema()), over: v.optional(spanSchema()) }),
      shape("hold", levels, { ...extent, rampUp: v.optional(spanSchema()) }),
      shape("steps", levels, extent),
      shape("rate", rates, { ...extent, ...arrivalEntries(), rampUp: v.optional(spanSchema()) }),
      shape("rate-ramp", rates, { ...arrivalEntries(), over: spanSchema() }),
      shape("intervals", v.array(v.never()), { ...extent, file: nameSchema("a file") }),
      shape("fixed-schedule", v.array(v.never()), scheduleEntries()),
      shape("periodic", levels, { step: v.optional(countSchema()), responses: v.optional(countSchema()) }),
      shape("sessions", levels, {}),
      shape("single-stream", v.array(v.never()), mlperfEntries("single-stream")),
      shape("multi-stream", v.array(v.never()), mlperfEntries("multi-stream")),
      shape("server", rates, mlperfEntries("server")),
      shape("offline", v.array(v.never()), mlperfEntries("offline")),
      shape("find-max", v.array(v.never()), findMaxEntries()),
    ],
    "must be ramp(…), hold(…), steps(…), rate(…), rateRamp(…), intervals(…), fixedSchedule(), periodic(…), sessions(…), singleStream(), multiStream(), server(…), offline() or findMax(…)",
  );
  return load as unknown as Schema<CheckedLoad>;
}

/** Returns conflicts between the options of a load. */
export function checkLoad(load: CheckedLoad): Problem[] {
  const { kind, values, options } = load;
  const findMax = findMaxOf(load);
  if (findMax !== undefined) return checkFindMax(findMax);
  const problems: Problem[] = [];
  const { over, for: duration, requests, step } = options;
  if (duration !== undefined && requests !== undefined) {
    problems.push(problem("conflict", "load.requests", "cannot be given together with for", "Give one of them."));
  }
  if (over !== undefined && (step !== undefined || duration !== undefined || requests !== undefined)) {
    const message = "is the length of the whole measurement and cannot be given together with step, for or requests";
    problems.push(problem("conflict", "load.over", message, "Leave them out."));
  }
  const [start, end] = values as [number, number];
  if (kind === "periodic" && (end < start || (end - start) % (step ?? 1) !== 0)) {
    const message = `periodic(${start}, ${end}) does not reach its end in steps of ${step ?? 1}`;
    problems.push(problem("invalid-value", "load", message, "The end must be the start plus a whole number of steps."));
  }
  if (kind === "ramp" && over === undefined && end < start) {
    const message = `a ramp over levels cannot fall from ${start} to ${end}`;
    const hint = `Write ramp(${end}, ${start}), or give it a duration: { over: "1 min" }.`;
    problems.push(problem("invalid-value", "load", message, hint));
  }
  return [...problems, ...checkArrivals(options), ...checkSchedule(options)];
}

/** Converts each builder's load to that of a plan. */
const TO_PLAN: { readonly [K in PlainKind]: (load: CheckedLoad, folder: string) => LoadPlan } = {
  ramp: ({ values: [start = 1, end = 1], options }) =>
    options.over === undefined
      ? toConcurrency({ kind: "range", start, end, step: options.step ?? 1 }, options)
      : { kind: "concurrency-ramp", start, end, overMs: toMs(options.over) },
  hold: ({ values, options }) => toConcurrency({ kind: "list", values }, options),
  steps: ({ values, options }) => toConcurrency({ kind: "list", values }, options),
  rate: ({ values, options }) =>
    toRatePlan(values, options, options.rampUp && { fromPerSec: 0, overMs: toMs(options.rampUp) }),
  "rate-ramp": ({ values: [fromPerSec = 0, end = 1], options }) =>
    toRatePlan([end], options, { fromPerSec, overMs: toMs(options.over ?? "0 s") }),
  intervals: ({ options }, folder) => ({ kind: "intervals", file: resolve(folder, options.file ?? "") }),
  "fixed-schedule": ({ options }) => ({ kind: "fixed-schedule", ...toPart(options) }),
  periodic: ({ values: [start = 1, end = 1], options: { step = 1, responses = 10 } }) => ({
    kind: "periodic-concurrency",
    start,
    end,
    step,
    periodResponses: responses,
  }),
  sessions: ({ values: [concurrency = 1] }) => ({ kind: "session-concurrency", concurrency }),
  "single-stream": toMlperfPlan("single-stream"),
  "multi-stream": toMlperfPlan("multi-stream"),
  server: toMlperfPlan("server"),
  offline: toMlperfPlan("offline"),
  "find-max": (load) => toFindMaxPlan(findMaxOf(load) ?? {}),
};

function toConcurrency(levels: LevelsPlan, { rampUp }: CheckedOptions): LoadPlan {
  return { kind: "concurrency", levels, search: "linear", ...(rampUp === undefined ? {} : { rampMs: toMs(rampUp) }) };
}

/** Converts a load to that of a plan. @param folder base of relative paths */
export function toLoadPlan(load: CheckedLoad, folder: string): LoadPlan {
  return TO_PLAN[load.kind](load, folder);
}

/** Returns how long a load asks to be measured; undefined: until it is stable. @param plan the load of the plan */
export function toExtentPlan(load: CheckedLoad, plan: LoadPlan): MeasurementModePlan | undefined {
  const { options } = load;
  const mlperf = mlperfExtent(load);
  if (mlperf !== undefined) return mlperf;
  const findMax = findMaxOf(load);
  if (findMax !== undefined) return findMaxExtent(findMax);
  const count = loadModeOf(plan).requestCount?.(plan);
  if (count !== undefined) return { kind: "requests", count };
  if (options.over !== undefined) return { kind: "duration", durationMs: toMs(options.over) };
  if (options.for !== undefined) return { kind: "duration", durationMs: toMs(options.for) };
  return options.requests === undefined ? undefined : { kind: "requests", count: options.requests };
}
