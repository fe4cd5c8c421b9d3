import { LEVEL_UNITS } from "../../load/level-units.ts";
import { gapRatio } from "../../measure/completion-gaps.ts";
import { explainLittlesLaw, hasManyFailed } from "../../measure/in-flight.ts";
import { metricOf } from "../../measure/metrics/catalogue.ts";
import type { Quantity } from "../../measure/metrics/metric.ts";
import { MISSED_RATIO } from "../../measure/rate-shortfall.ts";
import { STABILITY_WINDOWS } from "../../measure/stability.ts";
import type { Text } from "../../plan/messages.ts";
import { isUntilStable, type Plan } from "../../plan/plan.ts";
import { countOf, formatCount, formatDurationNs, formatPct, msToNs, nsToSec, plural } from "../../plan/units.ts";
import { inputKindOf } from "../../registry/input-kinds.ts";
import { loadModeOf, planOfPhase } from "../../registry/load-modes.ts";
import { targetKindOf } from "../../registry/service-kinds.ts";
import { dueCount, isFarBehind } from "../../result/judged-levels.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import type { Note, Severity } from "../model/report-model.ts";
import { describeUndelivered, UNSENT_LOAD } from "./load-delivery.ts";

/** Number of requests that may be due at the very end of a level. */
const FEW_UNSENT = 2;

/** Notes on the load that a reader needs to trust the numbers. Sentences without a full stop. */

/** A finding about a level. */
export interface Finding<T extends Text = string> extends Pick<Note, "code" | "severity" | "metric"> {
  /** One or more sentences, each without a full stop. */
  readonly texts: readonly T[];
  /** Findings of the same kind become one note. Default: metric, code and the texts without numbers */
  readonly kind?: string;
  /** In a note, findings with another cause than the worst one have a separate sentence. Default: the same cause for all */
  readonly cause?: string;
  /** Severity among findings of one note. Default: 0 */
  readonly weight?: number;
  /** Time of the finding, such as `from 2.6 s to 4.1 s`: a note on several levels contains the time of each. */
  readonly when?: string | undefined;
}

/** Returns the texts of {@link findLoad}. */
export function describeLoadNotes(whole: Plan, level: LevelResult): string[] {
  return findLoad(whole, level).flatMap(({ texts }) => texts);
}

/** Returns findings about the load of a level; mostly empty. @param whole the plan of the run, or of the level's phase */
export function findLoad(whole: Plan, level: LevelResult): Finding[] {
  const plan = planOfPhase(whole, level.phase?.index);
  // Compatible modes print only the notes of the original tool.
  const isOwn = whole.behaviour?.measuresFromNothing !== true;
  // A level that ended early is short for another reason.
  const isNoted = isOwn && level.outcome !== "partial";
  const start = isNoted ? describeStart(plan, level) : undefined;
  const isUndelivered = isOwn && describeUndelivered(whole, level) !== undefined;
  const unsent = isUndelivered ? undefined : describeUnsent(level);
  // A note on a number without an assertion is a detail.
  const ofRates: Severity = isAsserted(whole, ["rate"]) ? "caution" : "detail";
  const isSteady = level.phase === undefined || level.phase.index === 0;
  const found: readonly (readonly [code: string, severity: Severity, text: string | undefined])[] = [
    ["gap", "caution", describeGaps(level)],
    [isFarBehind(level) ? UNSENT_LOAD : "requests-not-sent", isFarBehind(level) ? "wrong" : "caution", unsent],
    ["delayed-by-limit", "detail", describeDelayed(plan, level)],
    ["unfinished-ramp", "caution", describeUnfinishedRamp(plan, level)],
    // It makes throughput wrong, which matters if there are no assertions.
    ["cold-start", whole.assertions.length === 0 ? "caution" : ofRates, start],
    // Other notes on a load that was not delivered, and on failures, are more precise. A phase begins with requests of the previous
    // one in flight.
    [
      "littles-law",
      isSteady && isAsserted(whole, ["rate", "time"]) && !isUndelivered && !hasManyFailed(level.window)
        ? "caution"
        : "detail",
      start === undefined ? describeImbalance(plan, level) : undefined,
    ],
    ["short-level", ofRates, isNoted ? describeResolution(plan, level) : undefined],
  ];
  return found.flatMap(([code, severity, text]) => {
    if (text === undefined) return [];
    const isOwnGap = code === "gap" && isOwn;
    const standstill = isOwnGap ? describeStandstill(level) : undefined;
    const texts = [text, ...(isOwnGap ? [standstill ?? "look at the server's log of that time"] : [])];
    const cause = standstill === undefined ? "server" : "client";
    const gap =
      code === "gap" ? { kind: code, cause, when: timesOfGaps(level), weight: gapRatio(level.window, 0) } : {};
    return [{ code, severity, texts, ...gap, ...(OF_THROUGHPUT.has(code) ? { metric: "throughput" } : {}) }];
  });
}

/** Codes of findings that affect only throughput. */
const OF_THROUGHPUT: ReadonlySet<string> = new Set(["gap", "cold-start", "short-level"]);

function isAsserted({ assertions, limits = [] }: Plan, quantities: readonly Quantity[]): boolean {
  return [...assertions, ...limits].some(({ metric }) => quantities.includes(metricOf(metric).quantity));
}

/** Reports a violation of Little's law; undefined if it holds, and for loads that change within a level. */
function describeImbalance({ load }: Plan, { window }: LevelResult): string | undefined {
  return loadModeOf(load).ramp?.(load) === undefined ? explainLittlesLaw(window) : undefined;
}

/** A smaller loss of throughput is noise. */
const LOST_RATIO = 0.05;

/**
 * Reports throughput that is too low because a scheduled load began with no requests in flight, or was measured until its last
 * response; undefined if the effect is small, and for loads that change.
 */
function describeStart({ load, measurement: { mode } }: Plan, { unit, window }: LevelResult): string | undefined {
  const { requestCount, ramp } = loadModeOf(load);
  const { sendingNs, durationNs, sentCount, openBeforeCount, openAfterCount } = window;
  if (!LEVEL_UNITS[unit].isScheduled || ramp?.(load) !== undefined || sendingNs <= 0) return undefined;
  const drainRatio = 1 - sendingNs / durationNs;
  // A fixed duration does not wait for them: if the time is longer, the client was late at its end.
  const isWaiting = mode.kind !== "duration" || mode.graceMs !== undefined;
  if (drainRatio > LOST_RATIO && isWaiting) {
    const perSec = window.requestCount / nsToSec(sendingNs);
    return `throughput includes the wait of ${formatDurationNs(durationNs - sendingNs)} for the last responses; without it, it is ${formatCount(perSec)} requests/s${requestCount === undefined ? ". Measure for a time instead of a number of requests" : ""}`;
  }
  const lost = openBeforeCount > 0 || sentCount === 0 ? 0 : openAfterCount / sentCount;
  if (lost <= LOST_RATIO) return undefined;
  return `the load began with nothing in flight, so throughput is up to ${formatPct(lost)} too low. Warm up first`;
}

/** With fewer rounds or arrivals, one more or fewer changes the throughput by more than a few percent. */
const FEW_ROUNDS = 10;
const FEW_ARRIVALS = 20;

/** Reports a throughput with a coarse resolution, because the level was short compared with its latency; undefined if it was not. */
function describeResolution({ load }: Plan, { unit, level, window }: LevelResult): string | undefined {
  const { requestCount, openBeforeCount } = window;
  if (requestCount === 0 || loadModeOf(load).ramp?.(load) !== undefined || openBeforeCount === 0) return undefined;
  const rounds = LEVEL_UNITS[unit].isScheduled ? requestCount : requestCount / level;
  if (rounds >= (LEVEL_UNITS[unit].isScheduled ? FEW_ARRIVALS : FEW_ROUNDS)) return undefined;
  return `the level is short: throughput is known to ${formatPct(1 / rounds)}. Measure ${Math.ceil(FEW_ROUNDS / rounds)} times as long`;
}

/**
 * Reports prompts that were sent more than once; undefined if each was sent once, and if the data does not consist of prompts.
 * Includes the warm-up, because a server may have cached its prompts.
 */
export function describeRepeats({
  prepared,
  sentCount,
}: Pick<RunResult, "prepared" | "sentCount">): string | undefined {
  const { plan, dataset } = prepared;
  const { makes, hasNoPrompts = false } = inputKindOf(plan.inputs);
  if (targetKindOf(plan.target).hasShortRequests === true) return undefined;
  const isPrompts =
    !hasNoPrompts && (makes === "payloads" || (dataset.isFromJson && plan.outputs.style === "genai-perf"));
  const promptCount = dataset.streams.reduce((sum, steps) => sum + steps.length, 0);
  if (!isPrompts || promptCount === 0 || sentCount <= promptCount) return undefined;
  return `${formatCount(sentCount)} requests were made from ${countOf(promptCount, "prompt")}: a server with a prefix cache answers repeated prompts sooner`;
}

/** Reports requests that were due and not sent within the level; undefined if there are few. */
function describeUnsent(level: LevelResult): string | undefined {
  const { unsentCount = 0 } = level;
  if (unsentCount <= FEW_UNSENT || unsentCount <= dueCount(level) * MISSED_RATIO) return undefined;
  return `${formatCount(unsentCount)} requests were due and not sent when the level ended, because their schedule was behind`;
}

const MOST_GAPS = 3;

/** Reports when no request ended for much longer than usual; undefined if that did not happen. */
function describeGaps(level: LevelResult): string | undefined {
  const [first] = level.window.gaps ?? [];
  if (first === undefined) return undefined;
  return `nothing completed ${timesOfGaps(level)} of the run; a typical gap is ${formatDurationNs(first.typicalNs)}`;
}

/** The client causes a gap if it did not run for at least this ratio of it. */
const STANDSTILL_RATIO = 0.5;

/** Reports that the client did not run in the longest gap, so that the server may not be the cause; undefined if it ran. */
function describeStandstill({ window: { gaps = [], health } }: LevelResult): string | undefined {
  const longestNs = Math.max(...gaps.map(({ startNs, endNs }) => endNs - startNs));
  if (health.loopLagMaxNs < STANDSTILL_RATIO * longestNs) return undefined;
  return `the client itself did not run for ${formatDurationNs(health.loopLagMaxNs)}: look at what else ran on its host`;
}

function timesOfGaps({ window: { gaps = [] } }: LevelResult): string {
  return formatTimes(gaps);
}

/** Formats times in a run: `from 2.0 s to 5.0 s (3.0 s)`. @param times since its start */
export function formatTimes(times: readonly { readonly startNs: number; readonly endNs: number }[]): string {
  const inSec = (ns: number): string => `${nsToSec(ns).toFixed(1)} s`;
  const shown = times.slice(0, MOST_GAPS).map(({ startNs, endNs }) => {
    return `from ${inSec(startNs)} to ${inSec(endNs)} (${inSec(endNs - startNs)})`;
  });
  return `${shown.join(", ")}${times.length > MOST_GAPS ? ` and ${countOf(times.length - MOST_GAPS, "time")} more` : ""}`;
}

/** Reports requests delayed by a limit on outstanding requests; undefined if there are none. */
function describeDelayed({ load }: Plan, { delayedByLimit }: LevelResult): string | undefined {
  const maxOutstanding = loadModeOf(load).maxOutstanding?.(load);
  if (maxOutstanding === undefined || delayedByLimit === undefined || delayedByLimit.longestNs <= 0) return undefined;
  const { count, longestNs } = delayedByLimit;
  return `${countOf(count, "request was", "requests were")} due while ${formatCount(maxOutstanding)} ${plural(maxOutstanding, "was", "were")} in flight, and ${plural(count, "was", "were")} delayed by ${formatDurationNs(longestNs)} at most`;
}

/** Reports that the load never reached the requested one; undefined if it did. */
function describeUnfinishedRamp({ load, measurement }: Plan, { window, trials }: LevelResult): string | undefined {
  const ramp = loadModeOf(load).ramp?.(load);
  const rampNs = ramp === undefined || ramp.isWhole === true ? 0 : msToNs(ramp.overMs);
  // The load continues from window to window, but the result contains only the last windows.
  const elapsedNs = isUntilStable(measurement.mode)
    ? (window.durationNs * trials) / Math.min(trials, STABILITY_WINDOWS)
    : window.durationNs;
  // Without a window, there is no time to compare.
  if (!(elapsedNs < rampNs)) return undefined;
  return `the measurement ended after ${formatDurationNs(elapsedNs)}, before the ramp of ${formatDurationNs(rampNs)} reached the load`;
}

/** Reports sessions that ended before their last turn; undefined if there are none. */
export function describeCutSessions(sessions: RunResult["sessions"]): string | undefined {
  if (sessions === undefined || sessions.cutCount === 0) return undefined;
  const { cutCount, sessionCount, unsentCount, unreadReason } = sessions;
  const first = unreadReason === undefined ? "" : ` (the first response that could not be continued: ${unreadReason})`;
  return `${formatCount(cutCount)} of ${countOf(sessionCount, "session")} ended early, because a turn failed or its response could not be read${first}; ${countOf(unsentCount, "turn was", "turns were")} not sent`;
}

type Counts = Pick<RunResult, "resendCount" | "sentCount">;

/** Above this ratio of requests, Rampart's native reports warn about requests that were sent again. */
const MANY_RESENT = 0.001;

/** Describes the resent requests in a sentence without a full stop; undefined if there are none. */
export function describeResends({ resendCount }: Pick<Counts, "resendCount">): string | undefined {
  if (resendCount === 0) return undefined;
  const requests = countOf(resendCount, "request was", "requests were");
  return `${requests} sent again, because the server closed the kept connection before it answered ${plural(resendCount, "it", "them")}; each counts once, and its time runs from the first send`;
}

/** Describes the resent requests if they are more than 0.1 % of all; otherwise undefined. */
export function warnOfResends(counts: Counts): string | undefined {
  return counts.resendCount > MANY_RESENT * counts.sentCount ? describeResends(counts) : undefined;
}

/** Above this ratio of requests over a new connection, the times of native reports include connecting at p99 already. */
const MANY_RECONNECTED = 0.01;

/**
 * Returns the number of connections that were opened because the server had closed others between requests. Failed and cancelled
 * requests may have lost theirs.
 */
function countReconnects(result: RunResult): number {
  const { connectionCount, slotCount, servers } = result;
  const unaskedCount = result.received?.unaskedCount ?? 0;
  const lost = result.resendCount + result.failedCount + result.cancelledCount + unaskedCount;
  return connectionCount - slotCount * (servers?.length ?? 1) - lost;
}

/** Describes connections that the server closed between requests in a sentence without a full stop; undefined if there are none. */
export function describeReconnects(result: RunResult): string | undefined {
  // One more may be a connection for queries.
  if (countReconnects(result) <= 1) return undefined;
  const { connectionCount, sentCount } = result;
  return `the server closed connections between requests: ${formatCount(connectionCount)} were opened for ${countOf(sentCount, "request")}, whose times include that`;
}

/** Describes such connections, and a remedy, if they are more than 1 % of the requests; otherwise undefined. */
export function warnOfReconnects(result: RunResult): string | undefined {
  if (countReconnects(result) <= MANY_RECONNECTED * result.sentCount) return undefined;
  const text = describeReconnects(result);
  return text && `${text}. Let it keep connections, unless its users open new ones as often`;
}

/** Describes connections on which the server sent a response too many; undefined if there are none. */
export function describeUnasked({ received }: Pick<RunResult, "received">): string | undefined {
  const count = received?.unaskedCount ?? 0;
  if (count === 0) return undefined;
  return `${countOf(count, "connection was", "connections were")} dropped, because the server sent bytes that no request had asked for. When the next request is in flight already, they count as its response, and its time is wrong. Raise the server's keep-alive timeout if they have the status 408, otherwise repair it`;
}
