import type { Tags } from "./split/tags.ts";
import type { GoodputPlan } from "./tokens.ts";

/** The metric of an assertion. */
export type MetricPlan =
  | { readonly kind: "latency-percentile"; readonly percentile: number; readonly of: "latency" | "scheduledLatency" }
  | { readonly kind: "latency-average"; readonly of: "latency" | "scheduledLatency" }
  /** Inferences per second. */
  | { readonly kind: "throughput" }
  /** Failed requests over all requests, 0 to 1. */
  | { readonly kind: "error-ratio" }
  /** A token metric by its name in scenarios; see the table of token metrics. */
  | { readonly kind: "token-percentile"; readonly percentile: number; readonly of: string }
  | { readonly kind: "token-average"; readonly of: string }
  /** Output tokens of all responses per second. */
  | { readonly kind: "output-tokens-per-sec" }
  /** Numbers that the target extracts from answers by this name. `percentile` only with that statistic. */
  | {
      readonly kind: "extracted";
      readonly name: string;
      readonly statistic: "average" | "min" | "max" | "percentile";
      readonly percentile?: number | undefined;
    }
  /** Requests per second that meet all limits. */
  | { readonly kind: "goodput"; readonly limits: GoodputPlan };

/** An assertion, checked at every level. Time limits are in nanoseconds. Only limits of extracted numbers may be negative. */
export interface AssertionPlan {
  readonly metric: MetricPlan;
  readonly comparison: "below" | "at-most" | "above" | "at-least" | "is";
  readonly limit: number;
  /** The run ends early when the assertion does not hold over this measured time, in milliseconds. Absent: it is judged at the end. */
  readonly abortAfterMs?: number;
  /** Judges only the requests with these tags. Absent: all requests. */
  readonly where?: Tags | undefined;
}
