import * as v from "valibot";
import { rateRampSchema } from "../plan/load-options.ts";
import { levelsSchema, searchSchema } from "../plan/load-plan.ts";
import { defined } from "../plan/objects.ts";
import { aboveZeroSchema, atLeast, integerSchema, type PlanOf } from "../plan/schema.ts";
import { formatCount, formatDurationNs, msToNs } from "../plan/units.ts";
import {
  type Arrivals,
  constantArrivals,
  fromMidGap,
  gammaArrivals,
  poissonArrivals,
  rampArrivals,
} from "./arrivals.ts";
import { drawLoad } from "./draw-load.ts";
import { concurrencySchema, describeLevels } from "./levels.ts";
import type { ArrivalsText, LoadMode } from "./load-mode.ts";

/** Requests sent at a rate, independently of the server's responses. */
export type RequestRateLoadPlan = PlanOf<typeof schema>;

function schema() {
  return v.pipe(
    v.object({
      kind: v.literal("request-rate"),
      /** In requests per second. 0 is for a ramp that ends at 0. */
      levels: levelsSchema(v.pipe(v.number(), atLeast(0))),
      search: searchSchema(),
      ...arrivalsEntries(),
      /** Maximum number of outstanding requests. Requests above it wait in order. Absent: no limit. */
      maxOutstanding: v.exactOptional(concurrencySchema()),
      /** Absent: the rate is constant. */
      ramp: v.exactOptional(rateRampSchema()),
    }),
    v.check(({ levels, ramp }) => {
      const rates = levels.kind === "list" ? levels.values : [levels.start];
      return (ramp?.fromPerSec ?? 0) > 0 || rates.every((perSec) => perSec > 0);
    }, "must have rates above 0"),
  );
}

/** Entries of a load with a rate: the gaps between its arrivals. */
export function arrivalsEntries() {
  return {
    distribution: v.picklist(["constant", "poisson", "gamma"], "must be constant, poisson or gamma"),
    /** Seed of random gaps. */
    seed: integerSchema(),
    /** Shape of `gamma`, above 0: 1 is Poisson, higher is smoother, lower is burstier. Default: 1. */
    smoothness: v.exactOptional(aboveZeroSchema()),
  };
}

type ArrivalsPlan = Pick<RequestRateLoadPlan, "distribution" | "seed" | "smoothness">;

/** Requests at a rate: evenly spaced, as a Poisson process, or with gamma-distributed gaps. */
export const requestRateMode: LoadMode<RequestRateLoadPlan> = {
  schema,
  prepare: (plan, measured) => ({
    drive: (level, _, draw = 0) => {
      const { ramp, maxOutstanding } = plan;
      const drawn = drawLoad(plan, draw);
      const steady = (perSec: number): Arrivals => steadyArrivals(drawn, perSec);
      // A ramp is measured from its start. A fixed number of requests takes as many gaps; a duration may end anywhere
      // within a gap.
      const isMidGap = plan.distribution === "constant" && measured?.kind !== "requests";
      const inTime = isMidGap ? (perSec: number) => fromMidGap(steady(perSec)) : steady;
      const arrivals = ramp === undefined ? steady(level) : rampArrivals(inTime, level, ramp);
      return { kind: "scheduled", arrivals, ...defined({ maxOutstanding }) };
    },
  }),
  unit: "request-rate",
  levels: ({ levels, search }) => ({ levels, search }),
  describe: (plan) =>
    `${plan.distribution} request rate ${describeLevels(plan.levels, plan.search)}${describeOptions(plan)}`,
  describeLevel: ({ ramp }, level) => ramp && `${formatCount(ramp.fromPerSec)} to ${formatCount(level)} requests/s`,
  ramp: ({ ramp }) => ramp && { overMs: ramp.overMs },
  askedMean: ({ ramp }, level, overNs) => {
    if (ramp === undefined || overNs <= 0) return level;
    // The rate changes linearly, and stays at the level afterwards.
    const part = Math.min(1, overNs / msToNs(ramp.overMs));
    const reached = ramp.fromPerSec + (level - ramp.fromPerSec) * part;
    const rampedNs = Math.min(overNs, msToNs(ramp.overMs));
    return (((ramp.fromPerSec + reached) / 2) * rampedNs + level * (overNs - rampedNs)) / overNs;
  },
  arrivals: describeArrivals,
  maxOutstanding: ({ maxOutstanding }) => maxOutstanding,
};

function describeOptions({ ramp, maxOutstanding }: RequestRateLoadPlan): string {
  const most = maxOutstanding === undefined ? "" : `, with ${maxOutstanding} in flight at most`;
  if (ramp === undefined) return most;
  return `, reached from ${ramp.fromPerSec} over ${formatDurationNs(msToNs(ramp.overMs))}${most}`;
}

export function describeArrivals({ distribution, smoothness = 1 }: ArrivalsPlan): ArrivalsText {
  return distribution === "constant"
    ? { distribution: "uniform", gapDeviationRatio: 0 }
    : { distribution, gapDeviationRatio: 1 / Math.sqrt(smoothness) };
}

export function steadyArrivals({ distribution, seed, smoothness = 1 }: ArrivalsPlan, ratePerSec: number): Arrivals {
  if (distribution === "gamma") return gammaArrivals(ratePerSec, smoothness, seed);
  return distribution === "constant" ? constantArrivals(ratePerSec) : poissonArrivals(ratePerSec, seed);
}
