import type { SeriesShape } from "../../measure/intervals/series-shape.ts";
import { metricKey, metricText } from "../../measure/metrics/metric-text.ts";
import { estimateMetric, sampleOf } from "../../measure/metrics/read-metric.ts";
import { effectiveCountOf, shapeOfSketch } from "../../measure/sketch.ts";
import { judge } from "../../measure/verdicts.ts";
import type { MetricPlan } from "../../plan/assertions.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, formatDurationNs, formatPct, NS_PER_SEC, nsToSec, secToNs } from "../../plan/units.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { quantityOfMetric } from "../model/values.ts";
import type { Finding } from "./load-notes.ts";

/** Notes on samples that are too small to decide what was asserted of them, with how long to measure instead. */

/** An interval that reaches further than this to a side, as a ratio of its value, is wide. */
const WIDE_RATIO = 0.1;

/**
 * Returns the wide intervals of the times that the plan asserts at this level, where they leave an assertion open.
 * @param whole the plan of the run
 * @param isOnly whether it is the only level
 */
export function findShortSamples(whole: Plan, plan: Plan, result: LevelResult, isOnly: boolean): Finding[] {
  const { window, outcome } = result;
  // A level that ended early is short for another reason. A search measures until its limits are decided.
  if (outcome === "partial" || window.durationNs <= 0 || result.limits !== undefined) return [];
  const { batchSize } = whole.target;
  // A verdict that is certain needs no longer measurement.
  const open = whole.assertions.filter(
    (one) => one.where === undefined && judge(one, [result], batchSize).state === "unresolved",
  );
  const metrics = new Map(open.map(({ metric }) => [metricKey(metric), metric]));
  const short = [...metrics].flatMap(([key, metric]) => {
    if (quantityOfMetric(metric) !== "time") return [];
    const found = sizeUp(metric, result, batchSize);
    return found === undefined ? [] : [{ key, name: metricText(metric), ...found }];
  });
  const shape = findShape(result, short.length > 0);
  if (shape !== undefined) return [shape];
  return short.map(({ key, name, text, factor }) => {
    const remedy = adviseLonger(plan, window.durationNs, window.requestCount, factor);
    const span = `${formatTenths(window.durationNs)}${isOnly ? "" : " per level"}`;
    const texts = [`${span} is short: ${name} ${text}`, remedy];
    return { code: "short-sample", severity: "caution", metric: key, texts, kind: "short", weight: factor };
  });
}

/** Samples that are worth more than this part of their number say enough, whatever their shape is. */
const WORTH_RATIO = 0.5;

/** Reports one burst, a slow start or a drift of the latency, which a longer measurement does not mend; undefined without one. */
function findShape({ window }: LevelResult, isInDoubt: boolean): Finding | undefined {
  const { latency, startNs } = window;
  if (latency.count === 0 || effectiveCountOf(latency) >= WORTH_RATIO * latency.count) return undefined;
  const shape = shapeOfSketch(latency);
  const text = describeShape(shape, startNs);
  if (text === undefined) return undefined;
  const remedy = shape.kind === "burst" ? [] : ["Warm up before: put a warmup(…) before the load"];
  return {
    code: shape.kind,
    severity: isInDoubt ? "caution" : "detail",
    texts: [`latency: ${text}`, ...remedy],
  };
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
  return `${ratio < 0 ? "−" : "+"}${formatPct(Math.abs(ratio), 2)}`;
}

/** Formats a duration, with tenths of seconds. */
function formatTenths(ns: number): string {
  return formatDurationNs(ns < NS_PER_SEC ? ns : secToNs(Number(nsToSec(ns).toFixed(1))));
}

/** Returns what the sample is good for, and how many times as long would be enough; undefined when it is enough. */
function sizeUp(
  metric: MetricPlan,
  result: LevelResult,
  batchSize: number,
): { readonly text: string; readonly factor: number } | undefined {
  const estimate = estimateMetric(metric, result, batchSize);
  const count = sampleOf(metric, result)?.count ?? 0;
  if (estimate === undefined || estimate.value <= 0 || count === 0) return undefined;
  const { effectiveCount = count, neededEffectiveCount = 0 } = estimate;
  if (effectiveCount < neededEffectiveCount) {
    const factor = neededEffectiveCount / effectiveCount;
    return {
      text: `needs about ${formatCount(roundUp(count * factor))} requests, and there are ${formatCount(count)}`,
      factor,
    };
  }
  const { value, low, high } = estimate;
  if (low === null || high === null) return undefined;
  const [below, above] = [(value - low) / value, (high - value) / value];
  const widest = Math.max(below, above);
  if (widest <= WIDE_RATIO) return undefined;
  const ends = `−${percentOf(below)}/+${percentOf(above)} %`;
  return { text: `is good to about ${ends}`, factor: (widest / WIDE_RATIO) ** 2 };
}

/** Rounds a number of requests up to two digits. */
function roundUp(count: number): number {
  const step = 10 ** Math.max(0, Math.floor(Math.log10(count)) - 1);
  return Math.ceil(count / step) * step;
}

function percentOf(ratio: number): number {
  return Math.round(100 * ratio);
}

const NICE_SECONDS = [1, 2, 5, 10, 15, 20, 30, 45, 60, 120, 180, 300, 600, 900, 1200, 1800, 3600];
const SEC_PER_MIN = 60;

/** Says how to measure a number of times as long, in the words of the mode. A sentence without a full stop. */
export function adviseLonger(plan: Plan, durationNs: number, requestCount: number, factor: number): string {
  const { mode } = plan.measurement;
  if (mode.kind === "requests" && mode.count !== null) {
    const count = roundUp(requestCount * factor);
    return plan.outputs.style === "rampart" ? `Use requests: ${count}` : `Send ${formatCount(count)} requests`;
  }
  const wanted = nsToSec(durationNs) * factor;
  const seconds = NICE_SECONDS.find((one) => one >= wanted);
  if (seconds === undefined) return "That takes hours: assert a lower percentile";
  const text = seconds > SEC_PER_MIN ? `${seconds / SEC_PER_MIN} min` : `${seconds} s`;
  return plan.outputs.style === "rampart" ? `Use for: "${text}"` : `Measure for ${text}`;
}
