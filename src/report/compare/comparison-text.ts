import type { Change } from "../../measure/compare/change.ts";
import { type ChangeVerdict, noneOf } from "../../measure/compare/verdict.ts";
import { certaintyOf } from "../../measure/intervals/certainty.ts";
import { entryNamed, type NamedMetric } from "../../measure/metrics/metric-names.ts";
import { countOf, formatCount } from "../../plan/units.ts";
import { joinLevels } from "../../registry/level-names.ts";
import { formatValue as formatQuantity, withSign } from "../model/values.ts";
import type { Comparison, LevelComparison, MetricComparison, PlacedMetric } from "./comparison.ts";
import type { ChangeLimitVerdict, ComparedSides } from "./limits.ts";

/** Words and numbers of a comparison, which are the same in all its reports. */

const VERDICTS: Readonly<Record<ChangeVerdict, string>> = {
  worse: "worse",
  better: "better",
  changed: "changed",
  "no-difference": "no difference shown",
  inconclusive: "inconclusive",
};

/** Returns a verdict in words. */
export function nameVerdict(verdict: ChangeVerdict): string {
  return VERDICTS[verdict];
}

/** Formats a value of a metric with its unit, unless its label ends with the unit. */
export function formatValue(
  { quantity, unit = quantity === "rate" ? "/s" : "", label }: NamedMetric,
  value: number,
): string {
  if (quantity === "time" || quantity === "ratio") return formatQuantity(value, quantity);
  const text = formatQuantity(value, "count");
  if (unit === "" || label.endsWith(unit)) return text;
  return `${text}${unit.startsWith("/") ? "" : " "}${unit}`;
}

/** Formats the change of a metric: `+6.5 %`, or `+0.5 points` for ratios of requests; `-` if there is no ratio. */
export function formatChange({ kind, value }: Change): string {
  return value === null ? "-" : `${signed(toPct(kind, value))} ${unitOf(kind)}`;
}

/** Formats the interval of a change: `+2.0 to +11.0 %`, or if it is too wide only the end next to "no change". */
export function formatInterval(change: Change): string {
  const { kind, low, high } = change;
  const text = (value: number): string => signed(toPct(kind, value));
  if (low === null) return "";
  const none = noneOf(change);
  if (high === null) return low <= none ? "too uncertain" : `${text(low)} ${unitOf(kind)} or more`;
  if (isCertain(change)) return `${text(low)} to ${text(high)} ${unitOf(kind)}`;
  if (low <= none && high >= none) return "too uncertain";
  return low > none ? `${text(low)} ${unitOf(kind)} or more` : `${text(high)} ${unitOf(kind)} or less`;
}

function isCertain({ kind, value, low, high }: Change): boolean {
  return value !== null && certaintyOf({ value, low, high, isRatio: kind === "difference" }).isCertain;
}

function unitOf(kind: Change["kind"]): string {
  return kind === "ratio" ? "%" : "points";
}

function toPct(kind: Change["kind"], value: number): number {
  return (kind === "ratio" ? value - 1 : value) * 100;
}

/** Formats with one digit after the point, two for small changes, and none for large ones. */
function signed(pct: number): string {
  const magnitude = Math.abs(pct);
  const digits = magnitude >= 100 ? 0 : magnitude >= 1 ? 1 : 2;
  return withSign(pct, Number(magnitude.toFixed(digits)).toLocaleString("en-US", { minimumFractionDigits: digits }));
}

const SHOWN_OF_LATENCY = /^(scheduledL|l)atency\.(mean|p50|p90|p99)$/;

/** Reports whether a metric is in the short tables: mean and p99, or only the mean without a better direction. */
function isShown({ name, better }: NamedMetric): boolean {
  if (!/\.(mean|min|max|p\d+(\.\d+)?)$/.test(name)) return true;
  if (better === undefined) return name.endsWith(".mean");
  return SHOWN_OF_LATENCY.test(name) || /\.(mean|p99)$/.test(name);
}

/** Returns the names of metrics that have limits, and of metrics that decide instead of them. */
export function namedMetrics(limits: readonly ChangeLimitVerdict[]): ReadonlySet<string> {
  return new Set(limits.flatMap(({ limit, decidedBy }) => [limit.metric.name, ...(decidedBy ? [decidedBy.name] : [])]));
}

/** Returns the metrics of a level to show. @param named names of metrics that are always shown */
export function shownMetrics(
  { metrics }: LevelComparison,
  named: ReadonlySet<string>,
  isAll: boolean,
): readonly MetricComparison[] {
  // Times that a server does not report are 0 on both sides.
  const isEmpty = ({ metric, base, next }: MetricComparison): boolean =>
    metric.quantity === "time" && base.mean === 0 && next.mean === 0;
  // If one part takes all of a time, a single row is enough.
  const isWhole = ({ metric, base, next }: MetricComparison): boolean => {
    const whole = metrics.find((one) => one.metric.name === entryNamed(metric.name)?.partOf);
    return whole !== undefined && base.mean === whole.base.mean && next.mean === whole.next.mean;
  };
  return metrics.filter(
    (one) => isAll || named.has(one.metric.name) || (isShown(one.metric) && !isEmpty(one) && !isWhole(one)),
  );
}

/** Returns the metrics of all levels to show. @param limits limits whose metrics are always shown */
export function placedMetrics({ comparison, limits, isAll }: ComparedSides): PlacedMetric[] {
  const named = namedMetrics(limits);
  return comparison.levels.flatMap((level) =>
    shownMetrics(level, named, isAll).map((metric) => ({ level: level.label, metric })),
  );
}

const VERDICT_ORDER: readonly ChangeVerdict[] = ["worse", "better", "changed", "no-difference", "inconclusive"];

/** Result of a comparison without levels or metrics that both sides have. */
export const NOTHING_SHARED = "no metric is on both sides";

/** Counts verdicts: `2 worse, 1 better, 9 no difference shown`. */
export function summarizeVerdicts(metrics: readonly MetricComparison[]): string {
  const counts = VERDICT_ORDER.map((verdict) => [verdict, metrics.filter((one) => one.verdict === verdict).length]);
  const shown = counts
    .filter(([, count]) => count !== 0)
    .map(([verdict, count]) => `${count} ${nameVerdict(verdict as ChangeVerdict)}`);
  return shown.length === 0 ? NOTHING_SHARED : shown.join(", ");
}

/** Describes a side: `base.json (5 runs)`. */
export function describeSide({ name, runs }: Comparison["base"]): string {
  return `${name} (${countOf(runs.length, "run")})`;
}

/** Above this number of runs per side, more runs would not help. */
const MOST_RUNS = 100;

/** Describes a number of runs per side: `about 19`, `more than 100`. @param needed absent: too many to compute */
export function describeRuns(needed: number | undefined): string {
  return isFeasible(needed) ? `about ${formatCount(needed)}` : `more than ${MOST_RUNS}`;
}

function isFeasible(needed: number | undefined): needed is number {
  return needed !== undefined && needed <= MOST_RUNS;
}

/** Describes the runs needed by unresolved verdicts: `at concurrency 1 and 2: p99 latency about 19`. Undefined if all are resolved. */
export function describeNeeds(metrics: readonly PlacedMetric[]): { text: string; levels: string[] } | undefined {
  const open = metrics.filter(
    ({ metric: { verdict, change, runsNeeded } }) =>
      verdict === "inconclusive" && (change.basis === "runs" || runsNeeded !== undefined),
  );
  const needs = Map.groupBy(
    open,
    ({ metric: { metric, runsNeeded } }) => `${metric.label} ${describeRuns(runsNeeded)}`,
  );
  const byLevels = Map.groupBy(needs, ([, same]) => joinLevels(same.map(({ level }) => level)));
  const texts = [...byLevels].map(([levels, needed]) => `at ${levels}: ${needed.map(([text]) => text).join(", ")}`);
  if (texts.length === 0) return undefined;
  const text = `To see whether it changed at all, runs needed on each side ${texts.join("; ")}`;
  return { text, levels: [...new Set(open.map(({ level }) => level))] };
}

/** Reports whether metrics can have verdicts: both sides have several runs, or there are accepted intervals within their runs. */
export function hasVerdicts({ base, next, levels }: Comparison): boolean {
  const isRepeated = base.runs.length > 1 && next.runs.length > 1;
  return isRepeated || levels.some(({ metrics }) => metrics.some(({ change }) => change.basis !== "none"));
}

/**
 * Describes how many runs a comparison lacks to estimate the variation between them; undefined if it has enough.
 * @param isAlone whether the reason stands nowhere else. Default: false, because the first screen begins with it
 */
export function describeTooFewRuns(comparison: Comparison, isAlone = false): string | undefined {
  const few = [comparison.base, comparison.next].filter(({ runs }) => runs.length < 2).map(({ name }) => name);
  if (few.length === 0) return undefined;
  const remedy = "give 2 runs on each side at least, better 5";
  const which = few.length === 2 ? "each side has one run" : `${few[0]} has one run`;
  if (hasVerdicts(comparison)) return `${which}, so the intervals lack how runs differ: ${remedy}`;
  const reason = isAlone ? `${which}, so a change may be chance: ` : few.length === 2 ? "" : `${which}: `;
  return `${reason}${remedy} (repeat in a scenario, or several files)`;
}

/**
 * Describes the values by which a limit is judged at some levels, and what would decide it: `+12.3 % (+8.1 to +16.7 %) at
 * concurrency 4`. The latter is for the level that needs the most runs. @param same verdicts on one limit, with the same reason
 */
export function measuredOfLimit(...same: readonly [ChangeLimitVerdict, ...ChangeLimitVerdict[]]): string {
  const values = [...new Set(same.map(valueOfLimit))].join(", ");
  const hardest = same.reduce((one, other) => (needOf(other) > needOf(one) ? other : one));
  const isAlike = same.every(({ decidedBy }) => decidedBy?.name === hardest.decidedBy?.name);
  const what = whatDecides(isAlike ? hardest : (({ decidedBy: _, ...rest }) => rest)(hardest));
  return `${values} at ${joinLevels(same.map(({ level }) => level))}${what}`;
}

function needOf({ runsNeeded = Number.POSITIVE_INFINITY }: ChangeLimitVerdict): number {
  return runsNeeded;
}

function valueOfLimit({ limit, change, value }: ChangeLimitVerdict): string {
  const interval = change && formatInterval(change);
  const isRatio = limit.metric.quantity === "ratio";
  const ends = value && certaintyOf({ value: value.mean, low: value.low, high: value.high, isRatio });
  const range =
    ends?.isCertain === true
      ? `${formatValue(limit.metric, ends.low)} to ${formatValue(limit.metric, ends.high)}`
      : interval;
  const measured =
    value !== undefined
      ? formatValue(limit.metric, value.mean)
      : change === undefined
        ? "no value"
        : formatChange(change);
  const bounds = range === undefined || range === "" ? "" : ` (${range})`;
  return `${measured}${bounds}`;
}

/**
 * Describes why a limit is not decided, and what would decide it: `; use p90, or about 19 runs on each side for this limit`. Empty
 * if it is decided, or if neither is known.
 */
function whatDecides({ state, change, reason, runsNeeded, decidedBy }: ChangeLimitVerdict): string {
  if (reason !== undefined) return `: ${reason}`;
  if (state === "unresolved" && !isFeasible(runsNeeded) && decidedBy === undefined && change?.basis === "runs")
    return `; it is so close to the limit that ${MOST_RUNS} runs on each side would not decide`;
  const runs = isFeasible(runsNeeded) ? `${describeRuns(runsNeeded)} runs on each side` : undefined;
  if (decidedBy === undefined) return runs === undefined ? "" : `; ${runs} would decide this limit`;
  const lower = `; use ${decidedBy.name.replace(/^latency\./, "")}`;
  return runs === undefined ? lower : `${lower}, or ${runs} for this limit`;
}

/** Describes how reliable verdicts are. */
export const CONFIDENCE_NOTE =
  "Intervals are at 95 % over whole runs: where nothing changed, about 1 verdict in 20 still says that something did.";
