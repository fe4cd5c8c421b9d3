import { alignLevels, identifyLevel, type LevelPlace } from "../load/level-identity.ts";
import type { AssertionPlan, MetricPlan } from "../plan/assertions.ts";
import { describeTags, type Tags } from "../plan/split/tags.ts";
import { formatDurationNs, usToNs } from "../plan/units.ts";
import { DEFAULT_THROUGHPUT_UNIT } from "../service/service.ts";
import type { ExtractedColumn } from "./extracted-tally.ts";
import { type GroupedLevel, selectTags } from "./groups.ts";
import { combineRuns, type OverRuns } from "./intervals/over-runs.ts";
import { errorRatio, errorRatioOfRun, inferPerSec } from "./metrics.ts";
import type { TokenColumns } from "./tokens/token-columns.ts";
import {
  explainNoValue,
  formatTokenMetric,
  isTokenMetric,
  tokenMetricText,
  tokenMetricValue,
} from "./tokens/token-verdicts.ts";
import type { WindowResult } from "./window.ts";

/** What an assertion is on: a level, or a part of its requests. */
interface MeasuredPart {
  readonly window: WindowResult;
  /** Token metrics of its responses, when measured. */
  readonly tokens?: TokenColumns | undefined;
}

/** The measurement of one level. */
export interface JudgedLevel extends MeasuredPart, GroupedLevel, LevelPlace {}

/** The result of an assertion. It is met when it holds at every level. */
export interface Verdict {
  readonly assertion: AssertionPlan;
  readonly isMet: boolean;
  /** The level with the worst value; undefined without a measurement, or when it is not the same in all runs. */
  readonly level: number | undefined;
  /** The phase of that level; absent if the load has no phases. */
  readonly phaseIndex?: number | undefined;
  /** The worst value: nanoseconds, a rate, a count or a ratio; undefined without a measurement. */
  readonly measured: number | undefined;
  /** Why there is no value, when known. */
  readonly reason?: string | undefined;
  /** The assertion as text: `p99 latency below 25 ms`. */
  readonly text: string;
}

/** The result of an assertion over several runs: of the mean of the runs at each level. */
export interface RunsVerdict extends Verdict {
  /** Ends of the 95 % confidence interval of `measured`; null below two runs. */
  readonly low: number | null;
  readonly high: number | null;
  /** Number of runs, and of those that meet the assertion on their own. */
  readonly runCount: number;
  readonly metCount: number;
}

/** What is measured: a metric, of all requests or of those with certain tags. */
type Measure = Pick<AssertionPlan, "metric" | "where">;

/** A level in several runs. */
interface LevelInRuns extends Partial<LevelPlace> {
  /** The mean over the runs; undefined when one of them has no value. */
  readonly over: OverRuns | undefined;
}

/** Combines a metric's values over runs at each of their levels. @param identify returns what identifies a level in every run */
export function valuesOverRuns(
  measure: Measure,
  runs: readonly (readonly JudgedLevel[])[],
  batchSize: number,
  identify: (level: LevelPlace) => string = identifyLevel,
): LevelInRuns[] {
  const applicable = runs.map((levels) => applicableLevels(measure.metric, levels));
  return alignLevels<JudgedLevel>(applicable, identify).map((results) => {
    const values = results.flatMap((result) => {
      const part = result && partOf(result, measure.where);
      const value = part && metricValue(measure.metric, part, batchSize);
      if (part === undefined || value === undefined) return [];
      return [measure.metric.kind === "error-ratio" ? errorRatioOfRun(part.window) : { value }];
    });
    const [first] = results.filter((result) => result !== undefined);
    const isSame = results.every((result) => result === undefined || result.level === first?.level);
    return {
      ...(first === undefined || !isSame ? {} : { level: first.level, phase: first.phase }),
      over: values.length < runs.length ? undefined : combineRuns(values),
    };
  });
}

/**
 * Evaluates an assertion on the mean over runs, at all levels. A level that a run did not measure is not met.
 * @param unit of throughput
 * @param identify returns what identifies a level in every run
 */
export function judgeRuns(
  assertion: AssertionPlan,
  runs: readonly (readonly JudgedLevel[])[],
  batchSize: number,
  unit: string = DEFAULT_THROUGHPUT_UNIT,
  identify: (level: LevelPlace) => string = identifyLevel,
): RunsVerdict {
  const found = valuesOverRuns(assertion, runs, batchSize, identify).map(({ level, phase, over }) => ({
    level,
    phaseIndex: phase?.index,
    value: over?.mean,
    over,
  }));
  const parts = runs.flatMap((levels) =>
    applicableLevels(assertion.metric, levels).map((level) => partOf(level, assertion.where)),
  );
  const verdict = toVerdict(assertion, found, parts, unit);
  const worst = worstOf(assertion, found)?.over;
  const metCount = runs.filter((levels) => judge(assertion, levels, batchSize, unit).isMet).length;
  return { ...verdict, low: worst?.low ?? null, high: worst?.high ?? null, runCount: runs.length, metCount };
}

/** Evaluates an assertion at all levels. Without a measurement it is not met. @param unit of throughput */
export function judge(
  assertion: AssertionPlan,
  allLevels: readonly JudgedLevel[],
  batchSize: number,
  unit: string = DEFAULT_THROUGHPUT_UNIT,
): Verdict {
  const levels = applicableLevels(assertion.metric, allLevels);
  const parts = levels.map((level) => partOf(level, assertion.where));
  const values = levels.map(({ level, phase }, index) => {
    const part = parts[index];
    return { level, phaseIndex: phase?.index, value: part && metricValue(assertion.metric, part, batchSize) };
  });
  return toVerdict(assertion, values, parts, unit);
}

/** The value of an assertion's metric at a level. */
interface LevelValue {
  readonly level: number | undefined;
  readonly phaseIndex?: number | undefined;
  readonly value: number | undefined;
}

/** Returns the level with the worst value; undefined when none has a value. */
function worstOf<V extends LevelValue>(assertion: AssertionPlan, values: readonly V[]): V | undefined {
  const howBad = ({ value }: V): number => badness(assertion, value as number);
  return values.filter(({ value }) => value !== undefined).sort((a, b) => howBad(b) - howBad(a))[0];
}

function toVerdict(
  assertion: AssertionPlan,
  values: readonly LevelValue[],
  parts: readonly (MeasuredPart | undefined)[],
  unit: string,
): Verdict {
  const known = values.flatMap(({ value }) => value ?? []);
  const worst = worstOf(assertion, values);
  return {
    assertion,
    isMet: known.length === values.length && known.length > 0 && known.every((value) => holds(assertion, value)),
    level: worst?.level,
    ...(worst?.phaseIndex === undefined ? {} : { phaseIndex: worst.phaseIndex }),
    measured: worst?.value,
    reason: known.length === values.length ? undefined : findReason(assertion.metric, parts),
    text: describe(assertion, unit),
  };
}

/** Phases without a schedule have no scheduled latency. */
function applicableLevels(metric: MetricPlan, levels: readonly JudgedLevel[]): readonly JudgedLevel[] {
  if (!("of" in metric) || metric.of !== "scheduledLatency") return levels;
  return levels.filter(({ phase, window }) => phase === undefined || window.scheduledLatency !== window.latency);
}

/** Returns what an assertion is on: the level, or its requests with certain tags; undefined when there are none. */
function partOf(level: JudgedLevel, where: Tags | undefined): MeasuredPart | undefined {
  return where === undefined ? level : selectTags(level, where);
}

function findReason(metric: MetricPlan, parts: readonly (MeasuredPart | undefined)[]): string | undefined {
  if (parts.includes(undefined)) return "no request had these tags";
  if (metric.kind === "extracted") return "no answer had a number there";
  if (!isTokenMetric(metric)) return undefined;
  for (const part of parts) {
    const reason = part?.tokens && explainNoValue(metric, part.tokens, part.window);
    if (reason !== undefined) return reason;
  }
  return undefined;
}

/** Returns a metric's value; undefined when the window has no data for it. */
export function metricValue(
  metric: MetricPlan,
  { window, tokens }: MeasuredPart,
  batchSize: number,
): number | undefined {
  if (isTokenMetric(metric)) return tokens === undefined ? undefined : tokenMetricValue(metric, tokens, window);
  if (metric.kind === "error-ratio")
    return window.requestCount + window.failedCount === 0 ? undefined : errorRatio(window);
  if (metric.kind === "throughput") return inferPerSec(window, batchSize);
  if (metric.kind === "extracted") return extractedValue(metric, window.extracted?.find(metric.name));
  if (window.requestCount === 0) return undefined;
  const tally = metric.of === "latency" ? window.latency : window.scheduledLatency;
  return metric.kind === "latency-average" ? tally.meanNs : usToNs(tally.percentileUs(metric.percentile));
}

function extractedValue(
  { statistic, percentile }: Extract<MetricPlan, { kind: "extracted" }>,
  column: ExtractedColumn | undefined,
): number | undefined {
  if (column === undefined || column.numberCount === 0) return undefined;
  if (statistic === "percentile") return column.percentile(percentile ?? 50);
  return statistic === "average" ? column.mean : column[statistic];
}

function holds({ comparison, limit }: AssertionPlan, value: number): boolean {
  switch (comparison) {
    case "below":
      return value < limit;
    case "at-most":
      return value <= limit;
    case "above":
      return value > limit;
    case "at-least":
      return value >= limit;
    case "is":
      return value === limit;
  }
}

/** Returns how far a value is on the wrong side of the limit. */
function badness({ comparison, limit }: AssertionPlan, value: number): number {
  if (comparison === "is") return Math.abs(value - limit);
  return comparison === "below" || comparison === "at-most" ? value - limit : limit - value;
}

const COMPARISON_TEXT: Readonly<Record<AssertionPlan["comparison"], string>> = {
  below: "below",
  "at-most": "at most",
  above: "above",
  "at-least": "at least",
  is: "is",
};

function describe({ metric, comparison, limit, where }: AssertionPlan, unit: string): string {
  const part = where === undefined ? "" : ` where ${describeTags(where)}`;
  return `${metricText(metric)}${part} ${COMPARISON_TEXT[comparison]} ${formatMetric(metric, limit, unit)}`;
}

/** Returns a metric in words: `p99 latency`. */
export function metricText(metric: MetricPlan): string {
  if (isTokenMetric(metric)) return tokenMetricText(metric);
  if (metric.kind === "throughput") return "throughput";
  if (metric.kind === "error-ratio") return "error rate";
  if (metric.kind === "extracted")
    return `${metric.statistic === "percentile" ? `p${metric.percentile}` : metric.statistic} ${metric.name}`;
  const of = metric.of === "latency" ? "latency" : "scheduled latency";
  return metric.kind === "latency-average" ? `average ${of}` : `p${metric.percentile} ${of}`;
}

/** Formats a metric's value with its unit. @param unit of throughput */
export function formatMetric(metric: MetricPlan, value: number, unit: string = DEFAULT_THROUGHPUT_UNIT): string {
  if (isTokenMetric(metric)) return formatTokenMetric(metric, value);
  if (metric.kind === "throughput") return `${Number(value.toPrecision(6))} ${unit}`;
  if (metric.kind === "extracted") return String(Number(value.toPrecision(6)));
  if (metric.kind === "error-ratio") return `${Number((value * 100).toPrecision(4))} %`;
  return formatDurationNs(value);
}
