import { alignLevels } from "../../load/level-identity.ts";
import { combineRuns, type OverRuns, type RunValue } from "../../measure/intervals/over-runs.ts";
import { REPORTED_PERCENTILES } from "../../measure/intervals/percentile-interval.ts";
import { reportedMetrics } from "../../measure/metrics/catalogue.ts";
import type { Metric } from "../../measure/metrics/metric.ts";
import { runValue } from "../../measure/metrics/read-metric.ts";
import type { Statistic } from "../../plan/assertions.ts";
import { defined } from "../../plan/defined.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToUs } from "../../plan/units.ts";
import { levelUnitOf } from "../../registry/load-modes.ts";
import { judgedInRuns, judgedLevels, measuredLevels } from "../../result/judged-levels.ts";
import { completeRuns, type RepeatedResult } from "../../result/repeated-result.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import type { OverJson, OverMetricsJson } from "../schema/metrics.ts";
import type { CombinationJson, OverRunsJson } from "../schema/runs.ts";

/** Several runs together, level by level. */

/** What is compared between runs: a level, or the highest load that each run of a search found. */
interface ResultsOverRuns {
  /** The result in each run that counts and has one. */
  readonly results: readonly LevelResult[];
  /** The result in each of all runs; undefined for a run without one. */
  readonly byRun: readonly (LevelResult | undefined)[];
}

/** A level over runs. */
interface LevelOverRuns extends ResultsOverRuns, Pick<LevelResult, "unit" | "level" | "phase"> {}

/**
 * Groups the levels of the complete runs that measured something, in the order of the first run. Of a search these are the levels of all
 * complete runs: whether a run measures another one depends on what it measured before.
 */
function levelsOverRuns(repeated: RepeatedResult): LevelOverRuns[] {
  const { runs } = repeated;
  const complete = completeRuns(repeated);
  const isSearch = runs.some(({ findMax }) => findMax !== undefined);
  return alignLevels(runs.map(measuredLevels)).flatMap((byRun) => {
    const results = byRun.flatMap((result, run) =>
      result !== undefined && complete.includes(runs[run] as RunResult) ? [result] : [],
    );
    const [first] = results;
    if (first === undefined || (isSearch && results.length < complete.length)) return [];
    const { unit, level, phase } = first;
    return [defined({ unit, level, phase, results, byRun })];
  });
}

/** The results of a search in several runs. Numbers of runs count from 1. */
interface HighestOverRuns extends ResultsOverRuns {
  /** The highest load, combined over the runs whose result is certain; undefined when no run found one. */
  readonly highest: OverRuns | undefined;
  /** The complete runs without a certain result. They are in no mean. */
  readonly unresolvedRuns: readonly number[];
  /** The complete runs in which it is certain that no load keeps the limits. */
  readonly runsWithoutLoad: readonly number[];
  /** The complete runs in which the upper end of the search keeps the limits: the mean is a lower bound. */
  readonly runsAtUpperEnd: readonly number[];
}

/** Combines the results of a search; undefined for other loads. */
export function highestOverRuns(repeated: RepeatedResult): HighestOverRuns | undefined {
  const { runs } = repeated;
  const complete = completeRuns(repeated);
  if (!runs.some(({ findMax }) => findMax !== undefined)) return undefined;
  const numbersOf = (isOne: (findMax: NonNullable<RunResult["findMax"]>) => boolean): number[] =>
    runs.flatMap((run, index) =>
      run.findMax !== undefined && complete.includes(run) && isOne(run.findMax) ? [index + 1] : [],
    );
  const results = judgedInRuns(complete).runs.flat();
  return {
    highest: results.length === 0 ? undefined : combineRuns(results.map(({ level }) => ({ value: level }))),
    unresolvedRuns: numbersOf(({ isResolved }) => !isResolved),
    runsWithoutLoad: numbersOf(({ highest, isResolved }) => highest === undefined && isResolved),
    runsAtUpperEnd: numbersOf(
      ({ highest, next, isResolved }) => isResolved && highest !== undefined && next === undefined,
    ),
    results,
    byRun: runs.map((run) => (run.findMax?.highest === undefined ? undefined : judgedLevels(run)[0])),
  };
}

/** Converts what complete runs give together to JSON. */
export function toCombinationJson(plan: Plan, repeated: RepeatedResult): CombinationJson {
  const found = highestOverRuns(repeated);
  return {
    runs: completeRuns(repeated).length,
    ...(found === undefined ? {} : { findMax: toHighestJson(plan, found) }),
    levels: levelsOverRuns(repeated).map((over) => {
      const { unit, level, phase } = over;
      const place = phase && { index: phase.index, name: phase.label };
      return defined({ unit, level, phase: place, ...toResultsJson(plan, over) });
    }),
  };
}

function toHighestJson(plan: Plan, found: HighestOverRuns): NonNullable<CombinationJson["findMax"]> {
  const { highest, unresolvedRuns, runsWithoutLoad, runsAtUpperEnd } = found;
  return {
    ...(highest === undefined ? {} : { highest, atHighest: toResultsJson(plan, found) }),
    unit: levelUnitOf(plan.load),
    unresolvedRuns: [...unresolvedRuns],
    runsWithoutLoad: [...runsWithoutLoad],
    runsAtUpperEnd: [...runsAtUpperEnd],
  };
}

function toResultsJson({ target, measurement, derived = [] }: Plan, { results }: ResultsOverRuns): OverRunsJson {
  const isStreamed = measurement.tokens?.isStreamed === true;
  const metrics = reportedMetrics().flatMap(({ key, name, entry }) => {
    if (entry.needs === "streams" && !isStreamed) return [];
    const over = (statistic?: Statistic): OverJson | undefined => {
      const metric = defined({ key, statistic });
      const values = results.flatMap((part) => runValue(metric, part, target.batchSize) ?? []);
      return values.length === 0 ? undefined : combineRuns(values.map((value) => inUnit(entry, value)));
    };
    const found = entry.statistics === undefined ? over() : overStatistics(entry.statistics, over);
    return found === undefined ? [] : [[name, found] as const];
  });
  const own = derived.flatMap((one) => {
    const values = results.flatMap((part) => runValue({ key: "derived", ...one }, part, target.batchSize) ?? []);
    const { unit, better } = one;
    return values.length === 0 ? [] : [[one.name, { ...combineRuns(values), ...defined({ unit, better }) }] as const];
  });
  return {
    runs: results.length,
    metrics: Object.fromEntries(metrics),
    ...(own.length === 0 ? {} : { derived: Object.fromEntries(own) }),
  };
}

function overStatistics(
  statistics: NonNullable<Metric["statistics"]>,
  over: (statistic: Statistic) => OverJson | undefined,
): OverMetricsJson[string] | undefined {
  const names = statistics.flatMap((one): readonly Statistic[] =>
    one === "percentiles" ? REPORTED_PERCENTILES : [one],
  );
  const found = names.flatMap((statistic) => {
    const value = over(statistic);
    return value === undefined ? [] : [[typeof statistic === "number" ? `p${statistic}` : statistic, value] as const];
  });
  return found.length === 0 ? undefined : (Object.fromEntries(found) as OverMetricsJson[string]);
}

/** Converts times to microseconds. */
function inUnit({ quantity }: Metric, { value, standardError, requests }: RunValue): RunValue {
  if (quantity !== "time") return { value, standardError, requests };
  return { value: nsToUs(value), standardError: standardError === undefined ? undefined : nsToUs(standardError) };
}
