import type { Change } from "../../measure/compare/change.ts";
import type { ChangeVerdict } from "../../measure/compare/verdict.ts";
import type { Interval } from "../../measure/intervals/certainty.ts";
import type { NamedMetric } from "../../measure/metrics/metric-names.ts";
import type { MeasuredRun } from "../read/runs/measured-run.ts";

/** One side of a comparison: one run, or several of the same plan. */
export interface RunSet {
  /** The file or folder, or the first one and the number of others. */
  readonly name: string;
  readonly runs: readonly MeasuredRun[];
}

/** A metric on one side: the mean over its runs. */
export interface SideValue extends Interval {
  /** The value of each run that has one. */
  readonly values: readonly number[];
  readonly mean: number;
  /** Whether its only run marks it as uncertain. With several runs, the interval of the change shows the certainty. */
  readonly isUncertain: boolean;
}

/** A metric at one level of both sides. */
export interface MetricComparison {
  readonly metric: NamedMetric;
  readonly base: SideValue;
  readonly next: SideValue;
  readonly change: Change;
  readonly verdict: ChangeVerdict;
  /** With the verdict `inconclusive`: number of runs per side that would be enough; absent if unknown or more than 1,000. */
  readonly runsNeeded?: number;
}

/** A metric with its level. */
export interface PlacedMetric {
  readonly level: string;
  readonly metric: MetricComparison;
}

/** A level that both sides have. */
export interface LevelComparison {
  readonly label: string;
  readonly metrics: readonly MetricComparison[];
  /** Names of metrics that only one side has. */
  readonly onlyInBase: readonly string[];
  readonly onlyInNew: readonly string[];
}

/** A difference between the measurements. */
export interface FactDifference {
  /** `target.model` */
  readonly path: string;
  readonly base: string;
  readonly next: string;
}

/** A reason why a comparison may be unreliable. */
export interface ComparisonWarning {
  /** Code for programs: `formats-differ`. */
  readonly code: string;
  /** A sentence without a full stop. */
  readonly text: string;
}

/** Two sides, compared level by level. */
export interface Comparison {
  readonly base: RunSet;
  readonly next: RunSet;
  /** Whether the interval within a run is accepted as the variation between runs, on a side with one run. */
  readonly acceptsWithinRuns: boolean;
  /** Differences between the plans of the sides. */
  readonly differences: readonly FactDifference[];
  /** Reasons why the comparison may be unreliable. */
  readonly warnings: readonly ComparisonWarning[];
  readonly levels: readonly LevelComparison[];
  /** Levels that only one side has. */
  readonly onlyInBase: readonly string[];
  readonly onlyInNew: readonly string[];
}
