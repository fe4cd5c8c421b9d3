import { alignLevels } from "../../load/level-identity.ts";
import { combineRuns, type RunValue } from "../../measure/intervals/over-runs.ts";
import { REPORTED_PERCENTILES } from "../../measure/intervals/percentile-interval.ts";
import { reportedMetrics } from "../../measure/metrics/catalogue.ts";
import type { Metric } from "../../measure/metrics/metric.ts";
import { runValue } from "../../measure/metrics/read-metric.ts";
import type { Statistic } from "../../plan/assertions.ts";
import { defined } from "../../plan/objects.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToUs } from "../../plan/units.ts";
import { levelUnitOf } from "../../registry/load-modes.ts";
import { judgedInRuns, measuredLevels } from "../../result/judged-levels.ts";
import { completeRuns, type RepeatedResult } from "../../result/repeated-result.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import type { OverJson, OverMetricsJson } from "../schema/metrics.ts";
import type { CombinationJson, OverRunsJson } from "../schema/runs.ts";

/** Combines several runs, level by level. */

type HighestJson = NonNullable<CombinationJson["findMax"]>;

/**
 * Groups the results of levels over the complete runs that measured something, in the order of the first run. For a search, these
 * are the levels of all complete runs, because the levels of a run depend on its earlier measurements.
 */
function levelsOverRuns(repeated: RepeatedResult): [LevelResult, ...LevelResult[]][] {
  const { runs } = repeated;
  const complete = completeRuns(repeated);
  const isSearch = runs.some(({ findMax }) => findMax !== undefined);
  return alignLevels(runs.map(measuredLevels)).flatMap((byRun) => {
    const results = byRun.flatMap((result, run) =>
      result !== undefined && complete.includes(runs[run] as RunResult) ? [result] : [],
    );
    const [first, ...others] = results;
    return first === undefined || (isSearch && results.length < complete.length) ? [] : [[first, ...others]];
  });
}

interface HighestOverRuns extends Omit<HighestJson, "unit" | "atHighest"> {
  /** Measurement of each complete run with a certain result at its highest load. */
  readonly results: readonly LevelResult[];
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
  return defined({
    highest: results.length === 0 ? undefined : combineRuns(results.map(({ level }) => ({ value: level }))),
    unresolvedRuns: numbersOf(({ isResolved }) => !isResolved),
    runsWithoutLoad: numbersOf(({ highest, isResolved }) => highest === undefined && isResolved),
    runsAtUpperEnd: numbersOf(
      ({ highest, next, isResolved }) => isResolved && highest !== undefined && next === undefined,
    ),
    results,
  });
}

/** Converts the combined results of complete runs to JSON. */
export function toCombinationJson(plan: Plan, repeated: RepeatedResult): CombinationJson {
  const found = highestOverRuns(repeated);
  return {
    runs: completeRuns(repeated).length,
    ...(found === undefined ? {} : { findMax: toHighestJson(plan, found) }),
    levels: levelsOverRuns(repeated).map((results) => {
      const [{ unit, level, phase }] = results;
      const place = phase && { index: phase.index, name: phase.label };
      return defined({ unit, level, phase: place, ...toResultsJson(plan, results) });
    }),
  };
}

function toHighestJson(plan: Plan, { highest, results, ...runs }: HighestOverRuns): HighestJson {
  const found = highest === undefined ? {} : { highest, atHighest: toResultsJson(plan, results) };
  return { ...found, unit: levelUnitOf(plan.load), ...runs };
}

function toResultsJson({ target, measurement, derived = [] }: Plan, results: readonly LevelResult[]): OverRunsJson {
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
  const derivedValues = derived.flatMap((one) => {
    const values = results.flatMap((part) => runValue({ key: "derived", ...one }, part, target.batchSize) ?? []);
    const { unit, better } = one;
    return values.length === 0 ? [] : [[one.name, { ...combineRuns(values), ...defined({ unit, better }) }] as const];
  });
  return {
    runs: results.length,
    metrics: Object.fromEntries(metrics),
    ...(derivedValues.length === 0 ? {} : { derived: Object.fromEntries(derivedValues) }),
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
