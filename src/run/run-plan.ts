import type { HeldEntries } from "../inputs/held-entries.ts";
import type { LevelSearch } from "../load/load-mode.ts";
import type { RecordColumns } from "../measure/records.ts";
import type { RunTokens } from "../measure/tokens/run-tokens.ts";
import type { TokenLink } from "../measure/tokens/token-link.ts";
import type { Plan } from "../plan/plan.ts";
import { UserError } from "../plan/problem.ts";
import { maxResponseBytesOf } from "../plan/response-limit.ts";
import { msToNs } from "../plan/units.ts";
import { findConflicts } from "../registry/conflicts.ts";
import { loadModeOf, prepareLoad } from "../registry/load-modes.ts";
import { memberPlansOf, membersOf } from "../registry/mix.ts";
import { targetKindOf, urlsOf } from "../registry/service-kinds.ts";
import type { RunObserver } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";
import { yieldBackgroundThreads } from "../runtime/background-threads.ts";
import { nowNs, sleepUnless } from "../runtime/clock.ts";
import { startsCold } from "../runtime/cold.ts";
import { isThisHost } from "../runtime/this-host.ts";
import { raiseThreadPriority } from "../runtime/thread-priority.ts";
import { HealthMonitor } from "../telemetry/health-monitor.ts";
import type { Failure } from "../transport/failure.ts";
import { Conductor } from "./conduct/conductor.ts";
import { toRunError } from "./conduct/run-error.ts";
import { LevelMeter } from "./count/level-meter.ts";
import type { RequestGroups } from "./groups/request-groups.ts";
import { groupRequests } from "./groups/request-tags.ts";
import { hostLimitsOf } from "./host-limits.ts";
import { RunSignal } from "./interrupt.ts";
import { createContentCheck } from "./judge/content-check.ts";
import { cannotConnect, takesPrompts } from "./judge/failure-policy.ts";
import { openTokens as measureTokens, type OpenTokens } from "./judge/open-tokens.ts";
import { laneOptionsOf, UNKNOWN_MODEL } from "./lanes.ts";
import { createFeed } from "./mix/create-feed.ts";
import { createJudge } from "./mix/create-judge.ts";
import { openMixedTarget } from "./mix/mixed-target.ts";
import { parseUrl } from "./open/endpoint.ts";
import { openTarget, type Session, type Target, type TargetOptions } from "./open/session.ts";
import { ALONE, type Peers } from "./peers/peers.ts";
import { RecordHook } from "./record-hook.ts";
import {
  COLD_BOUNDS,
  EMBEDDED_BOUNDS,
  PROMPT_BOUNDS,
  type RehearsalBounds,
  type Rehearsed,
  rehearse,
  SERVER_BOUNDS,
  SHORT_BOUNDS,
} from "./rehearsal.ts";
import type { RunParts, SenderParts } from "./run-parts.ts";
import { openScrapes } from "./scrapes.ts";
import { openBurstSharing } from "./send/burst-sharing.ts";
import { Canceller } from "./send/canceller.ts";
import { Driver } from "./send/driver.ts";
import type { DriverWork } from "./send/driver-work.ts";
import { LocalSender } from "./send/local-sender.ts";
import type { LoadSender, SenderListener } from "./send/messages.ts";
import { sessionsOf } from "./send/session-feed.ts";
import { openServerMetrics, type ServerMetrics } from "./server-metrics.ts";

/** Time between two queries for the tokens of single requests. */
const INTERVAL_MS = 250;

/**
 * Executes a run and passes the tokens of its requests to the observer while it lasts, the last of them after its end.
 * The result has the error of the thread that measures tokens, if it fails only then.
 */
export async function followTokens(
  tokens: RunTokens,
  observer: RunObserver,
  execute: () => Promise<RunResult>,
): Promise<RunResult> {
  const pass = async (isLast: boolean): Promise<void> => {
    for (const one of await tokens.takeRequests(isLast)) observer.onTokens?.(one);
  };
  let passing: Promise<void> | undefined;
  const timer = setInterval(() => {
    // An error of the thread ends the run where its levels are merged.
    passing ??= pass(false)
      .catch(() => {})
      .finally(() => {
        passing = undefined;
      });
  }, INTERVAL_MS);
  const result = await execute().finally(() => clearInterval(timer));
  try {
    await passing;
    await pass(true);
    return result;
  } catch (error) {
    return { ...result, error: result.error ?? toRunError(error) };
  }
}

/** Opens the sender of this thread. @param listener hears of what ends */
export function openSender(parts: SenderParts, listener: SenderListener): LoadSender {
  const { plan, session, feed, driver, groups } = parts;
  const meter = new LevelMeter();
  const judge = createJudge(parts, (values, atNs, group) => {
    meter.addExtracted(values, atNs, group);
    listener.extracted(values, atNs, group);
  });
  const sessions = sessionsOf(feed);
  const judgeCall: DriverWork["judge"] = (call, slots) => judge.judge(call, slots);
  driver.setWork({
    feed,
    groups,
    needsBodies: judge.needsBodies,
    createCheck: judge.createCheck,
    canWait: judge.canWait,
    readsFirst: session.service.readsFirst === true,
    onRecords: (records: RecordColumns, count: number) => {
      meter.add(records, count);
      listener.records(records, count);
    },
    judge: sessions?.follow(judgeCall) ?? judgeCall,
    onFailure: (failure, lane, sentNs) => listener.failed(failure, lane, sentNs),
    onLimit: (wanted) => listener.limited(wanted),
    onError: (error) => listener.broken(error),
  });
  const health = new HealthMonitor(driver.clock, targetKindOf(plan.target).isInProcess === true);
  return new LocalSender({ ...parts, meter, health, sessions, timestampsMs: timestampsOf(parts) });
}

/** Returns the due time of each step, when the load follows the data. */
export function timestampsOf({ plan, session }: Pick<SenderParts, "plan" | "session">): readonly number[] {
  if (loadModeOf(plan.load).dataOrder !== "at-times") return [];
  return (session.dataset.streams[0] ?? []).map(({ timestampMs = 0 }) => timestampMs);
}

/** A server that takes longer to connect to may be reachable all the same. */
const MOST_PROBE_MS = 1000;

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
  { openObserver, check, peers = ALONE, meter, held }: RunOptions,
): Promise<RunResult> {
  const conflicts = findConflicts(plan);
  if (conflicts.length > 0) throw new UserError(conflicts);
  const load = prepareLoad(plan.load);
  const { stallTimeoutMs, requestTimeoutMs } = plan.client;
  const hostLimits = hostLimitsOf(plan, load.search);
  const observer = await openObserver();
  const target = await openAnyTarget(plan, { observer, search: load.search, signal, held });
  let restoreTrace: (() => Promise<void>) | undefined;
  let metrics: ServerMetrics | undefined;
  const members = memberPlansOf(plan);
  // The thread loads its tokenizer while the server is queried and the data is created.
  const openingTokens = meter === undefined ? openTokens(members.length > 0 ? members : [plan]) : undefined;
  openingTokens?.catch(() => {});
  try {
    restoreTrace = await target.setTrace?.();
    let session: Session | undefined;
    // Create the driver and open its first connection while the server answers.
    const settingUp = target.setUp();
    settingUp.catch(() => {});
    const canceller = plan.cancellation && new Canceller(plan.cancellation);
    let refusal: Failure | undefined;
    const driver = new Driver({
      canceller,
      onConnectFailure: (failure) => {
        refusal ??= failure;
      },
      ...laneOptionsOf(plan, load.search, UNKNOWN_MODEL),
      stallTimeoutNs: msToNs(stallTimeoutMs),
      requestTimeoutNs: requestTimeoutMs === undefined ? undefined : msToNs(requestTimeoutMs),
      maxResponseBytes: maxResponseBytesOf(plan.client),
      maxOutstanding: hostLimits.maxOutstanding,
      endsDrain: plan.behaviour?.usesWholeHost !== true,
      createClient: (options) => target.createClient(options),
    });
    const undos: (() => void)[] = [];
    try {
      // Until the server is queried, the data may still be refused.
      if (target.isQueried()) void driver.reserve(1);
      session = await signal.unlessInterrupted(settingUp);
      const lanes = laneOptionsOf(plan, load.search, session.service);
      driver.setLanes(lanes);
      const feed = await createFeed(plan, load.search, session, lanes);
      if (!target.isQueried() && plan.behaviour?.waitsForServer !== true && urlsOf(plan.target).length === 1) {
        await signal.unlessInterrupted(sleepUnless(MOST_PROBE_MS, driver.reserve(1)));
        if (refusal !== undefined) throw cannotConnect(plan, refusal);
      }
      const groups = await openGroups(plan, session);
      const tokens =
        meter ?? (openingTokens && (await (await signal.unlessInterrupted(openingTokens)).measure(groups)));
      const startNs = nowNs();
      if (plan.telemetry.metrics !== null) metrics = openMetrics(plan, observer);
      const rehearsed = session.members === undefined ? [{ plan, session, feed }] : session.members;
      const atEnd = (undo: () => void): number => undos.push(undo);
      const rehearse = prepareRehearsal(rehearsed, { search: load.search, observer, driver, atEnd });
      const { check: named } = plan;
      const createCheck = named && ((of: Plan) => createContentCheck(of, named));
      const parts: RunParts = { plan, observer, load, session, groups };
      const sending = { feed, driver, createCheck, canceller, tokens };
      const conducting = {
        ...{ signal, clock: driver.clock, laneCount: driver.laneCount, hasTokens: tokens !== undefined, hostLimits },
        turnCount: sessionsOf(feed)?.turnCount,
        timestampsMs: timestampsOf(parts),
        poller: metrics?.poller,
        ...{ peers, rehearse, startNs, check },
      };
      return await followed({ ...parts, signal, tokens }, (followers) => {
        const measured = { ...parts, observer: followers };
        const createSender = (listener: SenderListener): LoadSender =>
          openSender({ ...measured, ...sending }, listener);
        return new Conductor({ ...measured, ...conducting, createSender }).execute();
      });
    } finally {
      driver.close();
      for (const undo of undos) undo();
    }
  } finally {
    metrics?.close();
    if (openingTokens !== undefined) await closeTokens(openingTokens);
    await restoreTrace?.();
    for (const reason of await target.close()) observer.onWarning?.({ kind: "memory-kept", reason });
  }
}

/** What a follower of a run needs. */
interface Followed extends RunParts {
  readonly signal: RunSignal;
  readonly tokens: RunTokens | undefined;
}

/** Executes a run with what follows it besides its observer: scrapes, and the scenario's function for records. */
async function followed(
  { plan, observer, signal, groups, tokens, session }: Followed,
  execute: (observer: RunObserver) => Promise<RunResult>,
): Promise<RunResult> {
  let around = async (given: RunObserver): Promise<RunResult> => {
    if (tokens === undefined || given.onTokens === undefined) return execute(given);
    return followTokens(tokens, given, () => execute(given));
  };
  if (plan.onRecord !== undefined) {
    const sessions = [session, ...(session.members ?? []).map((member) => member.session)];
    const readsResponses = tokens !== undefined || sessions.some(({ service }) => service.responseReader !== undefined);
    const hook = new RecordHook(plan.onRecord, signal, groups, readsResponses);
    const inner = around;
    around = (given) => hook.around(given, inner);
  }
  if (plan.telemetry.scrapes === undefined) return around(observer);
  return openScrapes(plan.telemetry.scrapes, observer, signal).around(around);
}

interface RehearsalParts {
  readonly search: LevelSearch;
  readonly observer: RunObserver;
  readonly driver: Driver;
  /** Registers what to undo after the run. */
  atEnd(undo: () => void): void;
}

/** Returns what runs while connections are opened, before the first request. */
function prepareRehearsal(
  rehearsed: readonly Rehearsed[],
  { search, observer, driver, atEnd }: RehearsalParts,
): () => Promise<void> {
  const startsEarly = ({ plan }: Rehearsed): boolean => plan.behaviour?.startsEarly === true;
  // Late code would be visible in the time to first token of prompts.
  const hasTime = (one: Rehearsed): boolean => takesPrompts(one.plan) && !startsEarly(one);
  const boundsOf = (one: Rehearsed): RehearsalBounds => {
    if (startsCold()) return COLD_BOUNDS;
    if (hasTime(one)) return PROMPT_BOUNDS;
    if (startsEarly(one)) return SHORT_BOUNDS;
    return targetKindOf(one.plan.target).toServer === undefined ? SERVER_BOUNDS : EMBEDDED_BOUNDS;
  };
  const rehearseAll = async (): Promise<void> => {
    for (const one of rehearsed) await rehearse(one, search, observer, boundsOf(one));
  };
  const isTimed = (one: Rehearsed): boolean =>
    hasTime(one) && one.plan.target.isStreaming && one.plan.client.kind === "own";
  const streamed = rehearsed.find(isTimed);
  if (streamed === undefined) return rehearseAll;
  const urls = urlsOf(streamed.plan.target);
  return async () => {
    await rehearseAll();
    // Hot code is compiled now; other background work must not delay the tokens' times.
    yieldBackgroundThreads();
    // A local server on the same cores would have to wait.
    if (!urls.some((url) => isThisHost(parseUrl(url, 0).host))) atEnd(raiseThreadPriority());
    driver.sharing = await openBurstSharing();
  };
}

/** Starts what measures the tokens of the plans' targets; undefined when none are measured. */
function openTokens(plans: readonly Plan[]): Promise<OpenTokens> | undefined {
  if (plans.every(({ measurement }) => measurement.tokens === undefined)) return undefined;
  return measureTokens(plans);
}

/** Splits the requests into groups; undefined when they have no tags. @throws UserError when tags are not usable */
async function openGroups(plan: Plan, session: Session): Promise<RequestGroups | undefined> {
  const { tags, assertions } = plan;
  const isAsked = tags !== undefined || assertions.some(({ where }) => where !== undefined);
  if (!isAsked && session.members === undefined && session.dataset.hasTags !== true) return undefined;
  return groupRequests(plan, session);
}

/** Opens the plan's target, or the targets of a mix. */
async function openAnyTarget(plan: Plan, options: TargetOptions): Promise<Target> {
  if (membersOf(plan.target).length === 0) return openTarget(plan, options);
  return openMixedTarget(plan, options.observer, options.search, options.signal);
}

/** Ignores an opening error, which was reported where it was awaited. */
async function closeTokens(opening: Promise<OpenTokens>): Promise<void> {
  await opening.then(
    (tokens) => tokens.close(),
    () => {},
  );
}

function openMetrics(plan: Plan, observer: RunObserver): ServerMetrics | undefined {
  return openServerMetrics(plan, {
    warn: (warning) => observer.onWarning?.(warning),
    onReading: (reading) => observer.onMetrics?.(reading),
  });
}
