import { certaintyOf } from "../../measure/intervals/certainty.ts";
import type { Drift } from "../../measure/intervals/effective-count.ts";
import { estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import {
  estimatePercentile,
  type PercentileEstimate,
  samplesNeeded,
} from "../../measure/intervals/percentile-interval.ts";
import { throughputInterval } from "../../measure/intervals/throughput.ts";
import { latencyOf, type Measurement } from "../../measure/measurement.ts";
import { inferPerSec } from "../../measure/metrics.ts";
import { driftOfSketch, type Sketch } from "../../measure/sketch.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { formatUs } from "./format.ts";

/** The percentiles of the console's table. */
export const CONSOLE_PERCENTILES = [50, 90, 99] as const;
/** Percentiles that the console has when there are enough samples. */
const TAIL_PERCENTILES = [99.9, 99.99] as const;

/** Marks a percentile with too few samples. */
export const MARK = "*";

/** Formats a percentile for a table, with a mark when there are too few samples; `-` without any. */
export function formatMarked(tally: Sketch, percentile: number): string {
  if (tally.count === 0) return "-";
  const { value, isReliable } = estimatePercentile(tally, percentile);
  return `${formatUs(value)}${isReliable ? "" : MARK}`;
}

/**
 * Describes the confidence intervals of a level's throughput and latencies, and which percentiles have too few samples; nothing without
 * latencies. @param unit of throughput
 */
export function describeConfidence(window: Measurement, batchSize: number, unit: string): string[] {
  const { latency } = window;
  if (latency.count === 0) return [];
  const perSec = inferPerSec(window, batchSize);
  const rate = certaintyOf({ value: perSec, ...throughputInterval(window, perSec, batchSize) });
  const throughput = rate.isCertain
    ? [`throughput ${formatRange(formatCount(rate.low), `${formatCount(rate.high)} ${unit}`)}`]
    : [];
  const mean = estimateMeanNs(latency);
  const ofMean = certaintyOf(mean);
  const shown = CONSOLE_PERCENTILES.map((percentile) => named(latency, percentile));
  const tail = TAIL_PERCENTILES.map((percentile) => named(latency, percentile));
  const average = ofMean.isCertain
    ? [`average ${formatRange(formatDurationNs(ofMean.low), formatDurationNs(ofMean.high))}`]
    : [];
  const samples = formatSamples(latency.count, mean.effectiveCount, driftOfSketch(latency), formatDurationNs);
  const bounded = shown.filter(([, { isReliable }]) => isReliable).map(([name, one]) => `${name} ${rangeOf(one)}`);
  const ranges = [...throughput, ...average, ...bounded];
  const firm = tail.filter(([, { isReliable }]) => isReliable);
  const due: Named[] = !window.isScheduled
    ? []
    : [["p99 from due time", estimatePercentile(latencyOf(window, "scheduledLatency"), 99)]];
  return [
    `${samples}${ranges.length === 0 ? "" : `; with 95 % confidence: ${ranges.join(", ")}`}`,
    ...due.filter(([, { isReliable }]) => isReliable).map(([name, one]) => `${name} ${rangeOf(one)}`),
    ...firm.map(
      ([name, one]) => `${name} ${formatUs(one.value)} (${rangeOf(one)}; ${formatWorth(one.effectiveCount)})`,
    ),
    ...formatNeeds([...shown, ...due]),
  ];
}

type Named = readonly [name: string, estimate: PercentileEstimate];

function named(tally: Sketch, percentile: number): Named {
  return [`p${percentile}`, estimatePercentile(tally, percentile)];
}

/**
 * Says which percentiles have too few independent samples, and about how many samples would be enough for all of them; nothing when none
 * has. Each percentile has its own number: latencies that drift have few independent averages and may have many independent outliers.
 */
export function formatNeeds(estimates: readonly Named[]): string[] {
  const uncertain = estimates.filter(([, { isReliable }]) => !isReliable);
  const weak = uncertain.filter(([, one]) => one.effectiveCount < one.neededEffectiveCount);
  const wide = uncertain.filter((one) => !weak.includes(one)).map(([name]) => name);
  const lines = wide.length === 0 ? [] : [`${MARK} uncertain by more than a factor of 2: ${wide.join(", ")}`];
  if (weak.length === 0) return lines;
  const needs = weak.map(
    ([name, { effectiveCount, neededEffectiveCount }]) =>
      // Rounded down, so that a number below the needed one is not printed as that.
      `${name} ${formatCount(Math.floor(effectiveCount))} of ${formatCount(neededEffectiveCount)}`,
  );
  const enough = formatCount(Math.max(...weak.map(([, estimate]) => roundNeeded(estimate))));
  return [
    ...lines,
    `${MARK} too few independent samples: ${needs.join(", ")}; about ${enough} samples would be enough`,
  ];
}

/** Rounds a projected number of samples up to two digits. Of independent samples the number is exact. */
function roundNeeded({ neededCount, neededEffectiveCount }: PercentileEstimate): number {
  if (neededCount <= neededEffectiveCount) return neededCount;
  const step = 10 ** Math.max(0, Math.floor(Math.log10(neededCount)) - 1);
  return Math.ceil(neededCount / step) * step;
}

/** Samples that are worth less than this ratio of their number, and too few for a median, drifted. */
const DRIFT_RATIO = 0.1;

/**
 * Formats a sample size: `1,000 samples, worth 812 independent ones for the average`. Of samples that drifted it says by how much instead: they
 * have no number of independent ones.
 * @param format formats a sample
 */
export function formatSamples(
  count: number,
  effectiveCount: number,
  drift: Drift | undefined,
  format: (value: number) => string,
): string {
  const samples = `${formatCount(count)} ${count === 1 ? "sample" : "samples"}`;
  const isDrift = effectiveCount < Math.min(samplesNeeded(50), DRIFT_RATIO * count);
  if (!isDrift || drift === undefined || !Number.isFinite(drift.ratio))
    return `${samples}, ${formatWorth(effectiveCount)} for the average`;
  const means = formatRange(format(drift.low), format(drift.high));
  return `${samples}, ${formatChange(drift.ratio)} from the first to the last fifth, means of batches ${means}`;
}

/** Formats a change with its sign: `−12 %`. */
function formatChange(ratio: number): string {
  const percent = Number((100 * ratio).toPrecision(2));
  return `${percent < 0 ? "−" : "+"}${Math.abs(percent)} %`;
}

function formatWorth(effectiveCount: number): string {
  const effective = Math.round(effectiveCount);
  return `worth ${formatCount(effective)} independent ${effective === 1 ? "one" : "ones"}`;
}

function rangeOf({ low, high }: PercentileEstimate): string {
  return formatRange(formatUs(low ?? 0), formatUs(high ?? 0));
}

/** Formats an interval: `1.1 to 1.3 ms`, with the unit once when both ends have it. */
export function formatRange(low: string, high: string): string {
  const unit = high.includes(" ") ? high.slice(high.indexOf(" ")) : "";
  return `${unit !== "" && low.endsWith(unit) ? low.slice(0, -unit.length) : low} to ${high}`;
}
