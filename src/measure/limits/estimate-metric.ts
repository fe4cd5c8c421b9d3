import type { MetricPlan } from "../../plan/assertions.ts";
import { nsToSec, usToNs } from "../../plan/units.ts";
import {
  type Extracted,
  estimateExtractedMean,
  estimateExtractedPercentile,
  findExtracted,
} from "../extracted-tally.ts";
import { INTERVAL_CONFIDENCE } from "../intervals/effective-count.ts";
import { estimateMean, estimateMeanNs } from "../intervals/mean-interval.ts";
import { estimatePercentile, type PercentileEstimate, percentileEstimator } from "../intervals/percentile-interval.ts";
import { throughputInterval } from "../intervals/throughput.ts";
import { latencyOf, type Measurement } from "../measurement.ts";
import type { TokenColumns } from "../tokens/token-columns.ts";
import { tokenRateInterval } from "../tokens/token-rate-interval.ts";
import { isTokenMetric, rateWeights, type TokenMetricPlan, tokenSampleOf } from "../tokens/token-verdicts.ts";
import type { JudgedLevel } from "../verdicts.ts";
import { metricValue } from "./judge-part.ts";
import { errorRatioInterval } from "./ratio-interval.ts";

/** A metric with its confidence interval, in the unit of the metric. */
export interface MetricEstimate {
  readonly value: number;
  /** Ends of the interval; null where the sample has no bound on that side. */
  readonly low: number | null;
  readonly high: number | null;
  /** Of a percentile: the number of independent samples behind it, and how many certify it. */
  readonly effectiveCount?: number;
  readonly neededEffectiveCount?: number;
}

type Ends = Omit<MetricEstimate, "value">;

/**
 * Estimates a metric, with the interval that reports give it at the same confidence. A maximum or minimum of extracted numbers has no interval:
 * its value counts as exact.
 * @param confidence of the interval. Default: 0.95
 * @returns undefined without a value
 */
export function estimateMetric(
  metric: MetricPlan,
  level: JudgedLevel,
  batchSize: number,
  confidence: number = INTERVAL_CONFIDENCE,
): MetricEstimate | undefined {
  const value = metricValue(metric, level, batchSize);
  if (value === undefined) return undefined;
  const { window, tokens } = level;
  if (isTokenMetric(metric)) return tokens && { value, ...tokenEnds(metric, { value, window, tokens, confidence }) };
  switch (metric.kind) {
    case "latency-percentile": {
      const estimate = estimatePercentile(latencyOf(window, metric.of), metric.percentile, { confidence });
      const { low, high } = estimate;
      const ends = { low: low === null ? null : usToNs(low), high: high === null ? null : usToNs(high) };
      return { value, ...ends, ...samplesOf(estimate) };
    }
    case "latency-average": {
      const { low, high } = estimateMeanNs(latencyOf(window, metric.of), { confidence });
      return { value, low, high };
    }
    case "error-ratio":
      return { value, ...errorRatioInterval(window, confidence) };
    case "throughput":
      return { value, ...throughputEnds(window, value, batchSize, confidence) };
    case "extracted":
      return { value, ...extractedEnds(metric, value, findExtracted(window.extracted, metric.name), confidence) };
  }
}

/** Without a completion, the rate is at most the one at which that would be too unlikely, if completions are independent. */
function throughputEnds(window: Measurement, value: number, batchSize: number, confidence: number): Ends {
  if (window.requestCount > 0 || window.durationNs <= 0)
    return throughputInterval(window, value, batchSize, confidence);
  return { low: 0, high: (-batchSize * Math.log((1 - confidence) / 2)) / nsToSec(window.durationNs) };
}

function extractedEnds(
  { statistic, percentile = 50 }: Extract<MetricPlan, { kind: "extracted" }>,
  value: number,
  column: Extracted | undefined,
  confidence: number,
): Ends {
  if (column === undefined || statistic === "min" || statistic === "max") return { low: value, high: value };
  if (statistic !== "average") return endsOf(estimateExtractedPercentile(column, percentile, { confidence }));
  const { low, high } = estimateExtractedMean(column, { confidence });
  return { low, high };
}

function endsOf(estimate: PercentileEstimate): Ends {
  return { low: estimate.low, high: estimate.high, ...samplesOf(estimate) };
}

function samplesOf({ effectiveCount, neededEffectiveCount }: PercentileEstimate): Omit<Ends, "low" | "high"> {
  return { effectiveCount, neededEffectiveCount };
}

/** A token metric of a level. */
interface TokenValue {
  readonly value: number;
  readonly window: Measurement;
  readonly tokens: TokenColumns;
  readonly confidence: number;
}

function tokenEnds(metric: TokenMetricPlan, { value, window, tokens, confidence }: TokenValue): Ends {
  switch (metric.kind) {
    case "token-percentile":
      return endsOf(percentileEstimator(tokenSampleOf(metric.of, tokens), { confidence })(metric.percentile));
    case "token-average": {
      const { low, high } = estimateMean(tokenSampleOf(metric.of, tokens), { confidence });
      return { low, high };
    }
    case "output-tokens-per-sec":
    case "goodput": {
      const weights = rateWeights(metric, tokens);
      if (weights === undefined) return { low: null, high: null };
      return tokenRateInterval({ columns: tokens, weights, durationNs: window.durationNs }, value, confidence);
    }
  }
}
