import type { MlperfRules } from "../../load/load-mode.ts";
import { countOf, formatCount, formatDurationNs, msToNs } from "../../plan/units.ts";
import { explainLimited, type LimitedStop, limitedStop } from "./early-stopping.ts";
import { type MlperfLatency, nearestRank, summarizeLatency } from "./latency-statistics.ts";
import type { MlperfTokenSample } from "./token-sample.ts";

/**
 * One of the two times of a stream that MLPerf limits. The statistics, including the limited percentile, are absent if no
 * request has a value.
 */
export interface MlperfTokenTime extends Partial<MlperfLatency> {
  /** Number of requests with a value. */
  readonly count: number;
  readonly limitNs: number;
  readonly target?: { readonly percentile: number; readonly latencyNs: number };
  /** A request without a value counts as over the limit. */
  readonly earlyStopping: LimitedStop;
}

/** LoadGen's TTFT and TPOT. */
export interface MlperfTokenTimes {
  /** Measured from the time at which a request was due. */
  readonly timeToFirstToken: MlperfTokenTime;
  /** Time between the tokens after the first. */
  readonly timePerOutputToken: MlperfTokenTime;
}

/** Names of the two times in reports. */
export const TOKEN_TIME_LABELS: Readonly<Record<keyof MlperfTokenTimes, string>> = {
  timeToFirstToken: "time to first token",
  timePerOutputToken: "time per output token",
};

/** Result of judging the tokens of a run. */
export interface JudgedTokens {
  readonly times: MlperfTokenTimes;
  /** The rules that are not met, one sentence each, without a full stop. */
  readonly broken: readonly string[];
}

/**
 * Judges TTFT and TPOT by LoadGen's rules for `use_token_latencies`: each percentile must be within its limit, and early
 * stopping must be met for each. LoadGen has no TPOT for a response of fewer than two tokens and treats it as an error; here it
 * counts as over the limit.
 * @param queryCount requests of the run, including failed ones
 * @param failedCount number of these that failed
 */
export function judgeTokens(
  limits: NonNullable<MlperfRules["tokenLimits"]>,
  percentile: number,
  { firstTokenNs, perTokenNs, uncountedCount }: MlperfTokenSample,
  { queryCount, failedCount }: { readonly queryCount: number; readonly failedCount: number },
): JudgedTokens {
  const judge = (sorted: Float64Array, limitMs: number): MlperfTokenTime =>
    judgeTime(sorted, queryCount, percentile, msToNs(limitMs));
  const times = {
    timeToFirstToken: judge(firstTokenNs, limits.timeToFirstTokenMs),
    timePerOutputToken: judge(perTokenNs, limits.timePerOutputTokenMs),
  };
  const isNew = (lacking: number): boolean => lacking > failedCount;
  const lackingFirst = queryCount - firstTokenNs.length;
  const lackingPer = queryCount - perTokenNs.length;
  const of = formatCount(queryCount);
  const broken: string[] = [];
  if (uncountedCount > 0)
    broken.push(`the number of tokens of ${countOf(uncountedCount, "response")} is unknown, so name a tokenizer`);
  if (isNew(lackingFirst))
    broken.push(`${formatCount(lackingFirst)} of ${of} requests failed or have no streamed token`);
  if (isNew(lackingPer) && lackingPer > lackingFirst + uncountedCount)
    broken.push(`${formatCount(lackingPer)} of ${of} requests failed or have fewer than two tokens`);
  for (const name of ["timePerOutputToken", "timeToFirstToken"] as const)
    broken.push(...explainTime(`p${percentile} of ${TOKEN_TIME_LABELS[name]}`, times[name], queryCount));
  return { times, broken };
}

function judgeTime(sorted: Float64Array, queryCount: number, percentile: number, limitNs: number): MlperfTokenTime {
  return {
    count: sorted.length,
    limitNs,
    ...(sorted.length === 0 ? {} : { target: { percentile, latencyNs: nearestRank(sorted, percentile) } }),
    earlyStopping: limitedStop(sorted, queryCount - sorted.length, percentile / 100, limitNs),
    ...(sorted.length === 0 ? {} : summarizeLatency(sorted)),
  };
}

function explainTime(what: string, { earlyStopping, target, limitNs }: MlperfTokenTime, queryCount: number): string[] {
  const broken = earlyStopping.isMet ? [] : [explainLimited(what, earlyStopping, queryCount)];
  if (target !== undefined && target.latencyNs > limitNs)
    broken.push(`${what} is ${formatDurationNs(target.latencyNs)}, over the limit of ${formatDurationNs(limitNs)}`);
  return broken;
}
