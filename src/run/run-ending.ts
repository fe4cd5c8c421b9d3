import type { PreparedLoad } from "../load/load-mode.ts";
import type { LevelResult, PreparedRun, RunResult } from "../result/run-result.ts";
import { nowNs, sleepMs, toEpochNs } from "../runtime/clock.ts";
import type { ServerCounters } from "../service/statistics.ts";
import type { LevelMeter } from "./conduct/level-meter.ts";
import { findMaxOf } from "./conduct/level-search.ts";
import { awaitDelta } from "./conduct/settled-delta.ts";
import type { FailurePolicy } from "./judge/failure-policy.ts";
import type { Session } from "./open/session.ts";
import type { RunSignal } from "./run-signal.ts";
import type { Driver } from "./send/driver.ts";
import type { SessionFeed } from "./send/session-feed.ts";

/** Maximum wait for outstanding requests after an error. */
const FAILED_GRACE_MS = 1000;

/** The parts of a run that its end needs. */
export interface RunEnding {
  readonly session: Session;
  readonly driver: Pick<Driver, "stop" | "close" | "ended" | "client" | "sentCount">;
  readonly signal: RunSignal;
  readonly policy: Pick<FailurePolicy, "log" | "laneErrors">;
  readonly meter: Pick<LevelMeter, "abort">;
  readonly search: PreparedLoad["search"];
  readonly prepared: PreparedRun;
}

/** What a run has measured when it ends. */
export interface MeasuredParts {
  readonly levels: readonly LevelResult[];
  readonly phased: RunResult["phased"] | undefined;
  readonly warmup: NonNullable<RunResult["warmup"]>;
  readonly sessions: Pick<SessionFeed, "tally"> | undefined;
  readonly server: RunResult["server"];
  readonly startNs: number;
}

/**
 * Stops sending and waits for outstanding requests, so that the server's counts and ours agree; briefly after an error or an interrupt.
 * @param isDriverOpen whether a load has been started
 */
export async function shutDown({ driver, signal }: RunEnding, isDriverOpen: boolean): Promise<void> {
  if (isDriverOpen) {
    const failed = signal.failed.then(() => sleepMs(FAILED_GRACE_MS));
    await Promise.race([driver.stop(), failed, signal.graceOver]);
  }
  driver.close(cancelReason(signal));
}

/** Returns why requests in flight are cancelled at the end of a run; undefined when it did not end early. */
export function cancelReason(signal: RunSignal): string | undefined {
  const end = endOf(signal);
  return end && `cancelled without its complete answer when the run ${end}`;
}

/** Returns how this client ended the run, in words; undefined when it did not. */
function endOf({ isAborted, isInterrupted, error }: RunSignal): string | undefined {
  if (isAborted) return "was aborted";
  if (isInterrupted) return "was interrupted";
  return error?.code === "host-limit" ? "reached a limit of its host" : undefined;
}

/** Returns the increase of the server's counters over the whole run; undefined when the server cannot be queried. */
export async function serverDelta(
  { session, driver, signal }: RunEnding,
  before: ServerCounters[] | undefined,
): Promise<RunResult["server"]> {
  if (before === undefined || (signal.error !== undefined && !signal.isAborted)) return undefined;
  const settled = await awaitDelta(session, before, driver.ended.completedCount).catch(() => undefined);
  return settled?.delta;
}

/** Composes the result of a run that has ended. */
export function composeResult(ending: RunEnding, parts: MeasuredParts): RunResult {
  const { driver, signal, policy, meter } = ending;
  const { phased, warmup, sessions, server, startNs } = parts;
  return {
    prepared: ending.prepared,
    ...foundLevels(ending, parts.levels),
    sentCount: driver.sentCount,
    completedCount: driver.ended.completedCount,
    failedCount: driver.ended.failedCount,
    cancelledCount: driver.ended.cancelledCount,
    failures: policy.log.list(),
    ...(warmup.sentCount > 0 ? { warmup } : {}),
    ...(phased === undefined ? {} : { phased }),
    connectionCount: driver.client.connectionCount,
    resendCount: driver.client.resendCount,
    ...receivedBy(driver.client),
    servers: driver.client.servers,
    sessions: sessions?.tally,
    server,
    isInterrupted: signal.isInterrupted,
    error: signal.error,
    ...(meter.abort?.broken === undefined ? {} : { aborted: meter.abort.broken }),
    laneErrors: policy.laneErrors,
    startEpochNs: toEpochNs(startNs),
    durationNs: nowNs() - startNs,
  };
}

function receivedBy({ received }: Driver["client"]): Pick<RunResult, "received"> {
  if (received === undefined) return {};
  const counted = [...received.statusCounts.entries()].filter(([, count]) => count > 0);
  return { received: { bytes: received.bytes, statuses: Object.fromEntries(counted) } };
}

/** Returns the levels, those of a search in ascending order with the answer of the search. */
function foundLevels(
  { search, signal }: RunEnding,
  levels: readonly LevelResult[],
): Pick<RunResult, "levels" | "findMax"> {
  if (search.search !== "highest") return { levels };
  return { levels: levels.toSorted((a, b) => a.level - b.level), findMax: findMaxOf(levels, !signal.isStopped) };
}
