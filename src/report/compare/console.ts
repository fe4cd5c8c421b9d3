import type { Comparison, LevelComparison, MetricComparison } from "./comparison.ts";
import { describeNotCompared } from "./file-notes.ts";
import type { LimitVerdict } from "./limits.ts";
import { listSome } from "./plan-differences.ts";
import { describeTooFewRuns, formatChange, formatInterval, formatValue, nameVerdict } from "./words.ts";

/** A comparison and its limits, as reports show it. */
export interface ComparedSides {
  readonly comparison: Comparison;
  readonly limits: readonly LimitVerdict[];
  /** Whether tables have all metrics. */
  readonly isAll: boolean;
}

const MOST_DIFFERENCES = 8;

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
  return [...(few === undefined ? [] : [few]), ...comparison.warnings.map(({ text }) => text)].map(
    (text) => `Note: ${text}.`,
  );
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
