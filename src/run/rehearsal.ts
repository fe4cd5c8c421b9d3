import type { LevelSearch } from "../load/load-mode.ts";
import { WindowTally } from "../measure/tally/window-tally.ts";
import type { ResponseSink } from "../measure/tokens/packed-responses.ts";
import { DEFAULT_MAX_RESPONSE_BYTES } from "../plan/defaults.ts";
import type { Plan } from "../plan/plan.ts";
import { msToNs } from "../plan/units.ts";
import { loadModeOf } from "../registry/load-modes.ts";
import { targetKindOf, urlsOf } from "../registry/service-kinds.ts";
import type { RunObserver } from "../result/observer.ts";
import { yieldBackgroundThreads } from "../runtime/background-threads.ts";
import { NO_BYTES } from "../runtime/bytes.ts";
import { nowNs, sleepUnless } from "../runtime/clock.ts";
import { startsCold } from "../runtime/cold-start.ts";
import type { OpenSocket } from "../runtime/socket.ts";
import { isThisHost } from "../runtime/this-host.ts";
import { raiseThreadPriority } from "../runtime/thread-priority.ts";
import type { ResponseCheck } from "../transport/response-check.ts";
import { openHttp1Sink } from "../transport/sink/http1-sink.ts";
import { openHttp2Sink } from "../transport/sink/http2-sink.ts";
import type { ResponseRequest } from "../transport/sink/sample-response.ts";
import { LevelMeter } from "./count/window-counter.ts";
import { takesPrompts } from "./judge/failure-limits.ts";
import { RequestJudge } from "./judge/judge.ts";
import { type LaneOptions, laneOptionsOf } from "./lanes.ts";
import { createTargetFeed } from "./mix/create-feed.ts";
import { parseUrl } from "./open/endpoint.ts";
import type { TargetSession } from "./open/session.ts";
import { openBurstSharing } from "./send/burst-sharing.ts";
import { Driver } from "./send/driver.ts";
import type { DriverWork } from "./send/driver-work.ts";
import type { EndedCounts } from "./send/ended-requests.ts";
import { type Feed, RequestFeed } from "./send/feed.ts";
import { LoadStarter } from "./send/load-starter.ts";

/** Limits of a rehearsal, which ends when the number of requests or the time is reached. */
export interface RehearsalBounds {
  readonly requestCount: number;
  readonly durationMs: number;
  readonly concurrency: number;
}

/** Bounds for prompts, which are few and long, with a time for each event of a response. */
export const PROMPT_BOUNDS: RehearsalBounds = { requestCount: 1200, durationMs: 200, concurrency: 48 };
/** Bounds for scenarios, whose requests are short, and whose levels may be short too. */
export const SERVER_BOUNDS: RehearsalBounds = { requestCount: 2000, durationMs: 50, concurrency: 4 };
/** Bounds for the embedded target, whose users wait for its start anyway. */
const EMBEDDED_BOUNDS: RehearsalBounds = { requestCount: 6000, durationMs: 300, concurrency: 16 };
/** Bounds for modes whose users compare the time to the first request. */
export const SHORT_BOUNDS: RehearsalBounds = { requestCount: 300, durationMs: 5, concurrency: 2 };
/** Bounds for tests that judge no times: every step runs, but none is JIT-compiled. */
const COLD_BOUNDS: RehearsalBounds = { requestCount: 4, durationMs: 5, concurrency: 2 };

/** Subject of a rehearsal: a target that is measured alone, or a member of a mix. */
export interface Rehearsed {
  readonly plan: Plan;
  readonly session: TargetSession;
  /** The run's source of requests, which receives the encoding of the first request. Absent: the run encodes it itself. */
  readonly feed?: Feed;
}

const STALL_TIMEOUT_NS = 60e9;
/** The end does not wait for a response that never arrives. */
const LATE_RATIO = 10;
const NO_RESPONSE: ResponseRequest = () => ({ parts: [NO_BYTES] });
const NO_TOKENS: ResponseSink = {
  knowsPrompt: () => true,
  addPrompt: () => {},
  addResponse: () => {},
  addFailure: () => {},
};

/**
 * Sends requests of the session's data to an in-process sink, which answers as a server of the kind does, so that the client's code is
 * JIT-compiled before the first measured request: its encoding, sending, reading, judging and counting. Its results are discarded. A
 * scenario's functions are not called. Does nothing with a client that cannot work without its server.
 * @param observer its callbacks determine which parts of responses are read; none is called
 * @returns the numbers of its requests
 */
export async function rehearse(
  { plan, session: given, feed: runFeed }: Rehearsed,
  search: LevelSearch,
  observer: RunObserver,
  { requestCount, durationMs, concurrency }: RehearsalBounds,
): Promise<Pick<EndedCounts, "completedCount" | "failedCount">> {
  if (given.createSinkClient === undefined) return { completedCount: 0, failedCount: 0 };
  const createClient = await given.createSinkClient(openSink(given));
  const session = toRehearsed(given);
  const lanes = laneOptionsOf(plan, search, session.service);
  const laneCount = Math.min(concurrency, lanes.laneCount);
  const feed = await createRehearsalFeed(plan, search, session, lanes);
  const judge = new RequestJudge({
    session,
    feed,
    verbosity: 0,
    observer: observer.onRecord === undefined ? {} : { onRecord: () => {} },
    responses: plan.measurement.tokens === undefined ? undefined : NO_TOKENS,
  });
  const driver = new Driver({
    ...{ ...lanes, laneCount, createClient },
    stallTimeoutNs: STALL_TIMEOUT_NS,
    maxResponseBytes: DEFAULT_MAX_RESPONSE_BYTES,
  });
  const endNs = nowNs() + msToNs(durationMs);
  const judgeUntilEnd: DriverWork["judge"] = (call, slots) => {
    if (nowNs() > endNs) driver.quota = Math.min(driver.quota, 0);
    return judge.judge(call, slots);
  };
  driver.setWork({
    feed,
    needsBodies: judge.needsBodies,
    createCheck: () => forgetting(() => session.service.codec.responseChecks()()),
    canWait: judge.canWait,
    readsFirst: session.service.readsFirst === true,
    meter: meterOf(session),
    judge: judgeUntilEnd,
    listener: { records: () => {}, failed: () => {}, limited: () => {}, broken: () => {} },
  });
  // The run will report any error again.
  const started = new LoadStarter(driver).start({ kind: "closed", concurrency: laneCount }, requestCount);
  const ended = started.then(
    () => driver.finished(),
    () => {},
  );
  await sleepUnless(durationMs * LATE_RATIO, ended);
  driver.close();
  if (runFeed instanceof RequestFeed) runFeed.takeEncodings(feed);
  return driver.ended;
}

function openSink({ service: { codec, wire } }: TargetSession): OpenSocket {
  const { sampleResponse = NO_RESPONSE } = codec;
  return wire === "http" ? openHttp1Sink(sampleResponse(NO_BYTES)) : openHttp2Sink(sampleResponse);
}

/**
 * Returns a check that examines every other response thoroughly, like the first response of a run; the rest are compared with known ones.
 */
function forgetting(create: () => ResponseCheck): ResponseCheck {
  let check = create();
  let isNew = true;
  const next = (): ResponseCheck => {
    if (!isNew) check = create();
    isNew = !isNew;
    return check;
  };
  return {
    whole: (...response) => next().whole(...response),
    begin: (head) => next().begin(head),
    piece: (...piece) => check.piece(...piece),
    event: (...event) => check.event(...event),
    end: () => check.end(),
  };
}

/** Returns the session with the data of its first request, without expected outputs and without the scenario's functions. */
function toRehearsed(session: TargetSession): TargetSession {
  const { responseReader: _, ...service } = session.service;
  const steps = session.dataset.streams[0]?.slice(0, service.batchSize) ?? [];
  const streams = [steps.map((step) => ({ ...step, expected: new Map() }))];
  return { ...session, service, dataset: { streams, isFromJson: true, warnings: [] } };
}

async function createRehearsalFeed(
  plan: Plan,
  search: LevelSearch,
  session: TargetSession,
  lanes: LaneOptions,
): Promise<RequestFeed> {
  if (loadModeOf(plan.load).dataOrder !== "in-sessions") return createTargetFeed(session, { plan, search, lanes });
  return new RequestFeed(session.service, session.dataset, { usesIds: false });
}

function meterOf({ service }: TargetSession): LevelMeter {
  const meter = new LevelMeter();
  const countsReading = service.wire === "http";
  meter.begin(() => new WindowTally({ isScheduled: false, countsReading, isDecoupled: service.isDecoupled }));
  return meter;
}

interface RehearsalParts {
  readonly search: LevelSearch;
  readonly observer: RunObserver;
  readonly driver: Driver;
  /** Registers a function that runs after the run. */
  atEnd(undo: () => void): void;
}

/** Returns the rehearsal, which runs while connections are opened, before the first request. */
export function prepareRehearsal(
  rehearsed: readonly Rehearsed[],
  { search, observer, driver, atEnd }: RehearsalParts,
): () => Promise<void> {
  const startsEarly = ({ plan }: Rehearsed): boolean => plan.behaviour?.startsEarly === true;
  // Code that is compiled late would affect the time to first token of prompts.
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
    // Hot code is compiled now; other background work must not delay the tokens' timestamps.
    yieldBackgroundThreads();
    // Higher thread priority would delay a local server on the same cores.
    if (!urls.some((url) => isThisHost(parseUrl(url, 0).host))) atEnd(raiseThreadPriority());
    driver.sharing = await openBurstSharing();
  };
}
