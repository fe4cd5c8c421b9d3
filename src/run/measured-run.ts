import { levelAt } from "../load/levels.ts";
import type { Drive, PreparedLoad } from "../load/load-mode.ts";
import type { RecordColumns } from "../measure/records.ts";
import { subtractCounters } from "../measure/server-delta.ts";
import type { TokenThread } from "../measure/token-thread.ts";
import type { Plan } from "../plan/plan.ts";
import { messageOf, RunError, UserError } from "../plan/problem.ts";
import { nowNs, sleepMs, toEpochNs } from "../runtime/clock.ts";
import { endStartUp } from "../runtime/runtime.ts";
import type { ServerCounters } from "../service/statistics.ts";
import type { MetricsPoller } from "../telemetry/metrics-poller.ts";
import type { Canceller } from "./canceller.ts";
import type { Driver } from "./driver.ts";
import type { DriverWork } from "./driver-work.ts";
import { FailurePolicy } from "./failure-policy.ts";
import type { RequestFeed } from "./feed.ts";
import { HealthMonitor } from "./health-monitor.ts";
import { RequestJudge } from "./judge.ts";
import { callModeOf } from "./lanes.ts";
import { type LevelContext, LevelError, LevelRun } from "./level.ts";
import { LevelMeter } from "./level-meter.ts";
import type { LevelResult, PreparedRun, RunObserver, RunResult } from "./observer.ts";
import type { Peers } from "./peers.ts";
import { progressOf } from "./progress.ts";
import type { RunSignal } from "./run-signal.ts";
import type { Session } from "./session.ts";
import type { SessionFeed } from "./session-feed.ts";

/** After an error what is outstanding is waited for so long. */
const GIVE_UP_MS = 1000;

/** What the beginning of a run made, for the rest of it. */
export interface RunParts {
  readonly plan: Plan;
  readonly observer: RunObserver;
  readonly signal: RunSignal;
  readonly load: PreparedLoad;
  readonly session: Session;
  readonly feed: RequestFeed;
  readonly driver: Driver;
  /** Gives up some of the requests; undefined when the plan asks for none. */
  readonly canceller: Canceller | undefined;
  /** Reads the server's metrics; undefined when the plan asks for none. */
  readonly poller: MetricsPoller | undefined;
  /** Measures the tokens of answers; undefined when the plan asks for none. */
  readonly tokens: TokenThread | undefined;
  readonly peers: Peers;
  /** What is done while connections are opened and accepted, before the first request. */
  readonly rehearse: (() => Promise<void>) | undefined;
  /** Before the first request. */
  readonly startNs: number;
  /** Rejects when the plan is not sound. */
  check(): Promise<unknown>;
}

/**
 * A run once the server has told its model: warm-up, levels, search. It is loaded while the first request is under way, together with all
 * that measures.
 */
export class MeasuredRun {
  private readonly parts: RunParts;
  private readonly plan: Plan;
  private readonly observer: RunObserver;
  private readonly signal: RunSignal;
  private readonly load: PreparedLoad;
  private readonly session: Session;
  private readonly sessions: SessionFeed | undefined;
  private readonly meter = new LevelMeter();
  private readonly health = new HealthMonitor();
  private readonly policy: FailurePolicy;
  private readonly driver: Driver;
  private readonly canceller: Canceller | undefined;
  private readonly poller: MetricsPoller | undefined;
  private readonly tokens: TokenThread | undefined;
  private readonly prepared: PreparedRun;
  private readonly levels: LevelResult[] = [];
  /** When each step of the data is due, where the load follows the data. */
  private readonly timestampsMs: number[] = [];
  private isDriverOpen = false;
  private isAnnounced = false;
  private isChecked = false;
  private warmupSentCount = 0;
  private warmupFailedCount = 0;
  private readonly manyVersioned = new Set<string>();

  constructor(parts: RunParts) {
    const { plan, observer, signal, load, session, feed, driver, canceller, poller, tokens } = parts;
    this.parts = parts;
    this.tokens = tokens;
    this.plan = plan;
    this.canceller = canceller;
    this.poller = poller;
    this.observer = observer;
    this.signal = signal;
    this.load = load;
    this.session = session;
    this.sessions = feed.sessions;
    if (plan.load.kind === "fixed-schedule")
      for (const { timestampMs = 0 } of session.dataset.streams[0] ?? []) this.timestampsMs.push(timestampMs);
    this.prepared = {
      plan,
      service: session.service,
      dataset: session.dataset,
      levelUnit: load.search.unit,
      warnings: session.warnings,
      callMode: callModeOf(plan, session.service),
      laneCount: driver.laneCount,
      requestCount: this.requestCount(),
    };
    const judge = new RequestJudge(session, feed, plan.outputs.verbosity, observer, tokens?.answers);
    this.driver = driver;
    this.policy = new FailurePolicy(plan, signal, driver);
    const judgeCall: DriverWork["judge"] = (call, slots) => judge.judge(call, slots);
    driver.take({
      feed,
      needsBodies: judge.needsBodies,
      canWait: judge.canWait,
      readsFirst: plan.target.kind === "openai" && plan.target.isStreaming,
      onRecords: (records: RecordColumns, count: number) => {
        this.meter.add(records, count);
        observer.onBatch?.(records, count);
      },
      judge: feed.sessions?.follow(judgeCall) ?? judgeCall,
      onFailure: (failure, lane) => this.policy.add(failure, lane),
      onError: (error) => this.signal.fail(toRunError(error)),
    });
    observer.onProgress?.(progressOf(driver));
  }

  async execute(): Promise<RunResult> {
    let before: ServerCounters[] | undefined;
    try {
      const first = levelAt(this.load.search.levels, 0);
      if (first !== undefined) this.openAhead(first);
      await this.parts.rehearse?.();
      // perf_analyzer's questions to the server are an interface of their own: none is added to them.
      if (this.plan.outputs.style === "rampart") before = await this.session.counters();
      if (this.load.search.search === "binary") await this.searchBinary();
      else await this.searchLinear();
      // Until then the load goes on: the others measure under it.
      if (!this.signal.isStopped) await this.parts.peers.waitForEnd(this.signal);
    } catch (error) {
      if (error instanceof UserError) throw error;
      this.signal.fail(this.explainNothing(error) ?? toRunError(error));
    }
    await this.shutDown();
    return this.toResult(await this.wholeRunDelta(before));
  }

  /** A window without a success is not too short when every request fails; perf_analyzer says so all the same. */
  private explainNothing(error: unknown): RunError | undefined {
    const { completedCount, failedCount } = this.driver;
    if (!(error instanceof LevelError) || this.plan.outputs.style === "perf_analyzer") return undefined;
    if (completedCount > 0 || failedCount === 0) return undefined;
    const example = this.policy.log.list()[0]?.example ?? "";
    return new RunError(
      "failed-request",
      `all ${failedCount} requests failed: ${example}`,
      "Look at what the server says.",
    );
  }

  /** Begins to open all connections where the window may only begin with them, while nothing else is waited for. */
  private openAhead(level: number): void {
    if (this.isWhole) void this.driver.prepare(this.driveAt(level));
  }

  /** Whether nothing may be under way when a measurement begins, so that it holds all of its requests. */
  private get isWhole(): boolean {
    const { mode } = this.plan.measurement;
    return mode.kind === "requests" || (mode.kind === "duration" && mode.graceMs !== undefined);
  }

  private driveAt(level: number): Drive {
    return this.load.drive(level, this.timestampsMs);
  }

  /** How many requests are sent in all; undefined where time decides. */
  private requestCount(): number | undefined {
    const { mode } = this.plan.measurement;
    if (mode.kind !== "requests") return undefined;
    return mode.count ?? this.sessions?.turnCount ?? this.timestampsMs.length;
  }

  private async searchLinear(): Promise<void> {
    const { levels } = this.load.search;
    let index = 0;
    for (let level = levelAt(levels, 0); level !== undefined; level = levelAt(levels, ++index)) {
      if (!(await this.runLevel(level))) return;
    }
  }

  /** Measures the start, the end, then midpoints until the interval is as small as the step. */
  private async searchBinary(): Promise<void> {
    const { levels, unit } = this.load.search;
    if (levels.kind !== "range" || levels.end === null) throw new Error("a binary search needs a range with an end");
    if (!(await this.runLevel(levels.start))) return;
    if (await this.runLevel(levels.end)) return;
    let low = levels.start;
    let high = levels.end;
    while (high - low > levels.step && !this.signal.isStopped) {
      const middle = unit === "concurrency" ? Math.floor((low + high) / 2) : (low + high) / 2;
      if (await this.runLevel(middle)) low = middle;
      else high = middle;
    }
  }

  /** Measures a level; true when it is stable and within the latency limit, so that the search goes on. */
  private async runLevel(level: number): Promise<boolean> {
    await this.parts.peers.waitForAll(this.signal);
    const { warmupRequests, warmupMs = 0 } = this.plan.measurement;
    if (warmupRequests + warmupMs > 0 && !this.signal.isStopped) await this.warmUp(level, warmupRequests, warmupMs);
    const { signal } = this;
    // When the very first request has failed already, the run is told of all the same.
    if (signal.isInterrupted || (signal.isStopped && this.isAnnounced)) return false;
    const result = await this.measureLevel(level).finally(() => this.poller?.stop());
    this.policy.checkRatio();
    this.levels.push(result);
    this.observer.onLevelEnd?.(result);
    return result.outcome === "measured";
  }

  private async measureLevel(level: number): Promise<LevelResult> {
    const { unit } = this.load.search;
    const drive = this.driveAt(level);
    const context: LevelContext = {
      plan: this.plan,
      session: this.session,
      driver: this.driver,
      health: this.health,
      signal: this.signal,
      peers: this.parts.peers,
      observer: this.observer,
      poller: this.poller,
      tokens: this.tokens,
      unit,
      isScheduled: drive.kind === "scheduled",
      isAsync: this.prepared.callMode === "async",
      checkFailures: () => this.policy.checkRatio(),
      fail: (error) => this.signal.fail(toRunError(error)),
      warnOfVersions: (model) => this.warnOfVersions(model),
    };
    const run = new LevelRun(context, this.meter, level);
    this.isDriverOpen = true;
    if (this.canceller !== undefined) this.canceller.isOn = true;
    if (this.isWhole) {
      // Nothing may be sent before the window begins, nor after the last request that is asked for.
      await Promise.race([this.driver.stop(), this.signal.stopped]);
      const ready = this.driver.prepare(drive);
      this.announce();
      this.observer.onLevelStart?.(unit, level, false);
      await run.begin(ready);
      const quota = this.requestCount() ?? Number.POSITIVE_INFINITY;
      await Promise.race([this.driver.start(drive, quota), this.signal.stopped]);
      const result = await run.measure();
      await this.checkOnce();
      return result;
    }
    // A change of schedules waits for what is outstanding, which may never be answered.
    await Promise.race([this.driver.start(drive, Number.POSITIVE_INFINITY), this.signal.stopped]);
    this.announce();
    this.observer.onLevelStart?.(unit, level, false);
    await this.checkOnce();
    await run.begin(undefined);
    return run.measure();
  }

  private warnOfVersions(model: string): void {
    if (this.manyVersioned.has(model)) return;
    this.manyVersioned.add(model);
    this.observer.onWarning?.({ kind: "many-versions", model });
  }

  /** Says what will be done, once: while connections open or when the load has begun, not before. */
  private announce(): void {
    if (this.isAnnounced) return;
    this.isAnnounced = true;
    endStartUp();
    this.observer.onPrepared?.(this.prepared);
  }

  /** Checks the plan, once, outside of measured time. */
  private async checkOnce(): Promise<void> {
    if (this.isChecked) return;
    this.isChecked = true;
    await this.parts.check();
  }

  private async warmUp(level: number, count: number, durationMs: number): Promise<void> {
    const { driver, policy, canceller, signal } = this;
    const { warmUp, warmUpDrive } = await import("./warm-up.ts");
    const drive = warmUpDrive(this.driveAt(level), count, durationMs);
    this.announce();
    this.observer.onLevelStart?.(this.load.search.unit, drive.kind === "closed" ? drive.concurrency : level, true);
    this.isDriverOpen = true;
    const { sentCount, failedCount } = await warmUp({ driver, policy, canceller, signal, drive, count, durationMs });
    this.warmupSentCount += sentCount;
    this.warmupFailedCount += failedCount;
  }

  /** Stops sending and waits for what is outstanding, so that the server's counts and ours agree; an error does not wait. */
  private async shutDown(): Promise<void> {
    if (this.isDriverOpen) {
      await Promise.race([this.driver.stop(), this.signal.failed.then(() => sleepMs(GIVE_UP_MS))]);
    }
    this.driver.close();
    this.health.stop();
  }

  private async wholeRunDelta(before: ServerCounters[] | undefined): Promise<RunResult["server"]> {
    if (before === undefined || this.signal.error !== undefined) return undefined;
    const { model, composing } = this.session.service;
    const called = { name: model.name, version: model.version, composing };
    const giveUpNs = nowNs() + 500e6;
    for (;;) {
      const after = await this.session.counters().catch(() => undefined);
      if (after === undefined) return undefined;
      const delta = subtractCounters(before, after, called);
      if ((delta?.successCount ?? 0) >= this.driver.completedCount || nowNs() > giveUpNs) return delta;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  private toResult(server: RunResult["server"]): RunResult {
    const warmup = { sentCount: this.warmupSentCount, failedCount: this.warmupFailedCount };
    return {
      prepared: this.prepared,
      levels: this.levels,
      sentCount: this.driver.sentCount,
      completedCount: this.driver.completedCount,
      failedCount: this.driver.failedCount,
      cancelledCount: this.driver.cancelledCount,
      failures: this.policy.log.list(),
      ...(warmup.sentCount > 0 ? { warmup } : {}),
      connectionCount: this.driver.client.connectionCount,
      servers: this.driver.client.servers,
      sessions: this.sessions?.tally,
      server,
      isInterrupted: this.signal.isInterrupted,
      error: this.signal.error,
      laneErrors: this.policy.laneErrors,
      startEpochNs: toEpochNs(this.parts.startNs),
      durationNs: nowNs() - this.parts.startNs,
    };
  }
}

function toRunError(error: unknown): RunError {
  if (error instanceof RunError) return error;
  if (error instanceof UserError) return new RunError("unsupported", error.message, "Correct the input data.");
  if (error instanceof LevelError)
    return new RunError(
      "failed-request",
      error.message,
      "Raise --measurement-interval, or look why no request ends in time.",
    );
  return new RunError("internal", messageOf(error), error instanceof Error ? (error.stack ?? "") : "");
}
