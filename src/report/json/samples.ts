import { type Extracted, estimateExtractedMean, estimateExtractedPercentile } from "../../measure/extracted-tally.ts";
import { estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import { estimateInterpolated } from "../../measure/intervals/percentile-interval.ts";
import type { Measurement } from "../../measure/measurement.ts";
import type { Sketch } from "../../measure/sketch.ts";
import { entryOf, isTimeMetric, nameOfMetric, type TokenMetric } from "../../measure/tokens/metrics.ts";
import { shownSketches, type TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { outputTokensPerSec } from "../../measure/tokens/token-rates.ts";
import { countUnmarkedEnds, tokenWarnings } from "../../measure/tokens/token-warnings.ts";
import { nsToSec, nsToUs } from "../../plan/units.ts";
import type { ExtractedJson, SpreadJson, TokensJson } from "../schema/latency.ts";
import { toMetricConfidence } from "./confidence.ts";

/** Token metrics and extracted values in Rampart's JSON report. */

const PERCENTILES = [50, 90, 99, 99.9, 99.99] as const;

/**
 * Converts a level's tokens to JSON: times in microseconds, rates over the level's own duration.
 * @param decided percentiles of a metric with a certain verdict, by its key. Default: nothing is
 */
export function toTokensJson(
  tokens: TokenMeasurement,
  window: Measurement,
  isStreamed: boolean,
  decided: (key: string) => readonly number[] = () => [],
): TokensJson {
  const metrics = [...shownSketches(tokens, isStreamed)]
    .filter(([metric]) => entryOf(metric).isRow === true)
    .map(
      ([metric, sketch]) => [nameInJson(metric), toSpreadJson(metric, sketch, decided(nameOfMetric(metric)))] as const,
    );
  const tokensPerSec = outputTokensPerSec(tokens, window);
  const unmarked = countUnmarkedEnds(tokens);
  return {
    requests: tokens.count,
    withoutContent: tokens.emptyCount,
    ...(unmarked === undefined ? {} : { withoutEndMark: unmarked }),
    failed: tokens.failedCount,
    durationSec: nsToSec(window.durationNs),
    ...(tokensPerSec === undefined ? {} : { outputTokensPerSec: tokensPerSec }),
    metrics: Object.fromEntries(metrics),
    warnings: tokenWarnings(tokens),
  };
}

/** Returns the name of a token metric in JSON: `timeToFirstTokenUs`. */
export function nameInJson(metric: TokenMetric): string {
  return isTimeMetric(metric) ? `${nameOfMetric(metric)}Us` : metric;
}

function toSpreadJson(metric: TokenMetric, sketch: Sketch, decided: readonly number[]): SpreadJson {
  const scale = (value: number): number => (isTimeMetric(metric) ? nsToUs(value) : value);
  const estimate = (percentile: number) => estimateInterpolated(sketch, percentile);
  const found = toMetricConfidence(estimateMeanNs(sketch), PERCENTILES, estimate, scale, decided);
  const { count, mean, min, max } = sketch;
  return {
    count,
    mean: scale(mean),
    min: scale(min),
    max: scale(max),
    ...found.percentiles,
    confidence95: { mean: found.mean, ...found.intervals },
  };
}

/** Converts the extracted values of a level to JSON, by name. */
export function toExtractedJson(columns: readonly Extracted[]): ExtractedJson {
  return Object.fromEntries(columns.map((column) => [column.name, toColumnJson(column)]));
}

function toColumnJson(column: Extracted): ExtractedJson[string] {
  const { missingCount, texts, otherCount } = column;
  const { count, mean, min, max, digits } = column.numbers;
  const numbers = (): SpreadJson => {
    const found = toMetricConfidence(estimateExtractedMean(column), PERCENTILES, (percentile) =>
      estimateExtractedPercentile(column, percentile),
    );
    const confidence95 = { mean: found.mean, ...found.intervals };
    return { count, mean, min, max, ...found.percentiles, confidence95 };
  };
  return {
    ...(count === 0 ? {} : { numbers: numbers(), ...(digits === undefined ? {} : { percentileDigits: digits }) }),
    ...(texts.length === 0 ? {} : { texts: Object.fromEntries([...texts].sort(([, a], [, b]) => b - a)) }),
    ...(otherCount === 0 ? {} : { otherTexts: otherCount }),
    missing: missingCount,
  };
}
