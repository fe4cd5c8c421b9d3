import type { RequestRateLoadPlan } from "../plan/plan.ts";
import { constantArrivals, poissonArrivals } from "./arrivals.ts";
import { levelsSchema, searchSchema } from "./levels.ts";
import type { LoadMode } from "./load-mode.ts";

/** Requests sent at a rate, evenly spaced or as a Poisson process. */
export const requestRateMode: LoadMode<RequestRateLoadPlan> = {
  schema: (v) =>
    v.object({
      kind: v.literal("request-rate"),
      levels: levelsSchema(v, v.pipe(v.number(), v.gtValue(0, "must be above 0"))),
      search: searchSchema(v),
      distribution: v.picklist(["constant", "poisson"], "must be constant or poisson"),
      seed: v.pipe(v.number(), v.integer("must be a whole number")),
    }),
  prepare: ({ levels, search, distribution, seed }) => ({
    search: { unit: "request-rate", levels, search },
    drive: (level) => ({
      kind: "scheduled",
      arrivals: distribution === "constant" ? constantArrivals(level) : poissonArrivals(level, seed),
    }),
  }),
};
