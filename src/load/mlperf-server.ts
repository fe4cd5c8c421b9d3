import type { Builders, PlanOf } from "../plan/schema.ts";
import { formatCount, formatDurationNs, msToNs } from "../plan/units.ts";
import { poissonArrivals } from "./arrivals.ts";
import type { LoadMode } from "./load-mode.ts";

/** MLPerf's server scenario: a Poisson process of requests, whose latency has a limit. */
export type MlperfServerLoadPlan = PlanOf<typeof schema>;

declare module "../plan/load-plan.ts" {
  interface LoadPlans {
    readonly "mlperf-server": MlperfServerLoadPlan;
  }
}

function schema(v: Builders) {
  const positive = v.pipe(v.number(), v.gtValue(0, "must be above 0"));
  return v.object({
    kind: v.literal("mlperf-server"),
    ratePerSec: positive,
    /** The percentile of latency that is limited. */
    percentile: v.pipe(positive, v.ltValue(100, "must be below 100")),
    /** Its limit, from the time when a request was due. */
    latencyLimitMs: positive,
    /** Seed of the gaps. */
    seed: v.pipe(v.number(), v.integer("must be a whole number")),
  });
}

/** MLPerf's server scenario, as its LoadGen defines it. The result is the rate, if the percentile of latency is within the limit. */
export const mlperfServerMode: LoadMode<MlperfServerLoadPlan> = {
  schema,
  prepare: ({ ratePerSec, seed }) => ({
    search: { unit: "request-rate", levels: { kind: "list", values: [ratePerSec] }, search: "linear" },
    drive: () => ({ kind: "scheduled", arrivals: poissonArrivals(ratePerSec, seed) }),
  }),
  unit: "request-rate",
  describe,
  describeLevel: describe,
  arrivals: () => ({ distribution: "poisson", gapDeviationRatio: 1 }),
  mlperf: ({ percentile, latencyLimitMs }) => ({
    scenario: "server",
    samplesPerQuery: 1,
    percentile,
    latencyLimitMs,
  }),
};

function describe({ ratePerSec, latencyLimitMs, percentile }: MlperfServerLoadPlan): string {
  return `MLPerf server at ${formatCount(ratePerSec)} requests/s, p${percentile} within ${formatDurationNs(msToNs(latencyLimitMs))}`;
}
