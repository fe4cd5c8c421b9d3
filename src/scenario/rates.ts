import * as v from "valibot";
import type { RequestRateLoadPlan } from "../load/request-rate.ts";
import type { RateRampPlan } from "../plan/load-options.ts";
import { type Problem, problem } from "../plan/problem.ts";
import { countSchema, positiveSchema } from "./fields.ts";

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

/** Validated options. */
export interface CheckedArrivals {
  readonly distribution?: "constant" | "poisson" | "gamma";
  readonly smoothness?: number;
  readonly seed?: number;
  readonly maxOutstanding?: number;
}

/** Returns the schemas of these options. */
export function arrivalEntries(): v.ObjectEntries {
  const names = 'must be "constant", "poisson" or "gamma"';
  return {
    distribution: v.optional(v.picklist(["constant", "poisson", "gamma"], names)),
    smoothness: v.optional(positiveSchema()),
    seed: v.optional(v.pipe(v.number("must be a number"), v.integer("must be a whole number"))),
    maxOutstanding: v.optional(countSchema()),
  };
}

/** Returns conflicts between these options. */
export function checkArrivals({ smoothness, distribution }: CheckedArrivals): Problem[] {
  if (smoothness === undefined || distribution === "gamma") return [];
  const hint = 'Add distribution: "gamma", or leave it out.';
  return [problem("conflict", "load.smoothness", "belongs to the gamma distribution", hint)];
}

/** Converts a load to that of a plan. @param values requests per second, one per level */
export function toRatePlan(
  values: readonly number[],
  { distribution = "constant", seed = 0, smoothness, maxOutstanding }: CheckedArrivals,
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
