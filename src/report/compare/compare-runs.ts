import {
  boundsOf,
  type Change,
  estimateDifference,
  estimateRatio,
  moreRunsNeeded,
  type Side,
} from "../../measure/compare/change.ts";
import { judgeChange, mattersAt, noneOf } from "../../measure/compare/verdict.ts";
import { certaintyOf } from "../../measure/intervals/certainty.ts";
import { meanOfRuns } from "../../measure/intervals/over-runs.ts";
import { findMetric, type NamedMetric, orderOfMetric } from "../../measure/metrics/metric-names.ts";
import type { CustomFacts } from "../../plan/assertions.ts";
import { defined } from "../../plan/objects.ts";
import { joinTexts } from "../notes/join-notes.ts";
import type { MeasuredLevel, MeasuredRun, MeasuredValue } from "../read/runs/measured-run.ts";
import type {
  Comparison,
  ComparisonWarning,
  LevelComparison,
  MetricComparison,
  RunSet,
  SideValue,
} from "./comparison.ts";
import { describeMissingIntervals, describeMixedRuns, findDifferences, formatsOf, listSome } from "./file-notes.ts";

interface CompareSettings {
  /** Smallest relative difference that matters, above 0: 0.05 for 5 %. */
  readonly precision: number;
  /** Whether the interval within a run is accepted as the variation between runs, on a side with one run. */
  readonly acceptsWithinRuns: boolean;
}

/** Compares two sides, level by level. They must not contain partial runs. */
export function compareRuns(base: RunSet, next: RunSet, settings: CompareSettings): Comparison {
  const [from, to] = [groupLevels(base.runs), groupLevels(next.runs)];
  const levels = [...from].flatMap(([label, { name, levels: before }]) => {
    const found = to.get(label);
    return found === undefined ? [] : [compareLevel(name, before, found.levels, settings)];
  });
  const onlyIn = (one: LevelGroups, other: LevelGroups): string[] =>
    [...one].flatMap(([label, { name }]) => (other.has(label) ? [] : [name]));
  return {
    base,
    next,
    acceptsWithinRuns: settings.acceptsWithinRuns,
    differences: findDifferences(base, next),
    warnings: findWarnings(base, next),
    levels,
    onlyInBase: onlyIn(from, to),
    onlyInNew: onlyIn(to, from),
  };
}

/** The same level of all runs of a side, with its name, by label. */
type LevelGroups = ReadonlyMap<string, { readonly name: string; readonly levels: readonly MeasuredLevel[] }>;

/** Groups the levels of runs by label. From the second measurement of a level in a run on, the label has a number. */
function groupLevels(runs: readonly MeasuredRun[]): LevelGroups {
  const groups = new Map<string, { readonly name: string; readonly levels: MeasuredLevel[] }>();
  for (const { levels } of runs) {
    const seen = new Map<string, number>();
    for (const level of levels) {
      const count = (seen.get(level.label) ?? 0) + 1;
      seen.set(level.label, count);
      const place = count === 1 ? "" : ` (${count})`;
      const label = `${level.label}${place}`;
      const group = groups.get(label) ?? { name: `${level.name ?? level.label}${place}`, levels: [] };
      group.levels.push(level);
      groups.set(label, group);
    }
  }
  return groups;
}

function compareLevel(
  label: string,
  base: readonly MeasuredLevel[],
  next: readonly MeasuredLevel[],
  settings: CompareSettings,
): LevelComparison {
  const [from, to] = [namesIn(base), namesIn(next)];
  const common = [...from].filter((name) => to.has(name)).sort((a, b) => orderOfMetric(a) - orderOfMetric(b));
  const metrics = common.flatMap((name) => {
    const metric = findMetric(name);
    if (metric === undefined) return [];
    return [compareMetric({ ...metric, ...customFactsOf(name, [...next, ...base]) }, base, next, settings)];
  });
  const isKnown = (name: string): boolean => findMetric(name) !== undefined;
  return {
    label,
    metrics,
    onlyInBase: [...from].filter((name) => !to.has(name) && isKnown(name)),
    onlyInNew: [...to].filter((name) => !from.has(name) && isKnown(name)),
  };
}

function namesIn(levels: readonly MeasuredLevel[]): Set<string> {
  return new Set(levels.flatMap(({ values }) => [...values.keys()]));
}

/** Returns the facts that the scenario of the runs gives about a custom metric. */
function customFactsOf(name: string, levels: readonly MeasuredLevel[]): CustomFacts {
  return levels.map(({ values }) => values.get(name)?.custom).find((custom) => custom !== undefined) ?? {};
}

function compareMetric(
  metric: NamedMetric,
  base: readonly MeasuredLevel[],
  next: readonly MeasuredLevel[],
  { precision, acceptsWithinRuns }: CompareSettings,
): MetricComparison {
  const [from, to] = [toSide(base, metric, acceptsWithinRuns), toSide(next, metric, acceptsWithinRuns)];
  const change = metric.quantity === "ratio" ? estimateDifference(from, to) : estimateRatio(from, to);
  const verdict = judgeChange(change, metric.better, precision);
  const needed = verdict === "inconclusive" ? neededFor(from, to, change, precision) : undefined;
  const sideOf = (side: Side, levels: readonly MeasuredLevel[]): SideValue =>
    toSideValue(side, levels.length === 1 && levels[0]?.values.get(metric.name)?.isUncertain === true);
  return defined({ metric, base: sideOf(from, base), next: sideOf(to, next), change, verdict, runsNeeded: needed });
}

/**
 * Returns the number of runs that would resolve a change. A change is resolved if its interval excludes "no change", or excludes
 * every change that matters; the smaller number counts.
 */
function neededFor(base: Side, next: Side, change: Change, precision: number): number | undefined {
  const away = change.value === null ? 0 : Math.abs(change.value - noneOf(change));
  const room = mattersAt(change, precision) - away;
  return moreRunsNeeded(base, next, change, Math.max(away, room));
}

function toSide(levels: readonly MeasuredLevel[], { name }: NamedMetric, acceptsWithinRuns: boolean): Side {
  const found = levels.map(({ values }) => values.get(name)).filter((value) => value !== undefined);
  const values = found.map(({ value }) => value);
  const within = acceptsWithinRuns && found.length === 1 ? withinOf(found[0] as MeasuredValue) : undefined;
  const total = found.reduce((sum, value) => sum + (value.total ?? Number.NaN), 0);
  const count = Math.round(found.reduce((sum, value) => sum + value.value * (value.total ?? Number.NaN), 0));
  return defined({ values, within, counted: Number.isNaN(total) ? undefined : { count, total } });
}

function withinOf({ value, low, high, total }: MeasuredValue): Side["within"] {
  const found = certaintyOf({ value, low: low ?? null, high: high ?? null, isRatio: total !== undefined });
  if (!found.isCertain || value < found.low || value > found.high) return undefined;
  return { low: found.low, high: found.high };
}

/** @param isUncertain whether its run marks it as uncertain */
function toSideValue(side: Side, isUncertain: boolean): SideValue {
  const { values } = side;
  const bounds = boundsOf(side);
  return { values, mean: meanOfRuns(values).mean, low: bounds?.low ?? null, high: bounds?.high ?? null, isUncertain };
}

function findWarnings(base: RunSet, next: RunSet): ComparisonWarning[] {
  const [a, b] = [formatsOf(base), formatsOf(next)];
  const shared = base.runs.filter((run) => next.runs.some(({ source }) => source === run.source));
  const mixed = [base, next].map(describeMixedRuns).filter((text) => text !== undefined);
  const code = (name: string, texts: readonly string[]): ComparisonWarning[] =>
    texts.map((text) => ({ code: name, text }));
  const formats = `the files are of different formats (${a.join(", ")}; ${b.join(", ")}), which may compute a metric differently`;
  const isSame = shared.length === base.runs.length && shared.length === next.runs.length;
  const sources = listSome(shared.map(({ source }) => source));
  const same = isSame ? "base and new are the same runs: give two reports" : `base and new share ${sources}`;
  return [
    ...code("formats-differ", a.join() === b.join() ? [] : [formats]),
    ...code("shared-files", shared.length === 0 ? [] : [same]),
    ...code("mixed-runs", mixed),
    ...code("no-intervals", describeMissingIntervals(base, next)),
    ...code("note-of-run", describeNotes([base, next])),
  ];
}

/** Describes what files warn of, then the notes of levels with the number of runs that have them. */
function describeNotes(sides: readonly RunSet[]): string[] {
  const ofFiles = sides.flatMap(({ name, runs }) =>
    runs.flatMap(({ notes = [] }) => notes.map((text) => ({ at: name, text }))),
  );
  return [...joinTexts(ofFiles, sides.length, "sides"), ...sides.flatMap(describeLevelNotes)];
}

function describeLevelNotes({ name, runs }: RunSet): string[] {
  const counts = new Map<string, number>();
  for (const { levels } of runs)
    for (const { label, name = label, notes = [] } of levels)
      for (const note of notes) counts.set(`${name}: ${note}`, (counts.get(`${name}: ${note}`) ?? 0) + 1);
  return [...counts].map(([note, count]) => {
    const of = runs.length === 1 ? "" : `, in ${count} of ${runs.length} runs`;
    return `${name}, ${note}${of}`;
  });
}
