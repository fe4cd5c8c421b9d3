import { type Extracted, estimateExtractedMean, estimateExtractedPercentile } from "../../measure/extracted-tally.ts";
import { estimateMean } from "../../measure/intervals/mean-interval.ts";
import { percentileEstimator } from "../../measure/intervals/percentile-interval.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { meanOf } from "../../measure/statistics.ts";
import { entryOf, isTimeMetric, nameOfMetric, type TokenMetric } from "../../measure/tokens/metrics.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { outputTokensPerSec } from "../../measure/tokens/token-rates.ts";
import { tokenSamples } from "../../measure/tokens/token-samples.ts";
import { countUnmarkedEnds, tokenWarnings } from "../../measure/tokens/token-warnings.ts";
import { nsToSec, nsToUs } from "../../plan/units.ts";
import type { ExtractedJson, SpreadJson, TokensJson } from "../schema/latency.ts";
import { toMetricConfidence } from "./confidence.ts";

/** Token metrics and extracted values in Rampart's JSON report. */

const PERCENTILES = [50, 90, 99, 99.9, 99.99] as const;
/** Percentiles of this many digits, when an extracted name has too many different numbers. */
const ROUNDED_DIGITS = 3;

/** Converts a level's tokens to JSON: times in microseconds, rates over the level's own duration. */
export function toTokensJson(columns: TokenColumns, window: Measurement, isStreamed: boolean): TokensJson {
  const metrics = [...tokenSamples(columns, isStreamed)]
    .filter(([metric]) => entryOf(metric).isRow === true)
    .map(([metric, values]) => [nameInJson(metric), toSpreadJson(metric, values)] as const);
  const tokensPerSec = outputTokensPerSec(columns, window);
  const unmarked = countUnmarkedEnds(columns);
  return {
    requests: columns.count,
    withoutContent: columns.emptyCount,
    ...(unmarked === undefined ? {} : { withoutEndMark: unmarked }),
    failed: columns.failedCount,
    durationSec: nsToSec(window.durationNs),
    ...(tokensPerSec === undefined ? {} : { outputTokensPerSec: tokensPerSec }),
    metrics: Object.fromEntries(metrics),
    warnings: tokenWarnings(columns),
  };
}

/** Returns the name of a token metric in JSON: `timeToFirstTokenUs`. */
export function nameInJson(metric: TokenMetric): string {
  return isTimeMetric(metric) ? `${nameOfMetric(metric)}Us` : metric;
}

function toSpreadJson(metric: TokenMetric, values: Float64Array): SpreadJson {
  const scale = (value: number): number => (isTimeMetric(metric) ? nsToUs(value) : value);
  const sorted = values.toSorted();
  const found = toMetricConfidence(estimateMean(values), PERCENTILES, percentileEstimator(values), scale);
  return {
    count: values.length,
    mean: scale(meanOf(values)),
    min: scale(sorted[0] as number),
    max: scale(sorted.at(-1) as number),
    ...found.percentiles,
    confidence95: { mean: found.mean, ...found.intervals },
  };
}

/** Converts the extracted values of a level to JSON, by name. */
export function toExtractedJson(columns: readonly Extracted[]): ExtractedJson {
  return Object.fromEntries(columns.map((column) => [column.name, toColumnJson(column)]));
}

function toColumnJson(column: Extracted): ExtractedJson[string] {
  const { missingCount, texts, otherCount, isRounded } = column;
  const { count, mean, min, max } = column.numbers;
  const numbers = (): SpreadJson => {
    const found = toMetricConfidence(estimateExtractedMean(column), PERCENTILES, (percentile) =>
      estimateExtractedPercentile(column, percentile),
    );
    const confidence95 = { mean: found.mean, ...found.intervals };
    return { count, mean, min, max, ...found.percentiles, confidence95 };
  };
  return {
    ...(count === 0 ? {} : { numbers: numbers(), ...(isRounded ? { percentileDigits: ROUNDED_DIGITS } : {}) }),
    ...(texts.length === 0 ? {} : { texts: Object.fromEntries([...texts].sort(([, a], [, b]) => b - a)) }),
    ...(otherCount === 0 ? {} : { otherTexts: otherCount }),
    missing: missingCount,
  };
}
