import type { PhasedLoad } from "../load/load-mode.ts";
import { hasPhases } from "../load/phases.ts";
import { functionsOf, withoutCalls } from "../plan/functions.ts";
import type { Plan } from "../plan/plan.ts";
import { UserError } from "../plan/problem.ts";
import { findConflicts } from "../registry/conflicts.ts";
import { holdInputs } from "../registry/input-kinds.ts";
import { prepareLoad } from "../registry/load-modes.ts";
import type { RunObserver } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";
import { nowNs, systemClock } from "../runtime/clock.ts";
import type { FunctionsSource } from "../scenario/thread-functions.ts";
import { Conductor } from "./conduct/conductor.ts";
import { mayAbort } from "./conduct/early-abort.ts";
import { toRunError } from "./conduct/run-error.ts";
import type { Agents } from "./fleet/bus/open-agents.ts";
import { GrowingFleet, mostThreads } from "./fleet/growing-fleet.ts";
import { type Fleet, openFleet } from "./fleet/open-fleet.ts";
import type { FleetOptions } from "./fleet/seat-sender.ts";
import { findUndivided } from "./fleet/undivided.ts";
import { joinRequests, sharesMeter, wantedRequests } from "./fleet/wanted-requests.ts";
import { withFollowers } from "./followers.ts";
import { checkSources, type HostLimits, hostLimitsOf, limitKeptResponses } from "./host-limits.ts";
import { RunSignal } from "./interrupt.ts";
import type { MadeInputs, Session } from "./open/session.ts";
import { measuresTokens, openSending, type Sending, type SendingOptions, timestampsOf } from "./open-sending.ts";
import { ALONE, type Peers } from "./peers/peers.ts";
import type { RunParts } from "./run-parts.ts";
import { openServerMetrics, type ServerMetrics } from "./server-metrics.ts";

/** Options for opening a run, besides its plan. */
export interface OpenOptions extends Pick<SendingOptions, "meter" | "held" | "spare"> {
  /** Creates the run's observer, once, before the target is contacted; may reject. */
  openObserver(): Promise<RunObserver>;
  /**
   * Rejects when the plan is not valid. Called outside measured time, after the load has begun, for a front door that starts without
   * checking. Absent: the front door has checked the plan.
   */
  check?: (() => Promise<unknown>) | undefined;
  /** Source of the plan's functions for other threads. Default: the plan has none. */
  readonly functions?: FunctionsSource | undefined;
}

/** A plan with an open target and the senders of its load. */
interface OpenRun {
  readonly parts: RunParts;
  readonly sending: Sending;
  /** Senders in other threads or on other hosts; undefined: this thread sends. */
  readonly fleet: GrowingFleet | undefined;
  /** The fleet, if it may grow. */
  readonly growth: GrowingFleet | undefined;
  /** Single requests that are wanted from a fleet. */
  readonly requests: ReturnType<typeof wantedRequests> | undefined;
  readonly hostLimits: HostLimits;
  readonly metrics: ServerMetrics | undefined;
  /** Time at which everything was open. */
  readonly startNs: number;
  close(): Promise<void>;
}

/**
 * Opens a plan's target, the senders of its load, and the meters beside them.
 * @throws UserError or RunError when no run is possible; nothing is left open then
 */
export async function openRun(
  plan: Plan,
  signal: RunSignal,
  { openObserver, meter, held, spare, check, functions: source }: OpenOptions,
): Promise<OpenRun> {
  const conflicts = check === undefined ? [] : findConflicts(plan);
  if (conflicts.length > 0) throw new UserError(conflicts);
  await checkSources(plan);
  const load = prepareLoad(plan.load, plan.measurement.mode);
  const hostLimits = hostLimitsOf(plan, load.search);
  const observer = await openObserver();
  const { maxOutstanding } = hostLimits;
  limitKeptResponses(hostLimits, 1);
  const { count, isGrowing, functions, sendsElsewhere } = divideLoad(plan, load, source);
  const hasMeter = sendsElsewhere && measuresTokens(plan) && (isGrowing || sharesMeter(plan, observer, meter));
  const agents = await openAgents(plan, { signal, functions, workers: count });
  let sending: Sending | undefined;
  let fleet: GrowingFleet | undefined;
  let metrics: ServerMetrics | undefined;
  const close = async (): Promise<void> => {
    metrics?.close();
    await fleet?.close();
    await agents?.close();
    await sending?.close();
  };
  try {
    sending = await openSending(plan, {
      ...{ observer, load, signal, held, meter, spare, maxOutstanding, sendsElsewhere },
      measuresTokens: !sendsElsewhere || hasMeter,
    });
    const { served, session, groups } = sending;
    await agents?.sendFiles(served);
    const requests = sendsElsewhere ? wantedRequests(plan, observer, session, hasMeter) : undefined;
    if (sendsElsewhere) {
      const options = {
        ...{ signal, maxOutstanding, functions, requests, measuresTokens: !hasMeter },
        wantsRecords: observer.onBatch !== undefined || mayAbort(plan),
        made: madeInputs(plan, session),
      };
      fleet = await openSenders(served, { ...options, count, isGrowing, elsewhere: agents });
    }
    const startNs = nowNs();
    if (plan.telemetry.metrics !== null) metrics = await openMetrics(plan, observer);
    const parts: RunParts = { plan, observer, load, session, groups, delayNs: fleet?.delayNs };
    return {
      parts,
      sending,
      fleet,
      requests,
      hostLimits,
      metrics,
      startNs,
      close,
      growth: isGrowing ? fleet : undefined,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Division of a plan's load among senders. */
interface Division {
  /** Initial number of threads on each host; 1: this thread, unless the fleet grows or agents send. */
  readonly count: number;
  readonly isGrowing: boolean;
  /** Whether other threads or hosts send. */
  readonly sendsElsewhere: boolean;
  /** Source of the plan's functions for other senders. */
  readonly functions: FunctionsSource | undefined;
}

/** Divides the load among threads and agents as the plan requests. @throws UserError when it cannot be divided */
function divideLoad(plan: Plan, load: PhasedLoad, source: FunctionsSource | undefined): Division {
  const { workers = 1, bus } = plan.client;
  if (workers === 1 && bus === undefined)
    return { count: 1, isGrowing: false, sendsElsewhere: false, functions: undefined };
  const functions = functionsOf(withoutHook(plan)).size > 0 ? source : undefined;
  const undivided = findUndivided(plan, functions);
  if (workers === "auto" && bus === undefined) {
    // Phases follow each other without a pause in which other threads could take over.
    const isGrowing = undivided.length === 0 && !hasPhases(load);
    return { count: 1, isGrowing, sendsElsewhere: isGrowing, functions };
  }
  if (undivided.length > 0) throw new UserError(undivided);
  return { count: workers === "auto" ? 1 : workers, isGrowing: false, sendsElsewhere: true, functions };
}

/** Finds the agents of a plan; undefined when it has none. The bus library is loaded only if needed. */
async function openAgents(
  { client: { bus } }: Plan,
  options: Pick<FleetOptions, "signal" | "functions"> & { readonly workers: number },
): Promise<Agents | undefined> {
  return bus && (await import("./fleet/bus/open-agents.ts")).openAgents(bus, options);
}

/** Returns the data made by functions, for each target; undefined when no target has such data. */
function madeInputs(plan: Plan, { members, dataset }: Session): MadeInputs | undefined {
  const made = members?.map((one) => holdInputs(one.plan, one.session.dataset)) ?? [holdInputs(plan, dataset)];
  return made.some((held) => held !== undefined) ? made : undefined;
}

/** Opens the senders in other threads or on other hosts. */
async function openSenders(
  served: Plan,
  { isGrowing, ...options }: FleetOptions & { readonly isGrowing: boolean },
): Promise<GrowingFleet> {
  const plan = withoutCalls(withoutHook(served));
  const open = (count: number): Promise<Fleet> => openFleet(plan, { ...options, count });
  const mostCount = isGrowing ? mostThreads() : options.count;
  return new GrowingFleet({ open, mostCount }, await open(options.count));
}

/** Returns the plan for remote senders: only the conductor calls the function for records. */
function withoutHook({ onRecord: _, ...plan }: Plan): Plan {
  return plan;
}

function openMetrics(plan: Plan, observer: RunObserver): Promise<ServerMetrics | undefined> {
  return openServerMetrics(plan, {
    warn: (warning) => observer.onWarning?.(warning),
    onReading: (reading) => observer.onMetrics?.(reading),
  });
}

/** A run that can be interrupted. */
export interface RunningPlan {
  /** Resolves with the result, also after an interrupt or an error during the run. Rejects when the run could not start. */
  readonly result: Promise<RunResult>;
  /** Ends the run early with a partial result. */
  interrupt(): void;
}

/** Options of a run, besides its plan. */
export interface RunOptions extends OpenOptions {
  /** The other processes of the measurement. Default: none. */
  readonly peers?: Peers | undefined;
}

/**
 * Starts a plan's run: connects to the target and sends the first request as soon as possible. Before that, it rejects parts of
 * an unchecked plan that do not fit together.
 */
export function startPlan(plan: Plan, options: RunOptions): RunningPlan {
  const signal = new RunSignal();
  return { result: runPlan(plan, signal, options), interrupt: () => signal.interrupt() };
}

async function runPlan(plan: Plan, signal: RunSignal, options: RunOptions): Promise<RunResult> {
  const open = await openRun(plan, signal, options);
  try {
    return await followRun(open, signal, options);
  } finally {
    await open.close();
  }
}

/** Conducts an opened run to its end, with its followers. */
async function followRun(
  { parts, sending, fleet, growth, requests, hostLimits, metrics, startNs }: OpenRun,
  signal: RunSignal,
  { check, peers = ALONE }: RunOptions,
): Promise<RunResult> {
  const { plan } = parts;
  const { tokens, sessions, laneCount, feed, createSender } = sending;
  const conducting = {
    ...{ signal, clock: systemClock, laneCount, hostLimits, senderLimits: fleet?.limits },
    hasTokens: tokens !== undefined || (fleet !== undefined && measuresTokens(plan)),
    turnCount: sessions?.turnCount,
    timestampsMs: timestampsOf(parts),
    poller: metrics?.poller,
    ...{ peers, startNs, check },
    rehearse: fleet === undefined ? sending.rehearse : undefined,
  };
  return withFollowers({ ...parts, signal, tokens }, async (followers) => {
    const joined =
      fleet &&
      requests &&
      joinRequests({
        ...{ ...parts, ...requests, observer: followers, feed, tokens, senderCount: fleet.count },
        fail: (error) => signal.fail(toRunError(error)),
      });
    const result = await new Conductor({
      ...{ ...parts, ...conducting, observer: joined?.observer ?? followers },
      growth,
      createSender: (listener) => fleet?.createSender(listener, joined) ?? createSender(listener, followers),
    }).execute();
    await joined?.finish();
    return joined === undefined ? result : { ...result, error: result.error ?? signal.error };
  });
}
