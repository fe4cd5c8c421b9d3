import { alignLevels } from "../../load/level-identity.ts";
import { estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import { combineRuns, type OverRuns, type RunValue, standardErrorOf } from "../../measure/intervals/over-runs.ts";
import {
  estimateInterpolated,
  estimatePercentile,
  REPORTED_PERCENTILES,
} from "../../measure/intervals/percentile-interval.ts";
import { throughputInterval } from "../../measure/intervals/throughput.ts";
import { latencyOf } from "../../measure/measurement.ts";
import { errorRatioOfRun, inferPerSec } from "../../measure/metrics.ts";
import { deviationOf, type Sketch } from "../../measure/sketch.ts";
import { entryOf, isTimeMetric } from "../../measure/tokens/metrics.ts";
import { shownSketches } from "../../measure/tokens/token-measurement.ts";
import { outputTokensPerSec } from "../../measure/tokens/token-rates.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToUs } from "../../plan/units.ts";
import { levelUnitOf } from "../../registry/load-modes.ts";
import { judgedInRuns, judgedLevels, measuredLevels } from "../../result/judged-levels.ts";
import { completeRuns, type RepeatedResult } from "../../result/repeated-result.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import type { CombinationJson, OverRunsJson } from "../schema/runs.ts";
import { byPercentile } from "./confidence.ts";
import { nameInJson } from "./samples.ts";

/** Several runs together, level by level. */

/** What is compared between runs: a level, or the highest load that each run of a search found. */
export interface ResultsOverRuns {
  /** The result in each run that counts and has one. */
  readonly results: readonly LevelResult[];
  /** The result in each of all runs; undefined for a run without one. */
  readonly byRun: readonly (LevelResult | undefined)[];
}

/** A level over runs. */
export interface LevelOverRuns extends ResultsOverRuns, Pick<LevelResult, "unit" | "level" | "phase"> {}

/**
 * Groups the levels of the complete runs that measured something, in the order of the first run. Of a search these are the levels of all
 * complete runs: whether a run measures another one depends on what it measured before.
 */
export function levelsOverRuns(repeated: RepeatedResult): LevelOverRuns[] {
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
    return [{ unit, level, ...(phase === undefined ? {} : { phase }), results, byRun }];
  });
}

/** The answers of a search in several runs. Numbers of runs count from 1. */
export interface HighestOverRuns extends ResultsOverRuns {
  /** The highest load, combined over the runs whose answer is certain; undefined when no run found one. */
  readonly highest: OverRuns | undefined;
  /** The complete runs without a certain answer. They are in no mean. */
  readonly unresolvedRuns: readonly number[];
  /** The complete runs in which it is certain that no load keeps the limits. */
  readonly runsWithoutLoad: readonly number[];
}

/** Combines the answers of a search; undefined for other loads. */
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
    results,
    byRun: runs.map((run) => (run.findMax?.highest === undefined ? undefined : judgedLevels(run)[0])),
  };
}

/** Combines a value over the runs that have it; undefined when none has. */
export function overRuns(
  { results }: ResultsOverRuns,
  pick: (result: LevelResult) => RunValue | undefined,
): OverRuns | undefined {
  const values = results.map(pick).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : combineRuns(values);
}

/** A tally's average in microseconds, with its standard error. */
export function averageUs(tally: Sketch): RunValue | undefined {
  if (tally.count === 0) return undefined;
  const { value, effectiveCount } = estimateMeanNs(tally);
  const deviationNs = deviationOf(tally);
  const standardError = deviationNs === undefined ? undefined : nsToUs(deviationNs / Math.sqrt(effectiveCount));
  return { value: nsToUs(value), standardError };
}

/** A tally's percentile in microseconds, with its standard error. */
export function percentileUs(tally: Sketch, percentile: number): RunValue | undefined {
  if (tally.count === 0) return undefined;
  const { value, low, high } = estimatePercentile(tally, percentile);
  return { value, standardError: standardErrorOf(low, high) };
}

/** Converts what complete runs give together to JSON. Latencies and times of tokens are in microseconds. */
export function toCombinationJson(plan: Plan, repeated: RepeatedResult): CombinationJson {
  const found = highestOverRuns(repeated);
  return {
    runs: completeRuns(repeated).length,
    ...(found === undefined ? {} : { findMax: toHighestJson(plan, found) }),
    levels: levelsOverRuns(repeated).map((over) => {
      const { unit, level, phase } = over;
      const place = phase === undefined ? {} : { phase: { index: phase.index, name: phase.label } };
      return { unit, level, ...place, ...toResultsJson(plan, over) };
    }),
  };
}

function toHighestJson(plan: Plan, found: HighestOverRuns): NonNullable<CombinationJson["findMax"]> {
  const { highest, unresolvedRuns, runsWithoutLoad } = found;
  return {
    ...(highest === undefined ? {} : { highest, atHighest: toResultsJson(plan, found) }),
    unit: levelUnitOf(plan.load),
    unresolvedRuns: [...unresolvedRuns],
    runsWithoutLoad: [...runsWithoutLoad],
  };
}

function toResultsJson({ target }: Plan, level: ResultsOverRuns): OverRunsJson {
  const { results } = level;
  const latency = (tallyOf: (result: LevelResult) => Sketch): OverRunsJson["latencyUs"] =>
    withoutAbsent({
      mean: overRuns(level, (result) => averageUs(tallyOf(result))),
      ...byPercentile(REPORTED_PERCENTILES, (percentile) =>
        overRuns(level, (result) => percentileUs(tallyOf(result), percentile)),
      ),
    });
  const isScheduled = results.some(({ window }) => window.isScheduled);
  const hasFirst = results.some(({ window }) => window.isDecoupled);
  const hasTokens = results.some(({ window }) => window.tokens !== undefined);
  const perSec = overRuns(level, ({ window }) => {
    const value = inferPerSec(window, target.batchSize);
    const { low, high } = throughputInterval(window, value, target.batchSize);
    return { value, standardError: standardErrorOf(low, high) };
  });
  const errors = overRuns(level, ({ window }) => errorRatioOfRun(window));
  return {
    runs: results.length,
    ...(perSec === undefined ? {} : { inferPerSec: perSec }),
    ...(errors === undefined ? {} : { errorRatio: errors }),
    latencyUs: latency(({ window }) => window.latency),
    ...(isScheduled ? { scheduledLatencyUs: latency(({ window }) => latencyOf(window, "scheduledLatency")) } : {}),
    ...(hasFirst ? { firstResponseUs: latency(({ window }) => latencyOf(window, "firstResponse")) } : {}),
    ...(hasTokens ? { tokens: toTokensOverRunsJson(level) } : {}),
  };
}

type Present<T> = { readonly [K in keyof T]?: Exclude<T[K], undefined> };

/** Leaves out the fields without a value. */
function withoutAbsent<T extends object>(fields: T): Present<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Present<T>;
}

const TOKEN_PERCENTILES = [50, 90, 99] as const;

type TokensOverRunsJson = NonNullable<OverRunsJson["tokens"]>;

function toTokensOverRunsJson(level: ResultsOverRuns): TokensOverRunsJson {
  const perRun = level.results.map(({ window }) => shownSketches(window));
  const metrics = [...new Set(perRun.flatMap((samples) => [...samples.keys()]))];
  const rows = metrics
    .filter((metric) => entryOf(metric).isRow === true)
    .map((metric) => {
      const values = perRun.map((samples) => samples.get(metric)).filter((found) => found !== undefined);
      return [nameInJson(metric), combineSamples(values, isTimeMetric(metric) ? 1000 : 1)] as const;
    });
  const rate = overRuns(level, ({ window }) => {
    const value = window.tokens && outputTokensPerSec(window.tokens, window);
    return value === undefined ? undefined : { value };
  });
  return { ...(rate === undefined ? {} : { outputTokensPerSec: rate }), metrics: Object.fromEntries(rows) };
}

function combineSamples(runs: readonly Sketch[], scale: number): TokensOverRunsJson["metrics"][string] {
  const toError = (error: number | undefined): number | undefined => (error === undefined ? undefined : error / scale);
  const means = runs.map((sketch) => {
    const { value, low, high } = estimateMeanNs(sketch);
    return { value: value / scale, standardError: toError(standardErrorOf(low, high)) };
  });
  const percentiles = byPercentile(TOKEN_PERCENTILES, (percentile) => {
    const values = runs.map((sketch) => {
      const { value, low, high } = estimateInterpolated(sketch, percentile);
      return { value: value / scale, standardError: toError(standardErrorOf(low, high)) };
    });
    return combineRuns(values);
  });
  return { mean: combineRuns(means), ...percentiles };
}
