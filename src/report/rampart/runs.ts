import { estimateMean, estimateMeanNs } from "../../measure/intervals/mean-interval.ts";
import { combineRuns, type OverRuns, type RunValue, standardErrorOf } from "../../measure/intervals/over-runs.ts";
import {
  estimatePercentile,
  percentileEstimator,
  REPORTED_PERCENTILES,
} from "../../measure/intervals/percentile-interval.ts";
import { throughputInterval } from "../../measure/intervals/throughput.ts";
import type { LatencyTally } from "../../measure/latency-tally.ts";
import { errorRatio, inferPerSec } from "../../measure/metrics.ts";
import { entryOf, isTimeMetric, nameOfMetric } from "../../measure/tokens/metrics.ts";
import { outputTokensPerSec } from "../../measure/tokens/token-rates.ts";
import { tokenSamples } from "../../measure/tokens/token-samples.ts";
import type { Plan } from "../../plan/plan.ts";
import { nsToUs } from "../../plan/units.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";

/** Several runs together, level by level, for Rampart's own reports. */

/** A level, and its result in each run that measured it. */
export interface LevelOverRuns {
  readonly unit: LevelResult["unit"];
  readonly level: number;
  readonly results: readonly LevelResult[];
}

/** Groups the levels of runs that measured something, in the order of the first run. */
export function levelsOverRuns(runs: readonly RunResult[]): LevelOverRuns[] {
  const levels = new Map<number, LevelResult[]>();
  for (const run of runs)
    for (const result of run.levels) {
      if (result.window.requestCount + result.window.failedCount === 0) continue;
      const results = levels.get(result.level) ?? [];
      levels.set(result.level, [...results, result]);
    }
  return [...levels].map(([level, results]) => ({ unit: (results[0] as LevelResult).unit, level, results }));
}

/** Combines a value over the runs that have it; undefined when none has. */
export function overRuns(
  { results }: LevelOverRuns,
  pick: (result: LevelResult) => RunValue | undefined,
): OverRuns | undefined {
  const values = results.map(pick).filter((value) => value !== undefined);
  return values.length === 0 ? undefined : combineRuns(values);
}

/** A tally's average in microseconds, with its standard error. */
export function averageUs(tally: LatencyTally): RunValue | undefined {
  if (tally.count === 0) return undefined;
  const { value, effectiveCount } = estimateMeanNs(tally);
  const { deviationNs } = tally;
  const standardError = deviationNs === undefined ? undefined : nsToUs(deviationNs / Math.sqrt(effectiveCount));
  return { value: nsToUs(value), standardError };
}

/** A tally's percentile in microseconds, with its standard error. */
export function percentileUs(tally: LatencyTally, percentile: number): RunValue | undefined {
  if (tally.count === 0) return undefined;
  const { value, low, high } = estimatePercentile(tally, percentile);
  return { value, standardError: standardErrorOf(low, high) };
}

/** Converts a level over runs to JSON. Latencies and times of tokens are in microseconds. */
export function toLevelOverRunsJson({ target, measurement }: Plan, level: LevelOverRuns): object {
  const { unit, level: value, results } = level;
  const latency = (tallyOf: (result: LevelResult) => LatencyTally): object => ({
    mean: overRuns(level, (result) => averageUs(tallyOf(result))),
    ...Object.fromEntries(
      REPORTED_PERCENTILES.map((percentile) => [
        `p${percentile}`,
        overRuns(level, (result) => percentileUs(tallyOf(result), percentile)),
      ]),
    ),
  });
  const isScheduled = results.some(({ window }) => window.scheduledLatency !== window.latency);
  const hasFirst = results.some(({ window }) => window.firstResponse !== window.latency);
  const hasTokens = results.some(({ tokens }) => tokens !== undefined);
  return {
    unit,
    level: value,
    runs: results.length,
    inferPerSec: overRuns(level, ({ window }) => {
      const value = inferPerSec(window, target.batchSize);
      const { low, high } = throughputInterval(window, value, target.batchSize);
      return { value, standardError: standardErrorOf(low, high) };
    }),
    errorRatio: overRuns(level, ({ window }) => ({ value: errorRatio(window) })),
    latencyUs: latency(({ window }) => window.latency),
    ...(isScheduled ? { scheduledLatencyUs: latency(({ window }) => window.scheduledLatency) } : {}),
    ...(hasFirst ? { firstResponseUs: latency(({ window }) => window.firstResponse) } : {}),
    ...(hasTokens ? { tokens: toTokensOverRunsJson(level, measurement.tokens?.isStreamed === true) } : {}),
  };
}

const TOKEN_PERCENTILES = [50, 90, 99] as const;

function toTokensOverRunsJson(level: LevelOverRuns, isStreamed: boolean): object {
  const perRun = level.results.map(({ tokens }) =>
    tokens === undefined ? undefined : tokenSamples(tokens, isStreamed),
  );
  const metrics = [...new Set(perRun.flatMap((samples) => [...(samples?.keys() ?? [])]))];
  const rows = metrics
    .filter((metric) => entryOf(metric).isRow === true)
    .map((metric) => {
      const isTime = isTimeMetric(metric);
      const values = perRun.map((samples) => samples?.get(metric)).filter((found) => found !== undefined);
      return [isTime ? `${nameOfMetric(metric)}Us` : metric, combineSamples(values, isTime ? 1000 : 1)];
    });
  const rate = overRuns(level, ({ tokens, window }) => {
    const value = tokens && outputTokensPerSec(tokens, window);
    return value === undefined ? undefined : { value };
  });
  return { outputTokensPerSec: rate, metrics: Object.fromEntries(rows) as object };
}

function combineSamples(runs: readonly Float64Array[], scale: number): object {
  const toError = (error: number | undefined): number | undefined => (error === undefined ? undefined : error / scale);
  const means = runs.map((values) => {
    const { value, low, high } = estimateMean(values);
    return { value: value / scale, standardError: toError(standardErrorOf(low, high)) };
  });
  const estimators = runs.map(percentileEstimator);
  const percentiles = TOKEN_PERCENTILES.map((percentile) => {
    const values = estimators.map((estimate) => {
      const { value, low, high } = estimate(percentile);
      return { value: value / scale, standardError: toError(standardErrorOf(low, high)) };
    });
    return [`p${percentile}`, combineRuns(values)];
  });
  return { mean: combineRuns(means), ...(Object.fromEntries(percentiles) as object) };
}
