import type { MetricPlan } from "../../plan/assertions.ts";
import { nsToSec, usToNs } from "../../plan/units.ts";
import { estimateMean, estimateMeanNs } from "../intervals/mean-interval.ts";
import { estimatePercentile, percentileEstimator } from "../intervals/percentile-interval.ts";
import type { TokenColumns } from "../tokens/token-columns.ts";
import { isTokenMetric, type TokenMetricPlan, tokenSampleOf } from "../tokens/token-verdicts.ts";
import { type JudgedLevel, metricValue } from "../verdicts.ts";
import type { WindowResult } from "../window.ts";
import { ratioInterval } from "./ratio-interval.ts";

/** A metric with its 95 % confidence interval, in the unit of the metric. */
export interface MetricEstimate {
  readonly value: number;
  /** Ends of the interval; null where the sample has no bound on that side. */
  readonly low: number | null;
  readonly high: number | null;
}

/** A level and the windows of which it consists, for metrics that are rates. */
export interface EstimatedLevel extends JudgedLevel {
  /** In the order of time, of about the same length. */
  readonly windows: readonly WindowResult[];
}

/**
 * Estimates a metric. Rates vary from window to window, so that their interval needs two windows. Extracted numbers and a maximum or minimum
 * have no interval: their value counts as exact.
 * @returns undefined without a value
 */
export function estimateMetric(
  metric: MetricPlan,
  level: EstimatedLevel,
  batchSize: number,
): MetricEstimate | undefined {
  const value = metricValue(metric, level, batchSize);
  if (value === undefined) return undefined;
  const { window, windows, tokens } = level;
  if (isTokenMetric(metric)) return tokens === undefined ? undefined : estimateTokens(metric, value, level, tokens);
  switch (metric.kind) {
    case "latency-percentile": {
      const { low, high } = estimatePercentile(window[metric.of], metric.percentile);
      return { value, low: low === null ? null : usToNs(low), high: high === null ? null : usToNs(high) };
    }
    case "latency-average": {
      const { low, high } = estimateMeanNs(window[metric.of]);
      return { value, low, high };
    }
    case "error-ratio":
      return { value, ...ratioInterval(window.failedCount, window.requestCount + window.failedCount) };
    case "throughput":
      return scaleRate(value, windows);
    case "extracted":
      return { value, low: value, high: value };
  }
}

function estimateTokens(
  metric: TokenMetricPlan,
  value: number,
  { window, windows }: EstimatedLevel,
  tokens: TokenColumns,
): MetricEstimate {
  switch (metric.kind) {
    case "token-percentile": {
      const { low, high } = percentileEstimator(tokenSampleOf(metric.of, tokens))(metric.percentile);
      return { value, low, high };
    }
    case "token-average": {
      const { low, high } = estimateMean(tokenSampleOf(metric.of, tokens));
      return { value, low, high };
    }
    case "output-tokens-per-sec":
      return scaleRate(value, windows);
    case "goodput": {
      // Requests that meet the limits, of those that ended.
      const count = window.requestCount + window.failedCount;
      const ratePerSec = count / nsToSec(window.durationNs);
      const { low, high } = ratioInterval(Math.min(count, Math.round(nsToSec(value * window.durationNs))), count);
      return { value, low: low * ratePerSec, high: high * ratePerSec };
    }
  }
}

/** Gives a rate the relative interval of the requests per second in the windows. */
function scaleRate(value: number, windows: readonly WindowResult[]): MetricEstimate {
  const rates = windows.map(({ requestCount, durationNs }) => requestCount / durationNs);
  const mean = estimateMean(rates);
  if (mean.low === null || mean.high === null || mean.value <= 0) return { value, low: null, high: null };
  return { value, low: Math.max(0, (value * mean.low) / mean.value), high: (value * mean.high) / mean.value };
}
