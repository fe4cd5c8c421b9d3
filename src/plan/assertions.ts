import type { GoodputPlan } from "./tokens.ts";

/** What must hold at every level, as plain data. */

/** What an assertion looks at. */
export type MetricPlan =
  | { readonly kind: "latency-percentile"; readonly percentile: number; readonly of: "latency" | "scheduledLatency" }
  | { readonly kind: "latency-average"; readonly of: "latency" | "scheduledLatency" }
  /** Inferences per second. */
  | { readonly kind: "throughput" }
  /** Failed requests over all requests, 0 to 1. */
  | { readonly kind: "error-ratio" }
  /** Of a metric by its name in scenarios; the table of token metrics has them. */
  | { readonly kind: "token-percentile"; readonly percentile: number; readonly of: string }
  | { readonly kind: "token-average"; readonly of: string }
  /** Tokens of all answers per second. */
  | { readonly kind: "output-tokens-per-sec" }
  /** Requests per second that keep to all limits. */
  | { readonly kind: "goodput"; readonly limits: GoodputPlan };

/** One assertion, judged at every level. Limits of times are in nanoseconds. */
export interface AssertionPlan {
  readonly metric: MetricPlan;
  readonly comparison: "below" | "at-most" | "above" | "at-least" | "is";
  readonly limit: number;
}
