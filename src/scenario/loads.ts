import { resolve } from "node:path";
import * as v from "valibot";
import type { LoadPlan, MeasurementModePlan } from "../plan/plan.ts";
import type { Problem } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import type { Duration } from "../plan/units.ts";
import { countSchema, nameSchema, positiveSchema, spanSchema, toMs } from "./fields.ts";

/** The load shapes of scenarios: when requests are sent. */

/** How long each level is measured; without either until it is stable. */
export type Extent =
  | { readonly for?: never; readonly requests?: never }
  /** Measured over this time. */
  | { readonly for: Duration; readonly requests?: never }
  /** Measured over so many requests. */
  | { readonly for?: never; readonly requests: number };

/** Options of {@link ramp}. */
export type RampOptions =
  | ({
      /** From level to level. Default: 1. */
      readonly step?: number;
      readonly over?: never;
    } & Extent)
  /** One measurement of this length with a time line, while the concurrency changes evenly. */
  | { readonly over: Duration; readonly step?: never; readonly for?: never; readonly requests?: never };

/** Options of {@link rate}. */
export type RateOptions = {
  /** `constant` spaces requests evenly; `poisson` is how independent users arrive. Default: constant. */
  readonly distribution?: "constant" | "poisson";
  /** Seed of the Poisson process. Default: 0. */
  readonly seed?: number;
} & Extent;

/** Options of {@link periodic}. */
export interface PeriodicOptions {
  /** Requests of each further group. Default: 1. */
  readonly step?: number;
  /** Responses that every request of a group must have brought before the next group is sent. Default: 10. */
  readonly responses?: number;
}

/** `closed`: a number of requests is kept outstanding. `scheduled`: requests are due at times, whatever the server does. */
export type LoadSort = "closed" | "scheduled";

/** A load of a sort; the sort decides which latencies an assertion may look at. */
export interface Load<S extends LoadSort = LoadSort> {
  readonly kind: "ramp" | "hold" | "steps" | "rate" | "intervals" | "fixed-schedule" | "periodic";
  readonly sort: S;
  readonly values: readonly number[];
  readonly options: object;
}

/** Concurrency from `start` to `end`, level by level, or evenly over a time with `over`. */
export function ramp(start: number, end: number, options: RampOptions = {}): Load<"closed"> {
  return { kind: "ramp", sort: "closed", values: [start, end], options };
}

/** A constant concurrency. */
export function hold(concurrency: number, options: Extent = {}): Load<"closed"> {
  return { kind: "hold", sort: "closed", values: [concurrency], options };
}

/** Concurrency at each of these levels. */
export function steps(levels: readonly number[], options: Extent = {}): Load<"closed"> {
  return { kind: "steps", sort: "closed", values: levels, options };
}

/** Requests per second, one rate or several levels. */
export function rate(perSec: number | readonly number[], options: RateOptions = {}): Load<"scheduled"> {
  return { kind: "rate", sort: "scheduled", values: typeof perSec === "number" ? [perSec] : perSec, options };
}

/** Requests at the gaps of a file, over and over: one whole number of microseconds per line. A relative path starts at the scenario's folder. */
export function intervals(file: string, options: Extent = {}): Load<"scheduled"> {
  return { kind: "intervals", sort: "scheduled", values: [], options: { ...options, file } };
}

/** Every entry of the `json(…)` inputs once, at the time in milliseconds that its field `timestamp` gives. */
export function fixedSchedule(): Load<"scheduled"> {
  return { kind: "fixed-schedule", sort: "scheduled", values: [], options: {} };
}

/**
 * `start` requests, then more of them in groups up to `end` in all, each group when all requests of the one before have brought some of
 * their responses. For decoupled models over a stream.
 */
export function periodic(start: number, end: number, options: PeriodicOptions = {}): Load<"closed"> {
  return { kind: "periodic", sort: "closed", values: [start, end], options };
}

interface CheckedOptions {
  readonly file?: string;
  readonly responses?: number;
  readonly step?: number;
  readonly for?: Duration;
  readonly requests?: number;
  readonly over?: Duration;
  readonly distribution?: "constant" | "poisson";
  readonly seed?: number;
}

/** A load that was checked. */
export interface CheckedLoad {
  readonly kind: Load["kind"];
  readonly values: readonly number[];
  readonly options: CheckedOptions;
}

/** The schema of a scenario's load. */
export function loadSchema(): Schema<CheckedLoad> {
  const extent = { for: v.optional(spanSchema()), requests: v.optional(countSchema()) };
  const levels = v.pipe(v.array(countSchema(), "must be a list of levels"), v.minLength(1, "must have a level"));
  const shape = <K extends Load["kind"]>(kind: K, values: Schema<readonly number[]>, options: v.ObjectEntries) =>
    v.object({ kind: v.literal(kind), values, options: v.strictObject(options) });
  const load = v.variant(
    "kind",
    [
      shape("ramp", levels, { ...extent, step: v.optional(countSchema()), over: v.optional(spanSchema()) }),
      shape("hold", levels, extent),
      shape("steps", levels, extent),
      shape(
        "rate",
        v.pipe(v.array(positiveSchema(), "must be a rate or a list of rates"), v.minLength(1, "must have a rate")),
        {
          ...extent,
          distribution: v.optional(v.picklist(["constant", "poisson"], 'must be "constant" or "poisson"')),
          seed: v.optional(v.pipe(v.number("must be a number"), v.integer("must be a whole number"))),
        },
      ),
      shape("intervals", v.array(v.never()), { ...extent, file: nameSchema("a file") }),
      shape("fixed-schedule", v.array(v.never()), {}),
      shape("periodic", levels, { step: v.optional(countSchema()), responses: v.optional(countSchema()) }),
    ],
    "must be ramp(…), hold(…), steps(…), rate(…), intervals(…), fixedSchedule() or periodic(…)",
  );
  return load as unknown as Schema<CheckedLoad>;
}

/** Rules between the options of a load. */
export function checkLoad({ kind, values, options }: CheckedLoad): Problem[] {
  const problems: Problem[] = [];
  const { over, for: duration, requests, step } = options;
  if (duration !== undefined && requests !== undefined) {
    problems.push({ path: "load.requests", message: "cannot be given together with for", hint: "Give one of them." });
  }
  if (over !== undefined && (step !== undefined || duration !== undefined || requests !== undefined)) {
    problems.push({
      path: "load.over",
      message: "is the length of the whole measurement and cannot be given together with step, for or requests",
      hint: "Leave those out.",
    });
  }
  const [start, end] = values as [number, number];
  if (kind === "periodic" && (end < start || (end - start) % (step ?? 1) !== 0)) {
    problems.push({
      path: "load",
      message: `periodic(${start}, ${end}) does not reach its end in groups of ${step ?? 1}`,
      hint: "Let the end be the start and a number of whole steps.",
    });
  }
  if (kind === "ramp" && over === undefined && end < start) {
    problems.push({
      path: "load",
      message: `a ramp from level to level cannot fall from ${start} to ${end}`,
      hint: `Write ramp(${end}, ${start}), or let it fall over a time with { over: "1 min" }.`,
    });
  }
  return problems;
}

/** Whether requests are due at times, whatever the server does. */
export function isScheduled({ kind }: CheckedLoad): boolean {
  return kind === "rate" || kind === "intervals" || kind === "fixed-schedule";
}

/** The load of a plan. @param folder where relative paths start */
export function toLoadPlan({ kind, values, options }: CheckedLoad, folder: string): LoadPlan {
  const [start, end] = values as [number, number];
  if (kind === "intervals") return { kind, file: resolve(folder, options.file ?? "") };
  if (kind === "fixed-schedule") return { kind };
  if (kind === "periodic") {
    const { step = 1, responses = 10 } = options;
    return { kind: "periodic-concurrency", start, end, step, periodResponses: responses };
  }
  if (options.over !== undefined) return { kind: "concurrency-ramp", start, end, overMs: toMs(options.over) };
  if (kind === "rate") {
    const { distribution = "constant", seed = 0 } = options;
    return { kind: "request-rate", levels: { kind: "list", values }, search: "linear", distribution, seed };
  }
  const levels =
    kind === "ramp"
      ? ({ kind: "range", start, end, step: options.step ?? 1 } as const)
      : ({ kind: "list", values } as const);
  return { kind: "concurrency", levels, search: "linear" };
}

/** How long the load asks to be measured; undefined: until it is stable. */
export function toExtentPlan({ kind, values, options }: CheckedLoad): MeasurementModePlan | undefined {
  if (kind === "fixed-schedule") return { kind: "requests", count: null };
  if (kind === "periodic") return { kind: "requests", count: values[1] ?? 1 };
  if (options.over !== undefined) return { kind: "duration", durationMs: toMs(options.over) };
  if (options.for !== undefined) return { kind: "duration", durationMs: toMs(options.for) };
  return options.requests === undefined ? undefined : { kind: "requests", count: options.requests };
}
