import { levelAt } from "../load/levels.ts";
import type { PreparedLoad } from "../load/load-mode.ts";
import type { TokenLink, TokenThread } from "../measure/tokens/token-thread.ts";
import type { CancellationPlan } from "../plan/cancellation.ts";
import type { Plan } from "../plan/plan.ts";
import { maxResponseBytesOf } from "../plan/response-limit.ts";
import { msToNs } from "../plan/units.ts";
import { prepareLoad } from "../registry/load-modes.ts";
import type { RunObserver } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";
import { nowNs } from "../runtime/clock.ts";
import type { WireRequest } from "../transport/request.ts";
import { ALONE, type Peers } from "./peers/peers.ts";
import type { RunParts } from "./run-parts.ts";
import { RunSignal } from "./run-signal.ts";
import type { Canceller } from "./send/canceller.ts";
import { createFeed } from "./send/create-feed.ts";
import { Driver } from "./send/driver.ts";
import { checkOpenFiles, laneOptionsOf, UNKNOWN_MODEL } from "./send/lanes.ts";
import type { ServerMetrics } from "./server-metrics.ts";
import { traceSends } from "./target/create-client.ts";
import { openTarget, type Session } from "./target/session.ts";

/** Begins a plan's run: reaches the target, and has the first request on its way as soon as can be. */

/** A run that can be interrupted. */
export interface RunningPlan {
  /** Resolves with what was measured, also when the run was interrupted or could not go on. Rejects when it could not begin. */
  readonly result: Promise<RunResult>;
  /** Ends the run early; what was measured so far becomes a partial result. */
  interrupt(): void;
}

/**
 * Begins a run.
 * @param openObserver makes what follows the run, called once before anything is told; it rejects when it cannot
 * @param check rejects when the plan is not sound; it is called before anything is reported, but not where it would delay the first request:
 *   front doors check what users gave them themselves, so that this guards against mistakes of their own
 * @param peers who measures with it; default: nobody
 * @param meter measures the tokens of answers, and stays open; default: a thread of the run's own, where the plan wants tokens
 */
export function startPlan(
  plan: Plan,
  openObserver: () => Promise<RunObserver>,
  check: () => Promise<unknown>,
  peers: Peers = ALONE,
  meter?: TokenLink,
): RunningPlan {
  const signal = new RunSignal();
  return { result: runPlan(plan, openObserver, signal, check, peers, meter), interrupt: () => signal.interrupt() };
}

async function runPlan(
  plan: Plan,
  openObserver: () => Promise<RunObserver>,
  signal: RunSignal,
  check: () => Promise<unknown>,
  peers: Peers,
  meter: TokenLink | undefined,
): Promise<RunResult> {
  const load = prepareLoad(plan.load);
  const { stallTimeoutMs, requestTimeoutMs } = plan.client;
  checkOpenFiles(plan, load.search);
  const firstConcurrency = peers.count > 1 ? undefined : concurrencyAtOnce(plan, load);
  let observer = firstConcurrency === undefined ? await openObserver() : undefined;
  const target = await openTarget(plan, observer ?? {}, load.search, signal);
  let restoreTrace: (() => Promise<void>) | undefined;
  let metrics: ServerMetrics | undefined;
  // The thread loads its tokenizer while the server is asked and the data is made.
  const openingTokens = meter === undefined ? openTokens(plan) : undefined;
  openingTokens?.catch(() => {});
  try {
    restoreTrace = await target.setTrace?.();
    let session: Session | undefined;
    // The driver is made and opens its first connection while the server thinks.
    const settingUp = target.setUp();
    settingUp.catch(() => {});
    const canceller = plan.cancellation === undefined ? undefined : await createCanceller(plan.cancellation);
    const driver = new Driver({
      canceller,
      ...laneOptionsOf(plan, load.search, UNKNOWN_MODEL),
      stallTimeoutNs: msToNs(stallTimeoutMs),
      requestTimeoutNs: requestTimeoutMs === undefined ? undefined : msToNs(requestTimeoutMs),
      maxResponseBytes: maxResponseBytesOf(plan.client),
      createClient: (options) => {
        const client = target.createClient(options);
        return isTracing(plan) ? traceSends(client, (request) => traceSend(request, session, observer)) : client;
      },
    });
    const undos: (() => void)[] = [];
    try {
      driver.prepareFirst();
      session = await signal.unlessInterrupted(settingUp);
      const lanes = laneOptionsOf(plan, load.search, session.service);
      driver.setLanes(lanes);
      const feed = await createFeed(plan, load.search, session, lanes);
      const tokens = meter ?? (openingTokens && (await signal.unlessInterrupted(openingTokens)).link);
      const startNs = nowNs();
      if (firstConcurrency !== undefined) await driver.sendFirst(feed, firstConcurrency);
      observer ??= await openObserver();
      if (plan.telemetry.metrics !== null) metrics = await openMetrics(plan, observer);
      const { MeasuredRun } = await import("./measured-run.ts");
      const poller = metrics?.poller;
      const measuring = { plan, observer, signal, load, session, feed, driver, canceller, poller, tokens };
      const rehearse = isRehearsed(plan)
        ? await loadRehearsal(plan, session, driver, (undo) => undos.push(undo))
        : undefined;
      const parts: RunParts = { ...measuring, peers, rehearse, startNs, check };
      if (plan.telemetry.scrapes === undefined) return await new MeasuredRun(parts).execute();
      const { openScrapes } = await import("./scrapes.ts");
      return await openScrapes(plan.telemetry.scrapes, observer, signal).around((followed) =>
        new MeasuredRun({ ...parts, observer: followed }).execute(),
      );
    } finally {
      driver.close();
      for (const undo of undos) undo();
    }
  } finally {
    metrics?.close();
    if (openingTokens !== undefined) await closeTokens(openingTokens);
    await restoreTrace?.();
    for (const reason of await target.close()) observer?.onWarning?.({ kind: "memory-kept", reason });
  }
}

/** Requests to a language model are few and long: a tool that warms up at their expense would be seen in the times to the first token. */
function isRehearsed({ target, client, outputs }: Plan): boolean {
  return target.kind === "openai" && client.kind === "own" && outputs.style !== "perf_analyzer";
}

/** @param atEnd takes what is to be undone when the run is over */
async function loadRehearsal(
  { target }: Plan,
  session: Session,
  driver: Driver,
  atEnd: (undo: () => void) => void,
): Promise<() => Promise<void>> {
  const { rehearse } = await import("./rehearsal.ts");
  if (!target.isStreaming) return () => rehearse(session, false);
  const { openBurstSharing } = await import("./send/burst-sharing.ts");
  const { yieldBackgroundThreads } = await import("../runtime/background-threads.ts");
  const { raiseThreadPriority } = await import("../runtime/thread-priority.ts");
  const { isOwnHost } = await import("../runtime/own-host.ts");
  const { parseUrl } = await import("./target/endpoint.ts");
  const urls = target.kind === "openai" ? [target.url, ...(target.moreUrls ?? [])] : [];
  return async () => {
    await rehearse(session, true);
    // What matters is compiled: the rest may not come between the tokens' times.
    yieldBackgroundThreads();
    // A server on the same cores would have to wait for it.
    if (!urls.some((url) => isOwnHost(parseUrl(url, 0).host))) atEnd(raiseThreadPriority());
    driver.shareBursts(await openBurstSharing());
  };
}

async function createCanceller(plan: CancellationPlan): Promise<Canceller> {
  const { Canceller } = await import("./send/canceller.ts");
  return new Canceller(plan);
}

function openTokens({ measurement: { tokens } }: Plan): Promise<TokenThread> | undefined {
  return tokens && import("../measure/tokens/token-thread.ts").then(({ startTokenThread }) => startTokenThread(tokens));
}

/** One that could not be opened has told so where it was waited for. */
async function closeTokens(opening: Promise<TokenThread>): Promise<void> {
  await opening.then(
    (tokens) => tokens.close(),
    () => {},
  );
}

async function openMetrics(plan: Plan, observer: RunObserver): Promise<ServerMetrics | undefined> {
  const { openServerMetrics } = await import("./server-metrics.ts");
  return openServerMetrics(plan, (warning) => observer.onWarning?.(warning));
}

/**
 * The concurrency of the first level, where its first request may leave before anything is measured or told: windows begin later, no
 * request is counted off, and the server's counters are not asked for beforehand.
 */
function concurrencyAtOnce({ measurement, outputs, telemetry }: Plan, load: PreparedLoad): number | undefined {
  const { mode, warmupRequests, warmupMs = 0 } = measurement;
  // A Ctrl-C has to be heard from the moment on when the server's settings are changed.
  if (telemetry.trace !== null) return undefined;
  if (mode.kind !== "time-windows" && mode.kind !== "count-windows") return undefined;
  if (warmupRequests + warmupMs > 0 || outputs.style !== "perf_analyzer" || outputs.verbosity === 2) return undefined;
  const drive = load.drive(levelAt(load.search.levels, 0) ?? 1, []);
  return drive.kind === "closed" ? drive.concurrency : undefined;
}

/** perf_analyzer prints the requests it sends over HTTP only. */
function isTracing({ outputs, target }: Plan): boolean {
  return outputs.verbosity === 2 && target.protocol === "http";
}

function traceSend(request: WireRequest, session: Session | undefined, observer: RunObserver | undefined): void {
  if (session !== undefined) observer?.onTrace?.({ kind: "request", text: session.service.codec.describe(request) });
}
