import type { RequestRateLoadPlan } from "../plan/load-plan.ts";
import type { Schema } from "../plan/schema.ts";
import { type Arrivals, constantArrivals, gammaArrivals, poissonArrivals, rampArrivals } from "./arrivals.ts";
import { concurrencySchema, levelsSchema, searchSchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** Requests at a rate: evenly spaced, as a Poisson process, or with gamma-distributed gaps. */
export const requestRateMode: LoadMode<RequestRateLoadPlan> = {
  schema: (v) => {
    const positive = v.pipe(v.number(), v.gtValue(0, "must be above 0"));
    return v.object({
      kind: v.literal("request-rate"),
      levels: levelsSchema(v, positive),
      search: searchSchema(v),
      distribution: v.picklist(["constant", "poisson", "gamma"], "must be constant, poisson or gamma"),
      seed: v.pipe(v.number(), v.integer("must be a whole number")),
      smoothness: v.optional(positive),
      maxOutstanding: v.optional(concurrencySchema(v)),
      ramp: v.optional(
        v.object({ fromPerSec: v.pipe(v.number(), v.minValue(0, "must be 0 or more")), overMs: positive }),
      ),
    }) as Schema<RequestRateLoadPlan>;
  },
  prepare: (plan) => ({
    search: { unit: "request-rate", levels: plan.levels, search: plan.search },
    drive: (level) => {
      const { ramp, maxOutstanding } = plan;
      const steady = steadyArrivals(plan, level);
      const arrivals = ramp === undefined ? steady : rampArrivals(steady, level, ramp);
      return { kind: "scheduled", arrivals, ...(maxOutstanding === undefined ? {} : { maxOutstanding }) };
    },
  }),
};

function steadyArrivals({ distribution, seed, smoothness = 1 }: RequestRateLoadPlan, ratePerSec: number): Arrivals {
  if (distribution === "gamma") return gammaArrivals(ratePerSec, smoothness, seed);
  return distribution === "constant" ? constantArrivals(ratePerSec) : poissonArrivals(ratePerSec, seed);
}
