import type { PreparedLoad } from "../load/load-mode.ts";
import { nsToMs } from "../plan/units.ts";
import { type RunObserver, reportWait } from "../result/observer.ts";
import type { LevelResult, PreparedRun, RunResult } from "../result/run-result.ts";
import { nowNs, sleepMs, toEpochNs } from "../runtime/clock.ts";
import type { ServerCounters } from "../service/server-counters.ts";
import type { EarlyAbort } from "./conduct/early-abort.ts";
import { findMaxOf } from "./conduct/found-levels.ts";
import { awaitDelta } from "./conduct/settled-delta.ts";
import { withinOf } from "./conduct/step.ts";
import type { RunSignal } from "./interrupt.ts";
import type { FailurePolicy } from "./judge/failure-policy.ts";
import type { Session } from "./open/session.ts";
import { drainLimitNs, endsDrain } from "./send/end-waits.ts";
import type { ClosedSender, LoadSender, SenderTotals } from "./send/messages.ts";

/** Maximum wait for outstanding requests after an error. */
const FAILED_GRACE_MS = 1000;

/** The parts of a run that its end needs. */
export interface RunEnding {
  readonly observer: Pick<RunObserver, "onWait">;
  readonly session: Session;
  readonly sender: Pick<LoadSender, "stop" | "close" | "progress" | "until">;
  readonly signal: RunSignal;
  readonly policy: Pick<FailurePolicy, "log" | "laneErrors">;
  readonly abort: Pick<EarlyAbort, "broken"> | undefined;
  readonly search: PreparedLoad["search"];
  readonly prepared: PreparedRun;
}

/** What a run has measured when it ends. */
export interface MeasuredParts {
  readonly levels: readonly LevelResult[];
  readonly phased: RunResult["phased"] | undefined;
  readonly warmup: NonNullable<RunResult["warmup"]>;
  readonly totals: SenderTotals;
  readonly server: RunResult["server"];
  readonly startNs: number;
}

/**
 * Stops sending and waits for outstanding requests, so that the server's counts and ours agree; briefly after an error or an interrupt.
 * @param isOpen whether a load has been started
 */
export async function shutDown(ending: RunEnding, isOpen: boolean): Promise<ClosedSender> {
  const { sender, signal, observer, prepared } = ending;
  if (isOpen) {
    const failed = signal.failed.then(() => sleepMs(FAILED_GRACE_MS));
    const wait = Promise.race([sender.stop(), failed, signal.graceOver]);
    const isLimited = endsDrain(prepared.plan);
    await (isLimited ? reportWait(observer, nsToMs(drainLimitNs(sender.progress().longestNs)), wait) : wait);
  }
  return sender.close(cancelReason(signal));
}

/** Returns why requests in flight are cancelled at the end of a run; undefined when it did not end early. */
export function cancelReason(signal: RunSignal): string | undefined {
  const end = endOf(signal);
  return end && `cancelled without its complete response when the run ${end}`;
}

/** Returns how this client ended the run, in words; undefined when it did not. */
function endOf({ isAborted, isInterrupted, error }: RunSignal): string | undefined {
  if (isAborted) return "was aborted";
  if (isInterrupted) return "was interrupted";
  return error?.code === "host-limit" ? "reached a limit of its host" : undefined;
}

/** Returns the increase of the server's counters over the whole run; undefined when the server cannot be queried. */
export async function serverDelta(
  { session, sender, signal }: RunEnding,
  before: ServerCounters[] | undefined,
): Promise<RunResult["server"]> {
  if (before === undefined || (signal.error !== undefined && !signal.isAborted)) return undefined;
  const settled = await awaitDelta(session, before, sender.progress().completedCount).catch(() => undefined);
  return settled?.delta;
}

/** Composes the result of a run that has ended. */
export async function composeResult(ending: RunEnding, parts: MeasuredParts): Promise<RunResult> {
  const { sender, signal, policy, abort } = ending;
  const { phased, warmup, totals, server, startNs } = parts;
  const { sentCount, completedCount, failedCount, cancelledCount } = await sender.until({ kind: "now" });
  return {
    prepared: ending.prepared,
    ...foundLevels(ending, parts.levels),
    ...{ sentCount, completedCount, failedCount, cancelledCount },
    failures: policy.log.list(),
    ...(warmup.sentCount > 0 ? { warmup } : {}),
    ...(phased === undefined ? {} : { phased }),
    ...totals,
    server,
    isInterrupted: signal.isInterrupted,
    error: signal.error,
    ...(abort?.broken === undefined ? {} : { aborted: abort.broken }),
    laneErrors: policy.laneErrors,
    startEpochNs: toEpochNs(startNs),
    durationNs: nowNs() - startNs,
  };
}

/** Returns the levels, those of a search in ascending order with the result of the search. */
function foundLevels(
  { search, signal, prepared }: RunEnding,
  levels: readonly LevelResult[],
): Pick<RunResult, "levels" | "findMax"> {
  if (search.search !== "highest") return { levels };
  const findMax = findMaxOf(levels, !signal.isStopped, withinOf(prepared.plan.measurement.mode));
  return { levels: levels.toSorted((a, b) => a.level - b.level), findMax };
}
