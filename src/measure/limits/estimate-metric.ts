import type { MetricPlan } from "../../plan/assertions.ts";
import { nsToSec, usToNs } from "../../plan/units.ts";
import { estimateMean, estimateMeanNs } from "../intervals/mean-interval.ts";
import { estimatePercentile, percentileEstimator } from "../intervals/percentile-interval.ts";
import { throughputInterval } from "../intervals/throughput.ts";
import { inferPerSec } from "../metrics.ts";
import type { TokenColumns } from "../tokens/token-columns.ts";
import { isTokenMetric, type TokenMetricPlan, tokenSampleOf } from "../tokens/token-verdicts.ts";
import type { JudgedLevel } from "../verdicts.ts";
import type { WindowResult } from "../window.ts";
import { metricValue } from "./judge-part.ts";
import { ratioInterval } from "./ratio-interval.ts";

/** A metric with its 95 % confidence interval, in the unit of the metric. */
export interface MetricEstimate {
  readonly value: number;
  /** Ends of the interval; null where the sample has no bound on that side. */
  readonly low: number | null;
  readonly high: number | null;
}

/**
 * Estimates a metric, with the interval that reports give it. Extracted numbers and a maximum or minimum have no interval: their value counts
 * as exact.
 * @returns undefined without a value
 */
export function estimateMetric(metric: MetricPlan, level: JudgedLevel, batchSize: number): MetricEstimate | undefined {
  const value = metricValue(metric, level, batchSize);
  if (value === undefined) return undefined;
  const { window, tokens } = level;
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
      return { value, ...throughputInterval(window, value, batchSize) };
    case "extracted":
      return { value, low: value, high: value };
  }
}

function estimateTokens(
  metric: TokenMetricPlan,
  value: number,
  { window }: JudgedLevel,
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
      return scaleToThroughput(value, window);
    case "goodput": {
      // Requests that meet the limits, of those that ended.
      const count = window.requestCount + window.failedCount;
      const ratePerSec = count / nsToSec(window.durationNs);
      const { low, high } = ratioInterval(Math.min(count, Math.round(nsToSec(value * window.durationNs))), count);
      return { value, low: low * ratePerSec, high: high * ratePerSec };
    }
  }
}

/** Gives a rate the relative interval of the requests per second. */
function scaleToThroughput(value: number, window: WindowResult): MetricEstimate {
  const perSec = inferPerSec(window, 1);
  const { low, high } = throughputInterval(window, perSec, 1);
  if (low === null || high === null || perSec === 0) return { value, low: null, high: null };
  return { value, low: (value * low) / perSec, high: (value * high) / perSec };
}
