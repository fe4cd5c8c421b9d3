import { isScheduled, leastInFlightOf } from "../../load/drive.ts";
import type { CompletionGap } from "../../measure/completion-gaps.ts";
import { type MlperfSample, MlperfTally } from "../../measure/mlperf/mlperf-tally.ts";
import type { Sketch } from "../../measure/sketch.ts";
import { type FinishedTimeline, Timeline } from "../../measure/timeline.ts";
import type { BeginOptions, LevelTokens, RunTokens } from "../../measure/tokens/run-tokens.ts";
import type { ProgressCounts } from "../../result/observer.ts";
import type { DelayedRequests } from "../../result/run-result.ts";
import type { HealthMonitor } from "../../telemetry/health-monitor.ts";
import type { LevelMeter } from "../count/level-meter.ts";
import type { TallyParts } from "../count/tallies.ts";
import {
  type BegunWindow,
  type CountOptions,
  type CutWindow,
  type LastWindow,
  WindowCounter,
} from "../count/window-counter.ts";
import type { RequestGroups } from "../groups/request-groups.ts";
import type { Canceller } from "./canceller.ts";
import type { Driver } from "./driver.ts";
import { untilRoundEnds, untilSteady } from "./end-waits.ts";
import type {
  Drained,
  LoadSender,
  LoadStep,
  QueryMinimums,
  SenderProgress,
  SenderState,
  SenderTotals,
} from "./messages.ts";
import { type BeginChange, type DriveParts, type OwnedDrive, Ownership, prepareChange } from "./owned-drive.ts";

/** What a sender of this thread consists of. */
export interface LocalSenderParts extends TallyParts, DriveParts {
  readonly groups?: RequestGroups | undefined;
  readonly meter: LevelMeter;
  readonly health: HealthMonitor;
  /** Cancels some of the requests; undefined when the plan requests none. */
  readonly canceller: Canceller | undefined;
  /** Measures the tokens of responses; undefined when the plan requests none. */
  readonly tokens: RunTokens | undefined;
  /** See {@link LoadSender.rehearse}. Default: nothing. */
  rehearse?(): Promise<void>;
}

/** Sends from the conductor's own thread. */
export class LocalSender implements LoadSender {
  private readonly parts: LocalSenderParts;
  private readonly driver: Driver;
  private readonly counter: WindowCounter;
  /** Begins the level that was prepared. */
  private next: BeginChange | undefined;
  private readonly owned: Ownership;
  /** What is owned of the load that is prepared. */
  private nextOwned: OwnedDrive | undefined;

  constructor(parts: LocalSenderParts) {
    this.parts = parts;
    this.owned = new Ownership(parts);
    this.driver = parts.driver;
    this.counter = new WindowCounter({ ...parts, sends: parts.driver });
  }

  async rehearse(): Promise<void> {
    await this.parts.rehearse?.();
  }

  prepare(step: LoadStep): Promise<void> {
    return this.driver.prepare(this.owned.of(step).drive);
  }

  async admits(step: LoadStep): Promise<boolean> {
    const { drive, whole } = this.owned.of(step);
    return this.driver.admits(drive, leastInFlightOf(whole));
  }

  async settle(step: LoadStep): Promise<void> {
    const { drive } = this.owned.of(step);
    if (isScheduled(drive)) await this.driver.stop();
    await this.driver.prepare(drive);
  }

  start(step: LoadStep, quota: number, atNs?: number, firstNumber?: number): Promise<void> {
    const owned = this.owned.of(step);
    this.owned.use(owned, firstNumber);
    return this.driver.start(owned.drive, this.owned.shareOf(quota), atNs);
  }

  async prepareChange(step: LoadStep): Promise<void> {
    this.next = undefined;
    const owned = this.owned.of(step);
    this.nextOwned = owned;
    this.next = await prepareChange(this.driver, owned.drive);
  }

  change(quota: number, atNs?: number, firstNumber?: number): void {
    const { next, nextOwned } = this;
    this.next = undefined;
    if (nextOwned !== undefined) this.owned.use(nextOwned, firstNumber);
    this.driver.onAllSent = undefined;
    next?.(this.owned.shareOf(quota), atNs);
  }

  setQuota(quota: number): void {
    this.driver.quota = this.owned.shareOf(quota);
  }

  /** The requests of a query are sent at once: the first one decides for all. */
  endAtMinimums({ startNs, minDurationNs, leastCount: wholeCount, samplesPerQuery }: QueryMinimums): void {
    const { driver } = this;
    let sentCount = 0;
    driver.onSend = (intendedNs) => {
      if (sentCount++ % samplesPerQuery > 0) return;
      // The share is known when the load has started.
      if (sentCount - 1 + samplesPerQuery < this.owned.shareOf(wholeCount)) return;
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
    return this.driver.reachEnded(this.driver.endedCount + this.owned.shareOf(count));
  }

  untilSteady(limitNs: number): Promise<void> {
    if (this.driver.activeLanes === 0 || this.owned.isNothing) return Promise.resolve();
    return untilSteady(this.driver, () => this.counter.openSentNs(), limitNs);
  }

  untilRoundEnds(): Promise<void> {
    const { startNs, endedCount } = this.counter;
    return untilRoundEnds(this.driver, { size: this.owned.roundSize, startNs, endedCount });
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

  async beginWindow(startNs: number, options: CountOptions): Promise<BegunWindow> {
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
    this.parts.tokens?.cut(cut.window);
    return cut;
  }

  pauseCounting(): void {
    this.parts.meter.pause();
  }

  async takeTimeline(): Promise<readonly FinishedTimeline[]> {
    return [this.counter.takeTimeline() ?? []].flat();
  }

  beginRunTimeline(startNs: number): void {
    this.parts.meter.runTimeline = new Timeline(startNs);
  }

  async takeRunTimeline(): Promise<readonly FinishedTimeline[]> {
    const { meter } = this.parts;
    const { runTimeline } = meter;
    meter.runTimeline = undefined;
    return runTimeline === undefined ? [] : [runTimeline.finish()];
  }

  async findGaps(endNs: number, latency: Sketch): Promise<readonly CompletionGap[] | undefined> {
    if (this.owned.isNothing) return undefined;
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
