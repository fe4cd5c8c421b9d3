import type { MlperfRules } from "../../load/load-mode.ts";
import { defined } from "../../plan/objects.ts";
import { countOf, formatDurationNs, msToNs, NS_PER_SEC, plural } from "../../plan/units.ts";
import {
  estimateByEarlyStopping,
  explainLimited,
  type LimitedStop,
  leastQueries,
  limitedStop,
  type StoppingEstimate,
} from "./early-stopping.ts";
import { type JudgedTokens, judgeTokens, type MlperfTokenTimes } from "./judge-tokens.ts";
import { type MlperfLatency, meanOf, nearestRank, summarizeLatency } from "./latency-statistics.ts";
import type { MlperfSample } from "./mlperf-tally.ts";
import type { MlperfTokenSample } from "./token-sample.ts";

/** Early stopping for a scenario whose result is a percentile. */
interface EstimatedStop {
  readonly isMet: boolean;
  /** Lowest number of queries that certifies an estimate. */
  readonly neededCount: number;
  /** Absent for fewer queries than needed. */
  readonly estimate?: StoppingEstimate;
}

/**
 * Result of an MLPerf scenario. Latencies are those of queries, which take as long as their slowest request. They are absent if
 * no query succeeded, and for `offline`, for which LoadGen's latencies are times since the start.
 */
export interface MlperfResult extends Partial<MlperfLatency> {
  readonly scenario: MlperfRules["scenario"];
  readonly isValid: boolean;
  /** The rules that are not met, one sentence each, without a full stop. */
  readonly broken: readonly string[];
  readonly queryCount: number;
  readonly sampleCount: number;
  /**
   * The percentile of latency that is the result or is limited, and its value; absent for `offline`, for limits on tokens, and
   * if no request succeeded.
   */
  readonly target?: { readonly percentile: number; readonly latencyNs: number };
  /** Absent for `offline`, and for limits on tokens, which have separate ones. */
  readonly earlyStopping?: EstimatedStop | LimitedStop;
  /** `single-stream` only: the estimate of p99 from which LoadGen infers the result of `multi-stream`. */
  readonly p99Stopping?: EstimatedStop;
  /** Requests per second: as sent for `single-stream`, as due for `server`, as completed for `offline`. Absent for `multi-stream`. */
  readonly samplesPerSec?: number;
  /** `server` only: completed requests per second, until the end of the last one. */
  readonly completedPerSec?: number;
  /** `server` with limits on tokens only: TTFT and TPOT. */
  readonly tokens?: MlperfTokenTimes;
  /** `server` with limits on tokens, and `offline` if all tokens were counted: tokens per second, until the end of the last request. */
  readonly tokensPerSec?: number;
  /** `single-stream` only: 1 over the mean latency. */
  readonly withoutOverheadPerSec?: number;
}

interface MlperfRequirements {
  readonly minQueryCount: number;
  readonly minDurationNs: number;
}

/**
 * Judges a scenario by the rules of LoadGen. A failed request breaks them, because LoadGen does not support failures.
 * @param startNs start of the measurement
 * @param tokenSample undefined if tokens are not measured
 */
export function judgeMlperf(
  rules: MlperfRules,
  { minQueryCount, minDurationNs }: MlperfRequirements,
  sample: MlperfSample,
  startNs: number,
  tokenSample?: MlperfTokenSample,
): MlperfResult {
  const { queryLatenciesNs: sorted, sampleLatenciesNs, failedCount, failedQueryCount } = sample;
  const queryCount = sorted.length + failedQueryCount;
  const sampleCount = sampleLatenciesNs.length + failedCount;
  const broken: string[] = [];
  if (failedCount > 0) broken.push(`${failedCount} of ${sampleCount} ${plural(sampleCount, "request")} failed`);
  if (queryCount < minQueryCount)
    broken.push(
      `${countOf(queryCount, "query was", "queries were")} sent, ${countOf(minQueryCount, "is", "are")} needed`,
    );
  const durationNs = endOf(rules, sample) - startNs;
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
  const tokens = tokensOf(rules, tokenSample, queryCount, failedQueryCount);
  broken.push(...(tokens?.broken ?? []));
  const { scenario } = rules;
  return defined({
    ...{ scenario, isValid: broken.length === 0, broken, queryCount, sampleCount },
    target,
    earlyStopping: stop,
    p99Stopping: scenario === "single-stream" ? estimatedStop(sorted, 0.99) : undefined,
    ...ratesOf(rules, sample, startNs),
    ...tokenRateOf(rules, sample, startNs, tokenSample),
    tokens: tokens?.times,
    ...(sorted.length === 0 || scenario === "offline" ? {} : summarizeLatency(sorted)),
  });
}

/** Returns the time that counts as the end of a run: the due time of the last query or, without a schedule, its send time. */
function endOf({ scenario }: MlperfRules, { lastEndNs, lastDueNs }: MlperfSample): number {
  return scenario === "offline" ? lastEndNs : lastDueNs;
}

function stopOf(
  { percentile, latencyLimitMs, tokenLimits }: MlperfRules,
  sorted: Float64Array,
  failedCount: number,
): EstimatedStop | LimitedStop | undefined {
  if (percentile === null || tokenLimits !== undefined) return undefined;
  return latencyLimitMs === null
    ? estimatedStop(sorted, percentile / 100)
    : limitedStop(sorted, failedCount, percentile / 100, msToNs(latencyLimitMs));
}

function estimatedStop(sorted: Float64Array, ratio: number): EstimatedStop {
  const neededCount = leastQueries(ratio);
  const estimate = estimateByEarlyStopping(sorted, ratio);
  return defined({ isMet: estimate !== undefined, neededCount, estimate });
}

function explainStop({ percentile }: MlperfRules, stop: EstimatedStop | LimitedStop, queryCount: number): string {
  if ("neededCount" in stop)
    return `early stopping needs ${stop.neededCount} queries for p${percentile}, and ${countOf(queryCount, "was", "were")} sent`;
  return explainLimited(`p${percentile}`, stop, queryCount);
}

const NO_TOKENS: MlperfTokenSample = {
  firstTokenNs: new Float64Array(0),
  perTokenNs: new Float64Array(0),
  tokenCount: 0,
  uncountedCount: 0,
};

function tokensOf(
  { tokenLimits, percentile }: MlperfRules,
  sample: MlperfTokenSample | undefined,
  queryCount: number,
  failedCount: number,
): JudgedTokens | undefined {
  if (tokenLimits === undefined || percentile === null) return undefined;
  return judgeTokens(tokenLimits, percentile, sample ?? NO_TOKENS, { queryCount, failedCount });
}

function targetOf({ percentile, tokenLimits }: MlperfRules, sorted: Float64Array): MlperfResult["target"] {
  if (percentile === null || tokenLimits !== undefined || sorted.length === 0) return undefined;
  return { percentile, latencyNs: nearestRank(sorted, percentile) };
}

/** LoadGen does not count one request, because the last one only ends the time in which the others were sent. */
function ratesOf({ scenario }: MlperfRules, sample: MlperfSample, startNs: number): Partial<MlperfResult> {
  const { sampleLatenciesNs: sorted, lastDueNs, lastEndNs } = sample;
  const count = sorted.length;
  const rate = (number: number, untilNs: number): number => (number * NS_PER_SEC) / (untilNs - startNs);
  if (count < 2) return {};
  switch (scenario) {
    case "single-stream": {
      return { samplesPerSec: rate(count - 1, lastDueNs), withoutOverheadPerSec: 1e9 / meanOf(sorted) };
    }
    case "server":
      return { samplesPerSec: rate(count - 1, lastDueNs), completedPerSec: rate(count - 1, lastEndNs) };
    case "offline":
      return { samplesPerSec: rate(count, lastEndNs) };
    case "multi-stream":
      return {};
  }
}

function tokenRateOf(
  { scenario, tokenLimits }: MlperfRules,
  { lastEndNs }: MlperfSample,
  startNs: number,
  sample: MlperfTokenSample | undefined,
): Pick<MlperfResult, "tokensPerSec"> {
  if (sample === undefined || sample.tokenCount === 0 || sample.uncountedCount > 0) return {};
  if (scenario !== "offline" && tokenLimits === undefined) return {};
  return { tokensPerSec: (sample.tokenCount * NS_PER_SEC) / (lastEndNs - startNs) };
}
