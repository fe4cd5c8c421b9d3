import type { Direction } from "./direction.ts";

/** What a metric counts: nanoseconds, something per second, a ratio from 0 to 1, or a plain number. */
export type Quantity = "time" | "rate" | "ratio" | "number";

/** A metric of requests, whatever they ask for, as comparisons know it. */
export interface RequestMetric {
  /** Name in reports. */
  readonly label: string;
  readonly quantity: Quantity;
  /** Absent: neither direction is better. */
  readonly better?: Direction;
  /** Whether it has an average and percentiles, because each request has a value. */
  readonly isPerRequest?: true;
}

/** The metrics of requests, by the name under which users ask for them. Metrics of tokens are in `tokens/metrics.ts`. */
export const REQUEST_METRICS = {
  throughput: { label: "throughput", quantity: "rate", better: "higher" },
  errorRate: { label: "error rate", quantity: "ratio", better: "lower" },
  latency: { label: "latency", quantity: "time", better: "lower", isPerRequest: true },
  scheduledLatency: { label: "scheduled latency", quantity: "time", better: "lower", isPerRequest: true },
  firstResponse: { label: "first response", quantity: "time", better: "lower", isPerRequest: true },
  betweenResponses: { label: "time between responses", quantity: "time", better: "lower" },
  responsesPerSec: { label: "responses/s", quantity: "rate", better: "higher" },
  sequencesPerSec: { label: "sequences/s", quantity: "rate", better: "higher" },
  outputTokensPerSec: { label: "output tokens/s", quantity: "rate", better: "higher" },
  totalTokensPerSec: { label: "tokens/s", quantity: "rate", better: "higher" },
  goodput: { label: "goodput", quantity: "rate", better: "higher" },
  goodRatio: { label: "good requests", quantity: "ratio", better: "higher" },
  highestLoad: { label: "highest load within the limits", quantity: "number", better: "higher" },
  serverQueue: { label: "server queue", quantity: "time", better: "lower" },
  serverComputeInput: { label: "server compute input", quantity: "time", better: "lower" },
  serverComputeInfer: { label: "server compute infer", quantity: "time", better: "lower" },
  serverComputeOutput: { label: "server compute output", quantity: "time", better: "lower" },
} as const satisfies Readonly<Record<string, RequestMetric>>;

/** A key of the table. */
export type RequestMetricName = keyof typeof REQUEST_METRICS;
