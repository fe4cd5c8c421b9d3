import { formatTable } from "../rampart/format.ts";
import type { Comparison, LevelComparison, MetricComparison } from "./comparison.ts";
import { describeNotCompared } from "./file-notes.ts";
import type { LimitVerdict } from "./limits.ts";
import { listSome } from "./plan-differences.ts";
import {
  CONFIDENCE_NOTE,
  describeLimitVerdict,
  describeNeeds,
  describeSide,
  describeTooFewRuns,
  formatChange,
  formatInterval,
  formatValue,
  nameLimitState,
  nameVerdict,
  shownMetrics,
  summarizeVerdicts,
} from "./words.ts";

/** A comparison and its limits, as reports show it. */
export interface ComparedSides {
  readonly comparison: Comparison;
  readonly limits: readonly LimitVerdict[];
  /** Whether tables have all percentiles. */
  readonly isAll: boolean;
}

const MOST_DIFFERENCES = 8;
const MOST_COLUMNS = 110;

/** Formats a comparison for a terminal. */
export function formatComparison({ comparison, limits, isAll }: ComparedSides): string {
  const { base, next, levels } = comparison;
  const named = new Set(limits.map(({ limit }) => limit.metric.name));
  const shown = levels.map((level) => shownMetrics(level, named, isAll));
  const head = `${describeSide(next)} against ${describeSide(base)}: ${summarizeVerdicts(shown.flat())}`;
  const tables = levels.map((level, index) => formatLevel(level, shown[index] ?? []));
  const blocks = [
    [head, ...describeDifferences(comparison), ...describeWarnings(comparison)].join("\n"),
    ...tables,
    describeRest(comparison).join("\n"),
    limits.map((verdict) => `${nameLimitState(verdict.state)}  ${describeLimitVerdict(verdict)}`).join("\n"),
    describeTooFewRuns(comparison) === undefined ? CONFIDENCE_NOTE : "",
  ];
  return `${blocks.filter((block) => block !== "").join("\n\n")}\n`;
}

/** Describes how the plans differ, and of which runs that is known. */
export function describeDifferences({ differences }: Comparison): string[] {
  if (differences.length === 0) return [];
  const shown = differences.slice(0, MOST_DIFFERENCES).map(({ path, base, next }) => `  ${path}: ${base} → ${next}`);
  const more = differences.length - shown.length;
  return [
    "The plans differ, so the differences below can be those of the plans:",
    ...shown,
    ...(more > 0 ? [`  and ${more} more`] : []),
  ];
}

/** Describes what limits the trust in a comparison. */
export function describeWarnings(comparison: Comparison): string[] {
  const few = describeTooFewRuns(comparison);
  return [...(few === undefined ? [] : [few]), ...comparison.warnings].map((text) => `Note: ${text}.`);
}

/** The columns of a table of metrics. */
export const COMPARISON_COLUMNS = ["metric", "base", "new", "change", "95 % interval", "verdict"] as const;

/** Returns the cells of a metric, in the order of {@link COMPARISON_COLUMNS}. */
export function comparisonCells({ metric, base, next, change, verdict }: MetricComparison): string[] {
  return [
    metric.label,
    formatValue(metric, base.mean),
    formatValue(metric, next.mean),
    formatChange(change),
    formatInterval(change) || "-",
    nameVerdict(verdict),
  ];
}

/** Formats a level; empty without a metric that both sides have. */
function formatLevel(level: LevelComparison, metrics: readonly MetricComparison[]): string {
  if (metrics.length === 0) return "";
  const table = formatTable([...COMPARISON_COLUMNS], alignChanges(metrics.map(comparisonCells)), MOST_COLUMNS);
  const lines = [level.label, ...table.split("\n").map((line) => `  ${line}`), ...describeNeeds(metrics).map(indent)];
  return lines.map((line) => line.trimEnd()).join("\n");
}

/** Tables align what begins with a digit to the right; changes begin with a sign. */
function alignChanges(rows: readonly string[][]): string[][] {
  const signed = [3, 4];
  const widths = signed.map((at) => Math.max(0, ...rows.map((row) => row[at]?.length ?? 0)));
  return rows.map((row) => row.map((cell, at) => cell.padStart(widths[signed.indexOf(at)] ?? 0)));
}

function indent(line: string): string {
  return `  ${line}`;
}

/** Describes what only one side has, and what is not compared. */
export function describeRest(comparison: Comparison): string[] {
  const { base, next, levels, onlyInBase, onlyInNew } = comparison;
  const sides = [
    [base.name, onlyInBase, (level: LevelComparison) => level.onlyInBase],
    [next.name, onlyInNew, (level: LevelComparison) => level.onlyInNew],
  ] as const;
  const ofOneSide = sides.flatMap(([name, labels, metricsOf]) => {
    const metrics = [...new Set(levels.flatMap(metricsOf).map((metric) => metric.replace(/\.(avg|p[\d.]+)$/, "")))];
    return [
      ...(labels.length === 0 ? [] : [`Only in ${name}: ${listSome(labels)}`]),
      ...(metrics.length === 0 ? [] : [`Metrics only in ${name}: ${listSome(metrics)}`]),
    ];
  });
  return [...ofOneSide, ...describeNotCompared(comparison)];
}
