import { certaintyOf } from "../../measure/intervals/certainty.ts";
import { estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import { estimatePercentile, type PercentileEstimate } from "../../measure/intervals/percentile-interval.ts";
import type { SeriesShape } from "../../measure/intervals/series-shape.ts";
import { throughputInterval } from "../../measure/intervals/throughput.ts";
import { latencyOf, type Measurement } from "../../measure/measurement.ts";
import { inferPerSec } from "../../measure/metrics.ts";
import { type Sketch, shapeOfSketch } from "../../measure/sketch.ts";
import { formatCount, formatDurationNs, secToNs } from "../../plan/units.ts";
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
  const shape = shapeOfSketch(latency);
  const samples = formatSamples(latency.count, mean.effectiveCount, shape, window.startNs);
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
    ...formatNeeds([...shown, ...due], { shape, perSec: secToNs(latency.count / window.durationNs) }),
  ];
}

type Named = readonly [name: string, estimate: PercentileEstimate];

function named(tally: Sketch, percentile: number): Named {
  return [`p${percentile}`, estimatePercentile(tally, percentile)];
}

/** What decides how long to measure instead. */
interface Needs {
  readonly shape: SeriesShape;
  /** Samples per second. Absent: not known, so the number of samples is said instead of the time. */
  readonly perSec?: number;
}

/**
 * Says which percentiles are uncertain, and how much longer to measure where that helps; nothing when none is. Each percentile has its own
 * number: latencies that drift have few independent averages and may have many independent outliers. More samples of a burst, a slow start or a
 * drift are no remedy: how long that would take follows from what happened once.
 */
export function formatNeeds(estimates: readonly Named[], { shape, perSec }: Needs): string[] {
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
  const needed = Math.max(...weak.map(([, { neededCount }]) => neededCount));
  const remedy = adviseLonger(shape, needed, perSec);
  return [...lines, `${MARK} too few independent samples: ${needs.join(", ")}${remedy === "" ? "" : `; ${remedy}`}`];
}

/** Longer measurements are not advised. */
const LONGEST_ADVICE_SEC = 3600;
const SEC_PER_MIN = 60;

function adviseLonger({ kind }: SeriesShape, needed: number, perSec: number | undefined): string {
  if (kind === "burst") return "";
  if (kind === "start-up" || kind === "drift") return "warm up first";
  if (perSec === undefined || !(perSec > 0))
    return `about ${formatCount(Math.ceil(roundUp(needed)))} samples would be enough`;
  const wanted = needed / perSec;
  const seconds = wanted > SEC_PER_MIN ? SEC_PER_MIN * Math.ceil(wanted / SEC_PER_MIN) : roundUp(wanted);
  return seconds > LONGEST_ADVICE_SEC ? "" : `about ${formatDurationNs(secToNs(seconds))} would be enough`;
}

/** Rounds up to two digits: it is a projection. */
function roundUp(value: number): number {
  const step = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Math.ceil(value / step) * step;
}

/** Samples that are worth more than this ratio of their number say enough, whatever their shape is. */
const WORTH_RATIO = 0.5;

/**
 * Formats a sample size: `1,000 samples, worth 812 independent ones for the average`. With one burst, a slow start or a drift it says that
 * instead: such samples have no number of independent ones.
 * @param startNs start of what was measured, on the clock of the shape. Default: 0
 */
export function formatSamples(count: number, effectiveCount: number, shape: SeriesShape, startNs = 0): string {
  const samples = `${formatCount(count)} ${count === 1 ? "sample" : "samples"}`;
  const what = effectiveCount < WORTH_RATIO * count ? describeShape(shape, startNs) : undefined;
  return `${samples}, ${what ?? `${formatWorth(effectiveCount)} for the average`}`;
}

/** Describes a burst, a slow start or a drift, with its size and time; undefined without one. @param startNs start of what was measured */
export function describeShape(shape: SeriesShape, startNs: number): string | undefined {
  if (shape.kind === "steady" || shape.kind === "correlated") return undefined;
  if (shape.kind === "drift") return `drift of ${formatChange(shape.ratio)} from the first to the last fifth`;
  const { factor, startNs: fromNs, endNs: toNs } = shape;
  const size = `${Number(factor.toPrecision(2))} times the rest`;
  const [from, to] = [fromNs, toNs].map((ns) => (ns === undefined ? undefined : Math.max(0, ns - startNs)));
  const isKnown = from !== undefined && to !== undefined;
  if (shape.kind === "start-up") {
    const time = isKnown ? ` in the first ${formatDurationNs(to)}` : "";
    return `${factor > 1 ? "slow" : "fast"} start: ${size}${time}`;
  }
  return `one burst${isKnown ? ` ${formatDurationNs(from)} after the start, ${formatDurationNs(to - from)} long` : ""}: ${size}`;
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
