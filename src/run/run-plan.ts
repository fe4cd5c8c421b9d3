import type { HeldEntries } from "../inputs/held-entries.ts";
import type { TokenLink } from "../measure/tokens/token-link.ts";
import { functionNamesOf } from "../plan/functions.ts";
import type { Plan } from "../plan/plan.ts";
import { UserError } from "../plan/problem.ts";
import { findConflicts } from "../registry/conflicts.ts";
import { prepareLoad } from "../registry/load-modes.ts";
import type { RunObserver } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";
import { nowNs, systemClock } from "../runtime/clock.ts";
import type { FunctionsSource } from "../scenario/thread-functions.ts";
import { Conductor } from "./conduct/conductor.ts";
import { openThreads, type SenderThreads } from "./fleet/open-threads.ts";
import { findUndivided } from "./fleet/undivided.ts";
import { withFollowers } from "./followers.ts";
import { checkSources, hostLimitsOf } from "./host-limits.ts";
import { RunSignal } from "./interrupt.ts";
import { timestampsOf } from "./open-sender.ts";
import { measuresTokens, openSending } from "./open-sending.ts";
import { ALONE, type Peers } from "./peers/peers.ts";
import type { RunParts } from "./run-parts.ts";
import { openServerMetrics, type ServerMetrics } from "./server-metrics.ts";

/** A run that can be interrupted. */
export interface RunningPlan {
  /** Resolves with the result, also after an interrupt or an error during the run. Rejects when the run could not begin. */
  readonly result: Promise<RunResult>;
  /** Ends the run early with a partial result. */
  interrupt(): void;
}

/** What a run needs besides its plan. */
export interface RunOptions {
  /** Creates the run's observer, once, before the target is contacted; may reject. */
  openObserver(): Promise<RunObserver>;
  /**
   * Rejects when the plan is not valid. Called outside of measured time, after the load has begun: front ends validate user input
   * themselves, so this only guards against their defects.
   */
  check(): Promise<unknown>;
  /** The other processes of the measurement. Default: none. */
  readonly peers?: Peers | undefined;
  /** Measures the tokens of responses and stays open. Default: a separate thread for the run, if the plan measures tokens. */
  readonly meter?: TokenLink | undefined;
  /** The entries of the plan's input file. Default: the file is read. */
  readonly held?: HeldEntries | undefined;
  /** Where other threads find the plan's functions. Default: the plan names none. */
  readonly functions?: FunctionsSource | undefined;
}

/**
 * Starts a plan's run: connects to the target and sends the first request as soon as possible. Before that it refuses parts of the
 * plan that do not fit together.
 */
export function startPlan(plan: Plan, options: RunOptions): RunningPlan {
  const signal = new RunSignal();
  return { result: runPlan(plan, signal, options), interrupt: () => signal.interrupt() };
}

async function runPlan(
  plan: Plan,
  signal: RunSignal,
  { openObserver, check, peers = ALONE, meter, held, functions: source }: RunOptions,
): Promise<RunResult> {
  const conflicts = findConflicts(plan);
  if (conflicts.length > 0) throw new UserError(conflicts);
  await checkSources(plan);
  const load = prepareLoad(plan.load);
  const hostLimits = hostLimitsOf(plan, load.search);
  const observer = await openObserver();
  const { maxOutstanding } = hostLimits;
  const { workers: count = 1 } = plan.client;
  const functions = functionNamesOf(plan).length > 0 ? source : undefined;
  const undivided = count > 1 ? findUndivided(plan, observer, functions) : [];
  if (undivided.length > 0) throw new UserError(undivided);
  const sendsElsewhere = count > 1;
  const sending = await openSending(plan, { observer, load, signal, held, meter, maxOutstanding, sendsElsewhere });
  let metrics: ServerMetrics | undefined;
  let threads: SenderThreads | undefined;
  try {
    const { session, groups, tokens, sessions, laneCount } = sending;
    if (sendsElsewhere) {
      const wantsRecords =
        observer.onBatch !== undefined || plan.assertions.some((one) => one.abortAfterMs !== undefined);
      threads = await openThreads(sending.served, { count, signal, maxOutstanding, wantsRecords, functions });
    }
    const startNs = nowNs();
    if (plan.telemetry.metrics !== null) metrics = openMetrics(plan, observer);
    const parts: RunParts = { plan, observer, load, session, groups };
    const conducting = {
      ...{
        signal,
        clock: systemClock,
        laneCount,
        hasTokens: tokens !== undefined || (threads !== undefined && measuresTokens(plan)),
        hostLimits,
      },
      turnCount: sessions?.turnCount,
      timestampsMs: timestampsOf(parts),
      poller: metrics?.poller,
      ...{ peers, startNs, check },
    };
    return await withFollowers({ ...parts, signal, tokens }, (followers) =>
      new Conductor({
        ...{ ...parts, ...conducting, observer: followers },
        createSender: (listener) => threads?.createSender(listener) ?? sending.createSender(listener, followers),
      }).execute(),
    );
  } finally {
    metrics?.close();
    await threads?.close();
    await sending.close();
  }
}

function openMetrics(plan: Plan, observer: RunObserver): ServerMetrics | undefined {
  return openServerMetrics(plan, {
    warn: (warning) => observer.onWarning?.(warning),
    onReading: (reading) => observer.onMetrics?.(reading),
  });
}
