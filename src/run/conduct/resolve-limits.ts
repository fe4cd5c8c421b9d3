import { sentPerSec } from "../../measure/derived-values.ts";
import { combineStates, judgeLimits, type LimitVerdict } from "../../measure/limits/judge-limits.ts";
import { planLooks, requestsToKeep } from "../../measure/limits/looks.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { mergeInTime } from "../../measure/merge.ts";
import { describeLateSends, isRateMissed } from "../../measure/rate-shortfall.ts";
import { isUpperLimit } from "../../measure/verdict-state.ts";
import type { JudgedLevel } from "../../measure/verdicts.ts";
import type { AssertionPlan } from "../../plan/assertions.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatCount, plural } from "../../plan/units.ts";
import { loadModeOf } from "../../registry/load-modes.ts";
import type { LevelLimits } from "../../result/run-result.ts";

/** Measures a level window by window, until the plan's limits are certainly kept or broken. */

/** When less than this ratio of the rate is missing, the requested load counts as sent. */
const MISSED_RATE_RATIO = 0.05;

/** After this part of the longest time, a level is left undecided when the rest of the time cannot decide it. */
const LEAST_PART = 0.25;
/** The rest of the time may have this many times the requests per second, at most. */
const MORE_REQUESTS = 1.5;

/** Dependencies of {@link resolveLimits}. */
export interface ResolvingParts {
  readonly plan: Plan;
  readonly level: number;
  readonly batchSize: number;
  readonly windowMs: number;
  readonly maxMs: number;
  /** Whether requests wait for nothing from their due time on, so that only a late client delays their send. Default: false */
  readonly sendsWhenDue?: boolean;
  /** Waits for the end of the next window and returns it; undefined when the run has stopped. */
  nextWindow(trial: number): Promise<Measurement | undefined>;
}

/** A level whose limits were judged. */
export interface ResolvedLevel {
  readonly windows: readonly Measurement[];
  readonly limits: LevelLimits;
}

/**
 * Measures until the limits are resolved, the longest time has passed, or the rest of it gives too few requests to resolve them. The limits are judged a few times, so that all judgements together
 * have the stated error: see `planLooks`.
 * @returns undefined when the run has stopped
 */
export async function resolveLimits(parts: ResolvingParts): Promise<ResolvedLevel | undefined> {
  const { windowMs, maxMs } = parts;
  const windows: Measurement[] = [];
  const looks = planLooks(maxMs / windowMs);
  for (;;) {
    const window = await parts.nextWindow(windows.length + 1);
    if (window === undefined) return undefined;
    windows.push(window);
    const look = looks.find(({ windowCount }) => windowCount === windows.length);
    if (look === undefined) continue;
    const limits = judgeLevel(parts, { level: parts.level, window: mergeInTime(windows) }, look.error);
    const isLast = look === looks.at(-1);
    if (limits.state !== "unresolved" || isLast || isOutOfReach(limits.verdicts, windows, maxMs / windowMs))
      return { windows, limits };
  }
}

/**
 * Reports whether the longest time gives too few requests to show that a percentile keeps its limit, while no limit is shown to be broken.
 * @param most windows of the longest time
 */
function isOutOfReach(verdicts: readonly LimitVerdict[], windows: readonly Measurement[], most: number): boolean {
  if (windows.length < LEAST_PART * most) return false;
  const count = windows.reduce((sum, { requestCount }) => sum + requestCount, 0);
  const mostCount = MORE_REQUESTS * count * (most / windows.length);
  const open = verdicts.filter(({ state }) => state !== "kept");
  const isTooFew = ({ limit: { metric, comparison }, aboveRatio }: LimitVerdict): boolean =>
    aboveRatio === 0 && isUpperLimit(comparison) && mostCount < requestsToKeep(metric.statistic as number, most);
  return open.length > 0 && open.every(isTooFew);
}

/** Judges a level as far as it has been measured. @param error probability of a wrong decision, for each side */
function judgeLevel(parts: ResolvingParts, level: JudgedLevel, error: number): LevelLimits {
  const { plan, batchSize } = parts;
  const { window } = level;
  const verdicts = judgeLimits(plan.limits ?? [], level, batchSize, error);
  if (window.requestCount === 0 && window.failedCount > 0)
    return {
      state: "broken",
      verdicts,
      reason: `${plural(window.failedCount, "the only request", `all ${window.failedCount} requests`)} failed`,
    };
  const state = combineStates(verdicts.map((verdict) => verdict.state));
  const reason = state === "broken" ? explainLateSends(parts, level, error) : explainMissedRate(plan, level);
  return reason === undefined ? { state, verdicts } : { state: "unresolved", verdicts, reason };
}

/**
 * Returns why a broken limit is not the server's fault; undefined when it is: times from the send break a limit too. Times from the due time
 * also contain the time by which the client is late.
 */
function explainLateSends(
  { plan: { limits = [] }, batchSize, sendsWhenDue }: ResolvingParts,
  level: JudgedLevel,
  error: number,
): string | undefined {
  if (!sendsWhenDue) return undefined;
  const fromSend = limits.map((limit): AssertionPlan => {
    const { metric } = limit;
    return metric.key === "scheduledLatency" ? { ...limit, metric: { ...metric, key: "latency" } } : limit;
  });
  const states = judgeLimits(fromSend, level, batchSize, error).map(({ state }) => state);
  if (combineStates(states) === "broken") return undefined;
  const late = describeLateSends(level.window);
  return late && `the client was late: ${late}`;
}

/** Returns why a level did not send the requested load; undefined when it did. */
function explainMissedRate({ load }: Plan, { level, window }: JudgedLevel): string | undefined {
  const arrivals = loadModeOf(load).arrivals?.(load);
  if (arrivals === undefined) return undefined;
  const asked = { perSec: level, gapDeviationRatio: arrivals.gapDeviationRatio };
  const sent = sentPerSec(window) ?? 0;
  if (!isRateMissed(sent, asked, window.sendingNs, MISSED_RATE_RATIO)) return undefined;
  return `only ${formatCount(sent)} of ${formatCount(level)} requests/s were sent`;
}
