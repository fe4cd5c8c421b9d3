import * as v from "valibot";
import { defined } from "../plan/objects.ts";
import { aboveZeroSchema, integerSchema, type PlanOf } from "../plan/schema.ts";
import { formatCount, formatDurationNs, msToNs } from "../plan/units.ts";
import { type Arrivals, poissonArrivals } from "./arrivals.ts";
import type { LoadMode } from "./load-mode.ts";

/** MLPerf's server scenario: a Poisson process of requests with a latency limit. */
export type MlperfServerLoadPlan = PlanOf<typeof schema>;

function schema() {
  const positive = aboveZeroSchema();
  return v.object({
    kind: v.literal("mlperf-server"),
    ratePerSec: positive,
    /** Percentile that has a limit. */
    percentile: v.pipe(positive, v.ltValue(100, "must be below 100")),
    /** Limit of the percentile, from the time when a request was due. Absent: the limits are on tokens. */
    latencyLimitMs: v.exactOptional(positive),
    /**
     * Limits of that percentile of streamed tokens; time to first token counts from the time when a request was due. Absent: the limit
     * is on latency.
     */
    tokenLimits: v.exactOptional(v.object({ timeToFirstTokenMs: positive, timePerOutputTokenMs: positive })),
    /** Seed of the gaps. */
    seed: integerSchema(),
  });
}

/** MLPerf's server scenario, as its LoadGen defines it. The result is the rate, if the percentile is within its limits. */
export const mlperfServerMode: LoadMode<MlperfServerLoadPlan> = {
  schema,
  prepare: ({ ratePerSec, seed }) => ({
    level: ratePerSec,
    drive: () => ({
      kind: "scheduled",
      arrivals: fromStart(poissonArrivals(ratePerSec, seed)),
      due: { firstNs: 0 },
    }),
  }),
  unit: "request-rate",
  describe,
  describeLevel: describe,
  arrivals: () => ({ distribution: "poisson", gapDeviationRatio: 1 }),
  mlperf: ({ percentile, latencyLimitMs = null, tokenLimits }) => ({
    scenario: "server",
    samplesPerQuery: 1,
    percentile,
    latencyLimitMs,
    ...defined({ tokenLimits }),
  }),
};

/** Adds a first request at the start, as LoadGen does, so that `n` requests span `n - 1` gaps. */
function fromStart(arrivals: Arrivals): Arrivals {
  let isFirst = true;
  return () => {
    if (!isFirst) return arrivals();
    isFirst = false;
    return 0;
  };
}

function describe({ ratePerSec, latencyLimitMs, tokenLimits, percentile }: MlperfServerLoadPlan): string {
  const limits: readonly (readonly [name: string, limitMs: number | undefined])[] = [
    ["", latencyLimitMs],
    [" TTFT", tokenLimits?.timeToFirstTokenMs],
    [" TPOT", tokenLimits?.timePerOutputTokenMs],
  ];
  const texts = limits.flatMap(([name, limitMs]) =>
    limitMs === undefined ? [] : [`p${percentile}${name} within ${formatDurationNs(msToNs(limitMs))}`],
  );
  return `MLPerf server at ${formatCount(ratePerSec)} requests/s, ${texts.join(", ")}`;
}
