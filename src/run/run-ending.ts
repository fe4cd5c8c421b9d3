import { nsToMs } from "../plan/units.ts";
import { type RunObserver, reportWait } from "../result/observer.ts";
import type { PreparedRun, RunResult } from "../result/run-result.ts";
import { nowNs, sleepMs, toEpochNs } from "../runtime/clock.ts";
import type { ServerCounters } from "../service/server-counters.ts";
import type { EarlyAbort } from "./conduct/early-abort.ts";
import { awaitDelta } from "./conduct/settled-delta.ts";
import type { RunSignal } from "./interrupt.ts";
import type { FailureLimits } from "./judge/failure-limits.ts";
import type { ConductorParts } from "./run-parts.ts";
import { drainLimitNs, endsDrain } from "./send/end-waits.ts";
import type { ClosedSender, LoadSender, SenderTotals } from "./send/messages.ts";

/** Maximum wait for outstanding requests after an error. */
const FAILED_GRACE_MS = 1000;

/** Parts of a run that are needed at its end. */
export interface RunEnding extends Pick<ConductorParts, "session" | "signal" | "delayNs"> {
  readonly observer: Pick<RunObserver, "onWait">;
  readonly sender: Pick<LoadSender, "stop" | "close" | "progress" | "until">;
  readonly failureLimits: Pick<FailureLimits, "log" | "laneErrors">;
  readonly abort: Pick<EarlyAbort, "broken"> | undefined;
  readonly prepared: PreparedRun;
}

/**
 * Stops sending and waits for outstanding requests, so that the server's counts and the client's agree; briefly after an error or an
 * interrupt.
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

/** Returns why requests in flight are cancelled at the end of a run; undefined when the run did not end early. */
export function cancelReason(signal: RunSignal): string | undefined {
  const end = endOf(signal);
  return end && `cancelled without its complete response when the run ${end}`;
}

/** Returns how this client ended the run, in words; undefined when the run ended by itself. */
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

/** Outcome of a run and its total counts. */
type EndedRun = Omit<RunResult, "levels" | "findMax" | "warmup" | "phased" | "server" | keyof SenderTotals>;

/** Describes the end of a run, without its measurements. @param startNs start of the run */
export async function describeEnd(ending: RunEnding, startNs: number): Promise<EndedRun> {
  const { sender, signal, failureLimits, abort, prepared, delayNs = 0 } = ending;
  const { sentCount, completedCount, failedCount, cancelledCount } = await sender.until({ kind: "now" });
  return {
    prepared,
    ...{ sentCount, completedCount, failedCount, cancelledCount },
    failures: failureLimits.log.list(),
    isInterrupted: signal.isInterrupted,
    error: signal.error,
    ...(abort?.broken === undefined ? {} : { aborted: abort.broken }),
    laneErrors: failureLimits.laneErrors,
    startEpochNs: toEpochNs(startNs, delayNs),
    durationNs: nowNs() - delayNs - startNs,
  };
}
