import { type Drive, limitConcurrency } from "../../load/drive.ts";
import type { PreparedLoad } from "../../load/load-mode.ts";
import type { CompletionGap } from "../../measure/gaps/completion-gaps.ts";
import { type MlperfSample, MlperfTally } from "../../measure/mlperf/mlperf-tally.ts";
import type { Sketch } from "../../measure/sketch.ts";
import { Timeline, type TimelineBucket } from "../../measure/timeline.ts";
import type { BeginOptions, LevelTokens, RunTokens } from "../../measure/tokens/run-tokens.ts";
import type { ProgressCounts } from "../../result/observer.ts";
import type { DelayedRequests } from "../../result/run-result.ts";
import type { HealthMonitor } from "../../telemetry/health-monitor.ts";
import type { LevelMeter } from "../count/level-meter.ts";
import type { TallyParts } from "../count/tallies.ts";
import { type CountOptions, type CutWindow, type LastWindow, WindowCounter } from "../count/window-counter.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import type { Canceller } from "./canceller.ts";
import type { Driver } from "./driver.ts";
import type {
  Drained,
  LoadSender,
  LoadStep,
  QueryMinimums,
  SenderProgress,
  SenderState,
  SenderTotals,
} from "./messages.ts";
import { untilRoundEnds, untilSteady } from "./rounds.ts";
import type { SessionFeed } from "./session-feed.ts";

/**
 * Prepares another load while the current one continues: opens its connections. Returns a function that changes to it at once, with the
 * number of requests it may send. Requests in flight end under the new load. Loads that assign sequences, or lanes that wait for their
 * responses, wait for them first.
 */
export async function prepareChange(driver: Driver, drive: Drive): Promise<(quota: number) => void> {
  await driver.prepare(drive);
  const { closedLoad, lanes } = driver;
  const { createNextLoad } = await import("./scheduled-load.ts");
  const { load, begin } = await createNextLoad(driver, lanes, drive, closedLoad);
  const isSame = load === closedLoad && load === driver.load;
  if (!isSame && (driver.sequences !== undefined || driver.isSync)) await driver.stop();
  return (quota) => {
    if (driver.admits(drive)) driver.replace(load, quota, begin);
  };
}

/** What a sender of this thread consists of. */
export interface LocalSenderParts extends TallyParts {
  readonly groups?: RequestGroups | undefined;
  readonly driver: Driver;
  readonly meter: LevelMeter;
  readonly health: HealthMonitor;
  readonly load: { readonly phases: readonly { readonly load: Pick<PreparedLoad, "drive"> }[] };
  /** Due time of each step, when the load follows the data. */
  readonly timestampsMs: readonly number[];
  /** Cancels some of the requests; undefined when the plan requests none. */
  readonly canceller: Canceller | undefined;
  /** Measures the tokens of responses; undefined when the plan requests none. */
  readonly tokens: RunTokens | undefined;
  /** Set for a load of sessions. */
  readonly sessions: Pick<SessionFeed, "tally"> | undefined;
}

/** Returns how to send at a level. */
export function driveOf(
  { load, timestampsMs }: Pick<LocalSenderParts, "load" | "timestampsMs">,
  step: LoadStep,
): Drive {
  const { phaseIndex, level, draw, mostRequests } = step;
  const phase = load.phases[phaseIndex];
  if (phase === undefined) throw new Error(`the load has no phase ${phaseIndex}`);
  const drive = phase.load.drive(level, timestampsMs, draw);
  return mostRequests === undefined ? drive : limitConcurrency(drive, mostRequests);
}

function roundSizeOf(drive: Drive): number | undefined {
  return drive.kind === "closed" ? drive.concurrency : undefined;
}

/** Sends from the conductor's own thread. */
export class LocalSender implements LoadSender {
  private readonly parts: LocalSenderParts;
  private readonly driver: Driver;
  private readonly counter: WindowCounter;
  /** Begins the level that was prepared. */
  private next: ((quota: number) => void) | undefined;
  /** Number of requests that a closed loop keeps in flight; undefined for other loads. */
  private roundSize: number | undefined;
  private nextRoundSize: number | undefined;

  constructor(parts: LocalSenderParts) {
    this.parts = parts;
    this.driver = parts.driver;
    this.counter = new WindowCounter({ ...parts, sends: parts.driver });
  }

  prepare(step: LoadStep): Promise<void> {
    return this.driver.prepare(driveOf(this.parts, step));
  }

  async admits(step: LoadStep): Promise<boolean> {
    return this.driver.admits(driveOf(this.parts, step));
  }

  start(step: LoadStep, quota: number): Promise<void> {
    const drive = driveOf(this.parts, step);
    this.roundSize = roundSizeOf(drive);
    return this.driver.start(drive, quota);
  }

  async prepareChange(step: LoadStep): Promise<void> {
    this.next = undefined;
    const drive = driveOf(this.parts, step);
    this.nextRoundSize = roundSizeOf(drive);
    this.next = await prepareChange(this.driver, drive);
  }

  change(quota: number): void {
    const { next } = this;
    this.next = undefined;
    this.roundSize = this.nextRoundSize;
    this.driver.onAllSent = undefined;
    next?.(quota);
  }

  setQuota(quota: number): void {
    this.driver.quota = quota;
  }

  /** The requests of a query are sent at once: the first one decides for all. */
  endAtMinimums({ startNs, minDurationNs, leastCount, samplesPerQuery }: QueryMinimums): void {
    const { driver } = this;
    let sentCount = 0;
    driver.onSend = (intendedNs) => {
      if (sentCount++ % samplesPerQuery > 0 || sentCount - 1 + samplesPerQuery < leastCount) return;
      const atNs = Number.isNaN(intendedNs) ? driver.clock.nowNs() : intendedNs;
      if (atNs - startNs < minDurationNs) return;
      driver.onSend = undefined;
      driver.quota = samplesPerQuery;
    };
  }

  setWarmup(isWarmup: boolean): void {
    const { canceller } = this.parts;
    if (canceller !== undefined) canceller.isEnabled = !isWarmup;
  }

  rewind(): void {
    this.driver.rewind();
  }

  stop(): Promise<void> {
    this.counter.keepLanes();
    return this.driver.stop();
  }

  cancel(message: string, which?: "all" | "unsent"): void {
    this.driver.cancel(message, which);
  }

  close(cancelMessage?: string): void {
    this.driver.close(cancelMessage);
    this.parts.health.stop();
  }

  untilMoreEnded(count: number): Promise<void> {
    return this.driver.reachEnded(this.driver.endedCount + count);
  }

  untilSteady(limitNs: number): Promise<void> {
    return untilSteady(this.driver, () => this.counter.openSentNs(), limitNs);
  }

  untilRoundEnds(): Promise<void> {
    const { startNs, endedCount } = this.counter;
    return untilRoundEnds(this.driver, { size: this.roundSize, startNs, endedCount });
  }

  untilAllSent(): Promise<void> {
    return new Promise((resolve) => {
      this.driver.onAllSent = resolve;
      if (this.driver.quota <= 0) resolve();
    });
  }

  async untilFinished(): Promise<void> {
    await this.driver.finished();
    this.driver.onSend = undefined;
  }

  async state(): Promise<SenderState> {
    const { sentCount, endedCount, outstanding, activeLanes, ended } = this.driver;
    const { completedCount, failedCount, cancelledCount } = ended;
    return { sentCount, endedCount, outstanding, activeLanes, completedCount, failedCount, cancelledCount };
  }

  async delayedByLimit(): Promise<DelayedRequests | undefined> {
    return this.driver.delayedByLimit;
  }

  async takeUnsent(atNs: number): Promise<number> {
    return this.driver.load.takeUnsent?.(atNs) ?? 0;
  }

  async totals(): Promise<SenderTotals> {
    const { connectionCount, resendCount, received, servers } = this.driver.client;
    const statuses = [...(received?.statusCounts.entries() ?? [])].filter(([, count]) => count > 0);
    return {
      connectionCount,
      resendCount,
      ...(received === undefined
        ? {}
        : { received: { bytes: received.bytes, statuses: Object.fromEntries(statuses) } }),
      servers,
      sessions: this.parts.sessions?.tally,
    };
  }

  progress(): SenderProgress {
    const { sentCount, outstanding, quota, isSending, ended } = this.driver;
    const { completedCount, failedCount, lastSuccessNs } = ended;
    return { sentCount, outstanding, completedCount, failedCount, quota, isSending, lastSuccessNs };
  }

  counts(): ProgressCounts {
    const { sentCount, outstanding, ended, client } = this.driver;
    const { completedCount, failedCount, cancelledCount } = ended;
    let openResponses = 0;
    for (const { isActive, messageCount } of client.calls) if (isActive) openResponses += messageCount;
    return { sentCount, completedCount, failedCount, cancelledCount, outstanding, openResponses };
  }

  /** Not {@link drain}, which would also judge the deferred responses. */
  drainRecords(): void {
    this.driver.ended.drainRecords();
  }

  async drain(): Promise<Drained> {
    this.driver.drain();
    const { lastEndNs, lastSendNs, collected } = this.parts.meter;
    return { lastEndNs, lastSendNs, collected };
  }

  async beginWindow(startNs: number, options: CountOptions): Promise<number> {
    return this.counter.begin(startNs, options);
  }

  lead(startNs: number, options: CountOptions): void {
    this.counter.lead(startNs, options);
  }

  restartWindow(startNs: number): void {
    this.counter.restart(startNs);
  }

  async cut(endNs: number, last?: LastWindow): Promise<CutWindow> {
    const cut = this.counter.cut(endNs, last);
    this.parts.tokens?.cut({ startNs: cut.window.startNs, endNs });
    return cut;
  }

  pauseCounting(): void {
    this.parts.meter.pause();
  }

  async takeTimeline(endNs: number): Promise<readonly TimelineBucket[]> {
    const { meter } = this.parts;
    const { timeline } = meter;
    meter.timeline = undefined;
    return timeline?.finish(endNs, this.counter.openSentNs()) ?? [];
  }

  beginRunTimeline(startNs: number): void {
    this.parts.meter.runTimeline = new Timeline(startNs);
  }

  async takeRunTimeline(leastEndNs: number): Promise<readonly TimelineBucket[]> {
    const { meter } = this.parts;
    const { runTimeline } = meter;
    meter.runTimeline = undefined;
    return runTimeline?.finish(Math.max(leastEndNs, runTimeline.lastEndNs)) ?? [];
  }

  async findGaps(endNs: number, latency: Sketch): Promise<readonly CompletionGap[]> {
    return this.counter.findGaps(endNs, latency);
  }

  async countQueries(samplesPerQuery: number): Promise<void> {
    this.parts.meter.mlperf = new MlperfTally(samplesPerQuery);
  }

  async queries(): Promise<MlperfSample | undefined> {
    return this.parts.meter.mlperf?.sample();
  }

  beginTokens(startNs: number, options: BeginOptions): void {
    this.parts.tokens?.begin(this.parts.plan, startNs, options);
  }

  warmUpTokens(): void {
    this.parts.tokens?.warmUp();
  }

  resetTokens(): void {
    this.parts.tokens?.reset();
  }

  resumeTokens(): void {
    this.parts.tokens?.resume();
  }

  async mergeTokens(windowCount: number): Promise<LevelTokens | undefined> {
    return this.parts.tokens?.mergeLevel(windowCount);
  }

  async takeRecentTokens(tap: number): Promise<LevelTokens | undefined> {
    return this.parts.tokens?.takeRecent(tap);
  }
}
