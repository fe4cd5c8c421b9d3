import type { LimitedRateName, LimitedTimeName, TokenMetricName } from "../measure/tokens/metrics.ts";
import type { AssertionPlan, MetricPlan } from "../plan/assertions.ts";
import type { Duration } from "../plan/units.ts";

/** The shape of an assertion. */

/** `latency`: from the actual send. `scheduledLatency`: from the intended send, so that a late client or a slow server cannot hide. */
export type LatencyName = "latency" | "scheduledLatency";

/** What an assertion may look at by its name. */
export type MetricName = LatencyName | TokenMetricName | TokenSystemName;

/** An assertion that looks at metrics of a name, or at none. */
export interface Assertion<N extends MetricName = MetricName> {
  readonly metric: AssertedMetric & { readonly of?: N };
  readonly comparison: AssertionPlan["comparison"];
  readonly limit: Duration | number;
}

/** Metrics of all answers together. */
export type TokenSystemName = "outputTokensPerSec" | "goodput";

/** Limits that a good request keeps: times at most (`latency` is that of the whole request), and rates at least. */
export type GoodputLimits = {
  readonly [Name in LimitedTimeName | "latency"]?: Duration;
} & {
  readonly [Name in LimitedRateName]?: number;
};

/** A metric as it stands in an assertion: limits are still durations. */
export type AssertedMetric =
  | Exclude<MetricPlan, { kind: "goodput" }>
  | { readonly kind: "goodput"; readonly limits: GoodputLimits };
