import { resolve } from "node:path";
import * as v from "valibot";
import type { RequestRateLoadPlan } from "../../load/request-rate.ts";
import type { RateRampPlan } from "../../plan/load-options.ts";
import type { LevelsPlan } from "../../plan/load-plan.ts";
import { defined } from "../../plan/objects.ts";
import { type Problem, problem } from "../../plan/problem.ts";
import { type EntriesOf, integerSchema, type Schema } from "../../plan/schema.ts";
import type { Duration, Positive } from "../../plan/units.ts";
import { refuseMore, withFields } from "../arguments.ts";
import { nameSchema, naturalSchema, positiveSchema, spanSchema, strictOptions, toMs } from "../fields.ts";
import {
  checkLevelRamp,
  type Extent,
  extentEntries,
  FROM_TO,
  inFlightSchema,
  levelRampEntries,
  type RampOptions,
  ratesSchema,
  type UntilOptions,
  untilEntries,
} from "./extent.ts";
import type { Load } from "./load.ts";
import { loadBuilder } from "./load-builder.ts";

/** Loads that send requests at due times, independently of the server. */

/** The gaps between requests of a rate. */
export type ArrivalOptions = {
  /** Seed of random gaps. Default: 0. */
  readonly seed?: number;
  /** Maximum number of requests in flight. Above it, due requests wait in order. Default: no limit. */
  readonly concurrencyLimit?: number;
} & (
  | {
      /** Gaps between requests: `"constant"`, `"poisson"` (independent users) or `"gamma"` (smoother or burstier). Default: `"constant"`. */
      readonly distribution?: "constant" | "poisson";
      readonly smoothness?: never;
    }
  | {
      readonly distribution: "gamma";
      /** Shape of `"gamma"`: 1 is Poisson, higher is smoother, lower is burstier (the burstiness of vLLM). Default: 1. */
      readonly smoothness?: number;
    }
);

/** Returns the schemas of these options. */
export function arrivalEntries() {
  const names = 'must be "constant", "poisson" or "gamma"';
  return {
    distribution: v.optional(v.picklist(["constant", "poisson", "gamma"], names)),
    smoothness: v.optional(positiveSchema()),
    seed: v.optional(integerSchema()),
    concurrencyLimit: v.optional(inFlightSchema()),
  };
}

type Arrivals = EntriesOf<typeof arrivalEntries>;
type Gaps = Omit<Arrivals, "concurrencyLimit">;

/** Returns conflicts between these options. */
export function checkArrivals({ smoothness, distribution }: Gaps): Problem[] {
  if (smoothness === undefined || distribution === "gamma") return [];
  const hint = 'Add distribution: "gamma", or leave it out.';
  return [problem("conflict", "load.smoothness", "belongs to the gamma distribution", hint)];
}

/** Converts the gaps between arrivals to their form in a plan. */
export function toArrivalsPlan({ distribution = "constant", seed = 0, smoothness }: Gaps) {
  return { distribution, seed, ...defined({ smoothness }) };
}

/** Converts a load to its form in a plan. @param levels requests per second */
function toRatePlan(
  levels: LevelsPlan,
  { concurrencyLimit, until, ...gaps }: Arrivals & { readonly until?: "knee" | undefined },
  ramp: RateRampPlan | undefined,
): RequestRateLoadPlan {
  return {
    kind: "request-rate",
    levels,
    search: until ?? "linear",
    ...toArrivalsPlan(gaps),
    ...defined({ maxOutstanding: concurrencyLimit, ramp }),
  };
}

/** Options of {@link rate}. */
export type RateOptions = {
  /** Time in which the rate rises evenly from 0; it is part of the measurement. Default: `"0 s"`. */
  readonly rampUp?: Duration;
} & ArrivalOptions &
  Extent;

/**
 * A constant number of requests per second, independently of the server.
 * @example
 * rate(100, { distribution: "poisson", for: "30 s" })
 */
export function rate<const N extends number>(perSec: N & Positive<N>, options: RateOptions = {}): Load<"scheduled"> {
  refuseMore("rate(perSec, options)", arguments);
  return { kind: "rate", pacing: "scheduled", values: [perSec], options };
}

export const rateBuilder = loadBuilder({
  form: { name: "rate", args: ["perSec"] },
  example: 'rate(100, { for: "30 s" })',
  values: () => v.array(positiveSchema("must be one rate: rateSteps([…]) takes several")),
  options: () => strictOptions({ ...extentEntries(), ...arrivalEntries(), rampUp: v.optional(spanSchema()) }),
  check: ({ options }) => checkArrivals(options),
  toPlan: ({ values, options }) =>
    toRatePlan(listOf(values), options, options.rampUp && { fromPerSec: 0, overMs: toMs(options.rampUp) }),
  isSteady: true,
});

/** Options of {@link rateSteps}. */
export type RateStepsOptions = UntilOptions & ArrivalOptions & Extent;

/**
 * A list of rates in requests per second, measured one after another.
 * @example
 * rateSteps([50, 100, 200], { for: "30 s" })
 */
export function rateSteps(perSec: readonly number[], options: RateStepsOptions = {}): Load<"scheduled"> {
  refuseMore("rateSteps(perSec, options)", arguments, "Write the rates as a list: rateSteps([50, 100]).");
  return { kind: "rate-steps", pacing: "scheduled", values: perSec, options };
}

export const rateStepsBuilder = loadBuilder({
  form: { name: "rateSteps", args: ["perSec"], takes: "list" },
  example: "rateSteps([50, 100])",
  values: ratesSchema,
  options: () => strictOptions({ ...extentEntries(), ...arrivalEntries(), ...untilEntries() }),
  check: ({ options }) => checkArrivals(options),
  toPlan: ({ values, options }) => toRatePlan(listOf(values), options, undefined),
});

/** Options of {@link rateRamp}. */
export type RateRampOptions = RampOptions & ArrivalOptions;

/**
 * Requests per second from `start` to `end`: rate by rate, or evenly over a time (`over`). An end of 0 is allowed only with `over`.
 * Rate by rate, a start of 0 means that the first rate is the step.
 * @example
 * rateRamp(0, 500, { over: "2 min" })
 */
export function rateRamp(start: number, end: number, options: RateRampOptions = {}): Load<"scheduled"> {
  refuseMore("rateRamp(start, end, options)", arguments);
  return { kind: "rate-ramp", pacing: "scheduled", values: [start, end], options };
}

export const rateRampBuilder = loadBuilder({
  form: { name: "rateRamp", args: FROM_TO },
  example: "rateRamp(10, 500)",
  values: () => v.tuple([naturalSchema(), naturalSchema()]) as Schema<readonly number[]>,
  options: () => strictOptions({ ...arrivalEntries(), ...levelRampEntries(positiveSchema()) }),
  check: (load) => [
    ...checkLevelRamp("rateRamp", load),
    ...checkArrivals(load.options),
    ...checkAboveZero(load.values),
  ],
  toPlan: ({ values: [start = 0, end = 1], options }) => {
    const { over, step = 1 } = options;
    if (over !== undefined) return toRatePlan(listOf([end]), options, { fromPerSec: start, overMs: toMs(over) });
    const first = start === 0 ? ({ start: Math.min(step, end), isFromZero: true } as const) : { start };
    return toRatePlan({ kind: "range", ...first, end, step }, options, undefined);
  },
});

function checkAboveZero(ends: readonly number[]): Problem[] {
  if (ends.some((perSec) => perSec > 0)) return [];
  return [problem("invalid-value", "load.to", "must be above 0 when the start is 0", "Write rateRamp(0, 100).", "0")];
}

function listOf(values: readonly number[]): LevelsPlan {
  return { kind: "list", values };
}

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
  toPlan: ({ options }, folder) => ({ kind: "intervals", file: resolve(folder, options.file) }),
  isSteady: true,
});
