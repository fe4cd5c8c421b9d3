import type { HeldEntries } from "../inputs/held-entries.ts";
import type { PhasedLoad } from "../load/load-mode.ts";
import { WHOLE } from "../load/share.ts";
import type { RunTokens } from "../measure/tokens/run-tokens.ts";
import { SpareThreads, type TokenLink } from "../measure/tokens/token-link.ts";
import { maxResponseBytesOf } from "../plan/defaults.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunError } from "../plan/problem.ts";
import { msToNs } from "../plan/units.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { memberPlansOf, membersOf } from "../registry/mix.ts";
import { type ServerTargetPlan, targetKindOf, urlsOf } from "../registry/service-kinds.ts";
import type { RunObserver } from "../result/observer.ts";
import { sleepUnless, systemClock } from "../runtime/clock.ts";
import { HealthMonitor } from "../telemetry/health-monitor.ts";
import type { Failure } from "../transport/failure.ts";
import { CONNECTIONS_PER_SEC } from "../transport/open-at-pace.ts";
import { LevelMeter } from "./count/window-counter.ts";
import type { RequestGroups } from "./groups/request-groups.ts";
import { groupRequests } from "./groups/request-tags.ts";
import type { RunSignal } from "./interrupt.ts";
import { createContentCheck } from "./judge/content-check.ts";
import { cannotConnect } from "./judge/failure-limits.ts";
import { openTokens as measureTokens, type OpenTokens } from "./judge/open-tokens.ts";
import { laneOptionsOf, UNKNOWN_MODEL } from "./lanes.ts";
import { createFeed } from "./mix/create-feed.ts";
import { createJudge } from "./mix/create-judge.ts";
import { openMixedTarget } from "./mix/mixed-target.ts";
import { openTarget } from "./open/open-target.ts";
import { MOST_PROBE_MS, reachServers } from "./open/reach-servers.ts";
import type { Session, Target, TargetOptions } from "./open/session.ts";
import { prepareRehearsal } from "./rehearsal.ts";
import type { JudgedRequests, SenderParts } from "./run-parts.ts";
import { Canceller } from "./send/canceller.ts";
import { Driver } from "./send/driver.ts";
import type { DriverOptions, DriverWork } from "./send/driver-work.ts";
import { endsDrain } from "./send/end-waits.ts";
import type { Feed } from "./send/feed.ts";
import { LocalSender } from "./send/local-sender.ts";
import type { LoadSender, SenderListener } from "./send/messages.ts";
import { type SessionFeed, sessionsOf } from "./send/session-feed.ts";

/** Options for opening a sender, besides its plan. */
export interface SendingOptions extends Omit<TargetOptions, "search"> {
  readonly load: PhasedLoad;
  readonly signal: RunSignal;
  readonly held?: HeldEntries | undefined;
  /**
   * Measures the tokens of responses. It is not closed with the sender. Default: a separate thread, if the plan
   * measures tokens.
   */
  readonly meter?: TokenLink | undefined;
  /** Token threads that were started before. Unneeded ones are ended. Default: none. */
  readonly spare?: SpareThreads | undefined;
  /** Maximum number of outstanding requests of this sender. */
  readonly maxOutstanding: number;
  /** Whether other threads or hosts send. The target is opened anyway, to query it. Default: false. */
  readonly sendsElsewhere?: boolean | undefined;
  /** Whether the tokens of responses are measured here, if the plan measures any. Default: yes, unless others send. */
  readonly measuresTokens?: boolean | undefined;
  /** See {@link DriverOptions}. */
  readonly beforeEvent?: DriverOptions["beforeEvent"];
}

/** A plan's target, opened for sending from this thread. */
export interface Sending {
  /** The plan, with a started server in place of the embedded target. */
  readonly served: Plan;
  readonly session: Session;
  readonly groups: RequestGroups | undefined;
  /** Undefined when the plan measures no tokens, or others send. */
  readonly tokens: RunTokens | undefined;
  readonly sessions: SessionFeed | undefined;
  readonly laneCount: number;
  readonly feed: Feed;
  /**
   * Opens the sender.
   * @param observer its callbacks determine which parts of responses are read
   * @param requests receives each judged request. Default: no remote conductor wants single requests
   */
  createSender(listener: SenderListener, observer: RunObserver, requests?: JudgedRequests): LoadSender;
  /** Sends requests to an in-process sink, so that the client's code is JIT-compiled before the first measured request. */
  rehearse(): Promise<void>;
  /** Closes everything, and restores what was changed on the server. */
  close(): Promise<void>;
}

/**
 * Opens a plan's target for sending from this thread.
 * @throws RunError or UserError when no run is possible; nothing is left open then
 */
export async function openSending(plan: Plan, options: SendingOptions): Promise<Sending> {
  const { load, observer, sendsElsewhere = false, measuresTokens: measures = !sendsElsewhere } = options;
  const { meter, senders = WHOLE, spare = new SpareThreads() } = options;
  const target = await openAnyTarget(plan, { ...options, search: load.search });
  const closers: (() => unknown)[] = [
    async () => {
      for (const reason of await target.close()) observer.onWarning?.({ kind: "memory-kept", reason });
    },
  ];
  const close = async (): Promise<void> => {
    for (const one of closers.splice(0).reverse()) await one();
  };
  // The thread loads its tokenizer while the server is queried and the data is created.
  const openingTokens = meter === undefined && measures ? openTokens(plan, spare) : undefined;
  if (openingTokens !== undefined) closers.push(() => closeTokens(openingTokens));
  // Closes before the tokens, so that a tokenizer that still loads is not awaited.
  closers.push(() => spare.close());
  openingTokens?.catch(() => {});
  try {
    // Only one sender changes the server's settings.
    const restoreTrace = senders.index === 0 ? await target.setTrace?.() : undefined;
    if (restoreTrace !== undefined) closers.push(restoreTrace);
    return await openParts({ plan, options, target, openingTokens, closers, close });
  } catch (error) {
    await close();
    throw error;
  }
}

interface OpeningParts {
  readonly plan: Plan;
  readonly options: SendingOptions;
  readonly target: Target;
  readonly openingTokens: Promise<OpenTokens> | undefined;
  readonly closers: (() => unknown)[];
  close(): Promise<void>;
}

async function openParts({ plan, options, target, openingTokens, closers, close }: OpeningParts): Promise<Sending> {
  const { load, observer, signal, meter, senders = WHOLE } = options;
  const { search } = load;
  // Create the driver and open its first connection while the server replies.
  const settingUp = target.setUp();
  settingUp.catch(() => {});
  const canceller = plan.cancellation && new Canceller(plan.cancellation, systemClock, senders);
  const { driver, refusal } = openDriver(plan, { options, target, canceller });
  closers.push(() => driver.close());
  // Until the server has been queried, the data may still be rejected.
  if (target.isQueried() && options.sendsElsewhere !== true) void driver.reserve(1);
  const session = await signal.unlessInterrupted(settingUp);
  const lanes = laneOptionsOf(plan, search, session.service, senders);
  driver.setLanes(lanes);
  const feed = await createFeed(session, { plan, search, lanes, senders });
  if (plan.behaviour?.waitsForServer !== true && senders.index === 0) {
    const found = await signal.unlessInterrupted(probe(plan, target.isQueried() ? undefined : { driver, refusal }));
    if (found !== undefined) throw found;
  }
  const groups = await openGroups(plan, session);
  const tokens = meter ?? (openingTokens && (await (await signal.unlessInterrupted(openingTokens)).measure(groups)));
  const rehearsed = session.members === undefined ? [{ plan, session, feed }] : session.members;
  const atEnd = (undo: () => void): number => closers.push(undo);
  const rehearse = prepareRehearsal(rehearsed, { search, observer, driver, atEnd });
  const { check: named } = plan;
  const createCheck = named && ((of: Plan) => createContentCheck(of, named));
  return {
    served: target.served,
    ...{ session, groups, tokens, sessions: sessionsOf(feed), laneCount: driver.laneCount, feed, rehearse, close },
    createSender: (listener, followers, requests) =>
      openSender(
        {
          ...{ plan, load, session, groups, feed, driver, createCheck, canceller, tokens },
          ...{ observer: followers, share: senders, requests },
        },
        listener,
      ),
  };
}

/** Returns why a server cannot be reached. @param unused the driver, if no request has reached the server; its connection is kept */
async function probe(
  plan: Plan,
  unused: Pick<ReturnType<typeof openDriver>, "driver" | "refusal"> | undefined,
): Promise<RunError | undefined> {
  const { length } = urlsOf(plan.target);
  // A mix counts the failures of each target separately.
  if (length > 1 && membersOf(plan.target).length === 0)
    return reachServers(plan.target as ServerTargetPlan, plan.client);
  if (length !== 1 || unused === undefined) return undefined;
  await sleepUnless(MOST_PROBE_MS, unused.driver.reserve(1));
  const failure = unused.refusal();
  return failure && cannotConnect(plan, failure);
}

/** Creates the driver. `refusal` returns why its first connection failed; undefined when it succeeded. */
function openDriver(
  plan: Plan,
  {
    options: { load, maxOutstanding, beforeEvent, senders = WHOLE },
    target,
    canceller,
  }: { readonly options: SendingOptions; readonly target: Target; readonly canceller: Canceller | undefined },
): { readonly driver: Driver; readonly refusal: () => Failure | undefined } {
  const { stallTimeoutMs, requestTimeoutMs } = plan.client;
  let refusal: Failure | undefined;
  const driver = new Driver({
    ...{ canceller, beforeEvent },
    onConnectFailure: (failure) => {
      refusal ??= failure;
    },
    ...laneOptionsOf(plan, load.search, UNKNOWN_MODEL, senders),
    stallTimeoutNs: msToNs(stallTimeoutMs),
    requestTimeoutNs: requestTimeoutMs === undefined ? undefined : msToNs(requestTimeoutMs),
    maxResponseBytes: maxResponseBytesOf(plan.client),
    maxOutstanding,
    connectionsPerSec: CONNECTIONS_PER_SEC / senders.count,
    endsDrain: endsDrain(plan),
    createClient: (given) => target.createClient(given),
  });
  return { driver, refusal: () => refusal };
}

/** Whether a plan measures the tokens of responses. */
export function measuresTokens(plan: Plan): boolean {
  return plansOf(plan).some(({ measurement }) => measurement.tokens !== undefined);
}

/** Returns the plans of the members of a mix, or the run's only plan. */
function plansOf(plan: Plan): readonly Plan[] {
  const members = memberPlansOf(plan);
  return members.length > 0 ? members : [plan];
}

/** Starts the meters of the tokens of the plans' targets; undefined when no tokens are measured. */
function openTokens(plan: Plan, spare: SpareThreads): Promise<OpenTokens> | undefined {
  return measuresTokens(plan) ? measureTokens(plansOf(plan), spare) : undefined;
}

/** Splits the requests into groups; undefined when they have no tags. @throws UserError when tags cannot be used */
async function openGroups(plan: Plan, session: Session): Promise<RequestGroups | undefined> {
  const { tags, assertions } = plan;
  const isAsked = tags !== undefined || assertions.some(({ where }) => where !== undefined);
  if (!isAsked && session.members === undefined && session.dataset.hasTags !== true) return undefined;
  return groupRequests(plan, session);
}

async function openAnyTarget(plan: Plan, options: TargetOptions): Promise<Target> {
  if (membersOf(plan.target).length === 0) return openTarget(plan, options);
  return openMixedTarget(plan, options);
}

/** Closes the token threads. Ignores an opening error, which was reported where it was awaited. */
async function closeTokens(opening: Promise<OpenTokens>): Promise<void> {
  const tokens = await opening.catch(() => undefined);
  await tokens?.close();
}

/** Opens the sender of this thread. @param listener receives ended requests and errors */
export function openSender(parts: SenderParts, listener: SenderListener): LoadSender {
  const { plan, session, feed, driver, groups, requests } = parts;
  const meter = new LevelMeter();
  const judge = createJudge(parts, (values, atNs, group) => {
    meter.addExtracted(values, atNs, group);
    listener.extracted(values, atNs, group);
  });
  const sessions = sessionsOf(feed);
  const judgeAlone: DriverWork["judge"] = (call, slots) => judge.judge(call, slots);
  const judgeCall = requests === undefined ? judgeAlone : passOn(requests, judgeAlone, sessions);
  driver.setWork({
    feed,
    groups,
    needsBodies: judge.needsBodies,
    needsHeaders: judge.needsHeaders,
    createCheck: judge.createCheck,
    canWait: judge.canWait,
    isUndecided: (call) => judge.isUndecided?.(call) === true,
    onUndecided: sessions && ((call, slots) => sessions.continueUndecided(call, slots)),
    readsFirst: session.service.readsFirst === true,
    meter,
    judge: sessions?.follow(judgeCall) ?? judgeCall,
    listener,
  });
  const health = new HealthMonitor(driver.clock, targetKindOf(plan.target).isInProcess === true);
  return new LocalSender({ ...parts, meter, health, sessions, timestampsMs: timestampsOf(parts) });
}

/**
 * Wraps a judge so that each judged request is passed on. Contents of session requests travel with them, because they
 * do not follow from the data.
 */
function passOn(
  requests: JudgedRequests,
  judge: DriverWork["judge"],
  sessions: Pick<SessionFeed, "contentOf"> | undefined,
): DriverWork["judge"] {
  return (call, slots) => {
    const failure = judge(call, slots);
    requests.add(call, slots, failure, sessions?.contentOf(slots.steps[call.slot] as number));
    return failure;
  };
}

/** Returns the due time of each step, when the load follows the data. */
export function timestampsOf({ plan, session }: Pick<SenderParts, "plan" | "session">): readonly number[] {
  if (loadModeOf(plan.load).dataOrder !== "at-times") return [];
  return (session.dataset.streams[0] ?? []).map(({ timestampMs = 0 }) => timestampMs);
}
