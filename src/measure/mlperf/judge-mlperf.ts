import type { MlperfRules } from "../../load/load-mode.ts";
import { formatCount, formatDurationNs, msToNs, NS_PER_SEC } from "../../plan/units.ts";
import { estimateByEarlyStopping, leastQueries, leastWithin, type PercentileEstimate } from "./early-stopping.ts";
import type { MlperfSample } from "./mlperf-tally.ts";

/** The percentiles that LoadGen prints. */
export const MLPERF_PERCENTILES = [50, 90, 95, 97, 99, 99.9] as const;

/** Statistics of latencies like LoadGen's: percentiles are the value at index ⌊n × p⌋ of the sorted latencies, the mean is rounded down. */
export interface MlperfLatency {
  readonly minNs: number;
  readonly maxNs: number;
  readonly meanNs: number;
  /** In the order of {@link MLPERF_PERCENTILES}. */
  readonly percentilesNs: readonly number[];
}

/** Early stopping of a scenario whose result is a percentile. */
export interface EstimatedStop {
  readonly isMet: boolean;
  /** Lowest number of queries that certifies an estimate. */
  readonly neededCount: number;
  /** Absent below the needed number. */
  readonly estimate?: PercentileEstimate;
}

/** Early stopping of a scenario with a latency limit. */
export interface LimitedStop {
  readonly isMet: boolean;
  /** Number of queries over the limit, failed ones included. */
  readonly overCount: number;
  /** Number of further queries, all within the limit, with which the run would be valid; 0 when it is met. */
  readonly missingCount: number;
}

/** The result of an MLPerf scenario. */
export interface MlperfResult {
  readonly scenario: MlperfRules["scenario"];
  /** Whether all rules are kept. */
  readonly isValid: boolean;
  /** The rules that are not kept, one sentence each, without a full stop. */
  readonly broken: readonly string[];
  readonly queryCount: number;
  readonly sampleCount: number;
  /**
   * Latency of queries: of the slowest request of each. Absent when none succeeded, and for `offline`, where LoadGen's latencies are times
   * since the start.
   */
  readonly latency?: MlperfLatency;
  /** The percentile that is the result or is limited, and its value; absent for `offline`, and when no request succeeded. */
  readonly target?: { readonly percentile: number; readonly latencyNs: number };
  /** Absent for `offline`. */
  readonly earlyStopping?: EstimatedStop | LimitedStop;
  /** `single-stream` only: the estimate of p99 from which LoadGen infers the result of `multi-stream`. */
  readonly p99Stopping?: EstimatedStop;
  /** Requests per second: as sent for `single-stream`, as due for `server`, as completed for `offline`. Absent for `multi-stream`. */
  readonly samplesPerSec?: number;
  /** `server` only: requests per second by the end of the last one. */
  readonly completedPerSec?: number;
  /** `single-stream` only: 1 over the mean latency. */
  readonly withoutOverheadPerSec?: number;
}

/** What the run was asked for. */
export interface MlperfRequirements {
  /** Lowest number of queries. */
  readonly minQueryCount: number;
  readonly minDurationNs: number;
}

/**
 * Judges a scenario by the rules of LoadGen. A request that failed breaks them, because LoadGen knows no failures.
 * @param startNs start of the measurement
 */
export function judgeMlperf(
  rules: MlperfRules,
  { minQueryCount, minDurationNs }: MlperfRequirements,
  sample: MlperfSample,
  startNs: number,
): MlperfResult {
  const { queryLatenciesNs: sorted, sampleLatenciesNs, failedCount, failedQueryCount } = sample;
  const queryCount = sorted.length + failedQueryCount;
  const sampleCount = sampleLatenciesNs.length + failedCount;
  const broken: string[] = [];
  if (failedCount > 0) broken.push(`${failedCount} of ${sampleCount} requests failed`);
  if (queryCount < minQueryCount)
    broken.push(`${formatCount(queryCount)} queries were sent, ${formatCount(minQueryCount)} are needed`);
  const durationNs = durationOf(rules, sample) - startNs;
  if (durationNs < minDurationNs)
    broken.push(`the run lasted ${formatDurationNs(durationNs)}, ${formatDurationNs(minDurationNs)} are needed`);
  const stop = stopOf(rules, sorted, failedQueryCount);
  if (stop !== undefined && !stop.isMet) broken.push(explainStop(rules, stop, queryCount));
  const target = targetOf(rules, sorted);
  const { latencyLimitMs } = rules;
  if (target !== undefined && latencyLimitMs !== null && target.latencyNs > msToNs(latencyLimitMs))
    broken.push(
      `p${target.percentile} of latency is ${formatDurationNs(target.latencyNs)}, over the limit of ${formatDurationNs(msToNs(latencyLimitMs))}`,
    );
  return {
    scenario: rules.scenario,
    isValid: broken.length === 0,
    broken,
    queryCount,
    sampleCount,
    ...(sorted.length === 0 || rules.scenario === "offline" ? {} : { latency: latencyOf(sorted) }),
    ...(target === undefined ? {} : { target }),
    ...(stop === undefined ? {} : { earlyStopping: stop }),
    ...(rules.scenario === "single-stream" ? { p99Stopping: estimatedStop(sorted, 0.99) } : {}),
    ...ratesOf(rules, sample, startNs),
  };
}

/** Returns the time that counts as the length of a run. */
function durationOf({ scenario }: MlperfRules, { lastEndNs, lastDueNs, lastSentNs }: MlperfSample): number {
  if (scenario === "offline") return lastEndNs;
  return scenario === "server" ? lastDueNs : lastSentNs;
}

function stopOf(
  { percentile, latencyLimitMs }: MlperfRules,
  sorted: Float64Array,
  failedCount: number,
): EstimatedStop | LimitedStop | undefined {
  if (percentile === null) return undefined;
  return latencyLimitMs === null
    ? estimatedStop(sorted, percentile / 100)
    : limitedStop(sorted, failedCount, percentile / 100, msToNs(latencyLimitMs));
}

function estimatedStop(sorted: Float64Array, ratio: number): EstimatedStop {
  const neededCount = leastQueries(ratio);
  const estimate = estimateByEarlyStopping(sorted, ratio);
  return { isMet: estimate !== undefined, neededCount, ...(estimate === undefined ? {} : { estimate }) };
}

function limitedStop(sorted: Float64Array, failedCount: number, ratio: number, limitNs: number): LimitedStop {
  const overCount = failedCount + sorted.reduce((count, latencyNs) => (latencyNs > limitNs ? count + 1 : count), 0);
  const missingCount = Math.max(0, leastWithin(overCount, ratio) + overCount - sorted.length - failedCount);
  return { isMet: missingCount === 0, overCount, missingCount };
}

function explainStop({ percentile }: MlperfRules, stop: EstimatedStop | LimitedStop, queryCount: number): string {
  if ("neededCount" in stop)
    return `early stopping needs ${stop.neededCount} queries for p${percentile}, and ${formatCount(queryCount)} were sent`;
  const over = `${formatCount(stop.overCount)} of ${formatCount(queryCount)} queries were over the limit`;
  return `early stopping is not met for p${percentile}: ${over}, and ${formatCount(stop.missingCount)} more within it are needed`;
}

function targetOf({ percentile }: MlperfRules, sorted: Float64Array): MlperfResult["target"] {
  if (percentile === null || sorted.length === 0) return undefined;
  return { percentile, latencyNs: nearestRank(sorted, percentile) };
}

function latencyOf(sorted: Float64Array): MlperfLatency {
  return {
    minNs: sorted[0] as number,
    maxNs: sorted.at(-1) as number,
    meanNs: meanOf(sorted),
    percentilesNs: MLPERF_PERCENTILES.map((percentile) => nearestRank(sorted, percentile)),
  };
}

function meanOf(latenciesNs: Float64Array): number {
  return Math.floor(latenciesNs.reduce((sum, latencyNs) => sum + latencyNs, 0) / latenciesNs.length);
}

function nearestRank(sorted: Float64Array, percentile: number): number {
  return sorted[Math.floor(sorted.length * (percentile / 100))] as number;
}

/** LoadGen leaves out one request, because the last one only ends the time in which the others were sent. */
function ratesOf({ scenario }: MlperfRules, sample: MlperfSample, startNs: number): Partial<MlperfResult> {
  const { sampleLatenciesNs: sorted, lastDueNs, lastEndNs, lastSentNs } = sample;
  const count = sorted.length;
  const rate = (number: number, untilNs: number): number => (number * NS_PER_SEC) / (untilNs - startNs);
  if (count < 2) return {};
  switch (scenario) {
    case "single-stream": {
      return { samplesPerSec: rate(count - 1, lastSentNs), withoutOverheadPerSec: 1e9 / meanOf(sorted) };
    }
    case "server":
      return { samplesPerSec: rate(count - 1, lastDueNs), completedPerSec: rate(count - 1, lastEndNs) };
    case "offline":
      return { samplesPerSec: rate(count, lastEndNs) };
    case "multi-stream":
      return {};
  }
}
