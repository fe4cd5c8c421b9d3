import { resolve } from "node:path";
import * as v from "valibot";
import type { RequestRateLoadPlan } from "../../load/request-rate.ts";
import type { RateRampPlan } from "../../plan/load-options.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import type { EntriesOf } from "../../plan/schema.ts";
import type { Duration } from "../../plan/units.ts";
import { refuseMore, withFields } from "../arguments.ts";
import { countSchema, nameSchema, positiveSchema, spanSchema, strictOptions, toMs } from "../fields.ts";
import { checkExtent, during, type Extent, extentEntries, FROM_TO, ratesSchema, toExtentPlan } from "./extent.ts";
import type { Load } from "./load.ts";
import { loadBuilder } from "./load-builder.ts";

/** Loads that send requests at due times, whatever the server does. */

/** The gaps between requests of a rate. */
export type ArrivalOptions = {
  /** Seed of random gaps. Default: 0. */
  readonly seed?: number;
  /** Most requests in flight. Requests that are due meanwhile wait in order. Default: no limit. */
  readonly maxOutstanding?: number;
} & (
  | {
      /** Gaps between requests: `"constant"`, `"poisson"` (independent users) or `"gamma"` (smoother or burstier). Default: `"constant"`. */
      readonly distribution?: "constant" | "poisson";
      readonly smoothness?: never;
    }
  | {
      readonly distribution: "gamma";
      /** Shape of `"gamma"`: 1 is Poisson, more is smoother, less is burstier (the burstiness of vLLM). Default: 1. */
      readonly smoothness?: number;
    }
);

/** Returns the schemas of these options. */
export function arrivalEntries() {
  const names = 'must be "constant", "poisson" or "gamma"';
  return {
    distribution: v.optional(v.picklist(["constant", "poisson", "gamma"], names)),
    smoothness: v.optional(positiveSchema()),
    seed: v.optional(v.pipe(v.number("must be a number"), v.integer("must be a whole number"))),
    maxOutstanding: v.optional(countSchema()),
  };
}

type Arrivals = EntriesOf<typeof arrivalEntries>;

/** Returns conflicts between these options. */
export function checkArrivals({ smoothness, distribution }: Arrivals): Problem[] {
  if (smoothness === undefined || distribution === "gamma") return [];
  const hint = 'Add distribution: "gamma", or leave it out.';
  return [problem("conflict", "load.smoothness", "belongs to the gamma distribution", hint)];
}

/** Converts a load to that of a plan. @param values requests per second, one per level */
export function toRatePlan(
  values: readonly number[],
  { distribution = "constant", seed = 0, smoothness, maxOutstanding }: Arrivals,
  ramp: RateRampPlan | undefined,
): RequestRateLoadPlan {
  return {
    kind: "request-rate",
    levels: { kind: "list", values },
    search: "linear",
    distribution,
    seed,
    ...(smoothness === undefined ? {} : { smoothness }),
    ...(maxOutstanding === undefined ? {} : { maxOutstanding }),
    ...(ramp === undefined ? {} : { ramp }),
  };
}

/** Options of {@link rate}. */
export type RateOptions = {
  /** Time in which the rate rises evenly from 0; it is measured too. Default: `"0 s"`. */
  readonly rampUp?: Duration;
} & ArrivalOptions &
  Extent;

/**
 * Requests per second: one rate or a list of rates, whatever the server does.
 * @example
 * rate(100, { distribution: "poisson", for: "30 s" })
 */
export function rate(perSec: number | readonly number[], options: RateOptions = {}): Load<"scheduled"> {
  refuseMore("rate(perSec, options)", arguments);
  return { kind: "rate", pacing: "scheduled", values: typeof perSec === "number" ? [perSec] : perSec, options };
}

export const rateBuilder = loadBuilder({
  form: { name: "rate", args: ["perSec"], takes: "one-or-list" },
  values: ratesSchema,
  options: () => strictOptions({ ...extentEntries(), ...arrivalEntries(), rampUp: v.optional(spanSchema()) }),
  check: ({ options }) => [...checkExtent(options), ...checkArrivals(options)],
  toPlan: ({ values, options }) =>
    toRatePlan(values, options, options.rampUp && { fromPerSec: 0, overMs: toMs(options.rampUp) }),
  extent: toExtentPlan,
  isSteady: true,
});

/** Options of {@link rateRamp}: one measurement of the length `over` with a time line. */
export type RateRampOptions = {
  /** Time in which the rate changes. */
  readonly over: Duration;
} & ArrivalOptions;

/**
 * Requests per second that change evenly from one rate to another.
 * @example
 * rateRamp(10, 500, { over: "2 min" })
 */
export function rateRamp(startPerSec: number, endPerSec: number, options: RateRampOptions): Load<"scheduled"> {
  refuseMore("rateRamp(startPerSec, endPerSec, options)", arguments);
  return { kind: "rate-ramp", pacing: "scheduled", values: [startPerSec, endPerSec], options };
}

export const rateRampBuilder = loadBuilder({
  form: { name: "rateRamp", args: FROM_TO },
  values: ratesSchema,
  options: () => strictOptions({ ...arrivalEntries(), over: spanSchema() }),
  check: ({ options }) => checkArrivals(options),
  toPlan: ({ values: [fromPerSec = 0, end = 1], options }) =>
    toRatePlan([end], options, { fromPerSec, overMs: toMs(options.over) }),
  extent: ({ over }) => during(over),
});

/**
 * Requests at the gaps of a file: one whole number of microseconds per line, repeated. A relative path starts at the scenario's folder.
 * @example
 * intervals("gaps.txt", { for: "30 s" })
 */
export function intervals(file: string, options: Extent = {}): Load<"scheduled"> {
  refuseMore("intervals(file, options)", arguments);
  return { kind: "intervals", pacing: "scheduled", values: [], options: withFields(options, { file }) };
}

export const intervalsBuilder = loadBuilder({
  form: { name: "intervals", alone: "file" },
  options: () => strictOptions({ ...extentEntries(), file: nameSchema("a file") }),
  check: ({ options }) => checkExtent(options),
  toPlan: ({ options }, folder) => ({ kind: "intervals", file: resolve(folder, options.file) }),
  extent: toExtentPlan,
  isSteady: true,
});
