import { type CompletionGap, CompletionGaps } from "../../measure/gaps/completion-gaps.ts";
import { NO_OPEN_REQUESTS, type OpenRequests, sumOpenRequests } from "../../measure/open-requests.ts";
import { flattenComposing, type ServerDelta } from "../../measure/server-delta.ts";
import { Timeline } from "../../measure/timeline.ts";
import { toWindowResult, type WindowResult, WindowTally } from "../../measure/window.ts";
import { msToNs } from "../../plan/units.ts";
import { toEpochNs } from "../../runtime/clock.ts";
import type { ServerCounters } from "../../service/statistics.ts";
import { GroupCutter, toGroupWindows } from "./group-cutter.ts";
import type { LevelContext } from "./level-context.ts";
import type { LevelMeter } from "./level-meter.ts";
import { awaitDelta } from "./settled-delta.ts";

/** Divides a level's time into windows and collects what was measured in each. */
export class WindowCutter {
  private readonly context: LevelContext;
  private readonly meter: LevelMeter;
  private readonly groups: GroupCutter | undefined;
  /** Start of the current window. */
  startNs = 0;
  private sentBefore = 0;
  private openBefore: OpenRequests = NO_OPEN_REQUESTS;
  private countersBefore: ServerCounters[] | undefined;
  /** Of the whole level. */
  private gaps: CompletionGaps | undefined;
  /** Send times of the requests that were in flight at the end of the last window. */
  private openSentAtCutNs: readonly number[] = [];
  /** Resolves when the first counters are read, for a window that does not wait for them. */
  private countersRead: Promise<void> | undefined;

  constructor(context: LevelContext, meter: LevelMeter) {
    this.context = context;
    this.meter = meter;
    this.groups = context.groups === undefined ? undefined : new GroupCutter(context, context.groups);
  }

  /** Number of requests sent in the current window. */
  get sentCount(): number {
    return this.context.driver.sentCount - this.sentBefore;
  }

  /** Whether the server reports counters. */
  get hasServerCounters(): boolean {
    return this.countersBefore !== undefined;
  }

  /** Discards earlier records and begins the first window. @param ready without load: what the window waits for */
  async begin(ready: Promise<void> | undefined): Promise<void> {
    const { driver, session, observer, signal } = this.context;
    driver.drain();
    observer.onRecordsCut?.(undefined);
    this.context.tokens?.reset();
    this.open(driver.clock.nowNs());
    const isReady = ready && Promise.race([ready, signal.stopped]);
    [this.countersBefore] = await Promise.all([session.counters(), isReady, this.groups?.readCounters()]);
    // Without load, the time for reading the counters must not be part of the window.
    if (driver.activeLanes > 0) return;
    this.startNs = driver.clock.nowNs();
    this.startTimes();
  }

  /**
   * Begins the first window in the middle of a load. Requests in flight then are counted when they end.
   * @param startNs the end of what was measured before
   */
  continueAt(startNs: number): void {
    this.open(startNs);
    this.countersRead = Promise.all([this.context.session.counters(), this.groups?.readCounters()]).then(
      ([counters]) => {
        this.countersBefore = counters;
      },
      (error: unknown) => this.context.fail(error),
    );
  }

  private open(startNs: number): void {
    const { driver, session, health, isScheduled, observer } = this.context;
    const { wire, answerReader, isDecoupled: isModelDecoupled, hasManyResponses } = session.service;
    const isDecoupled = isModelDecoupled || hasManyResponses === true;
    const extractedNames = answerReader?.names;
    const options = { isScheduled, countsReading: wire === "http", isDecoupled, extractedNames };
    this.meter.begin(
      () => new WindowTally(options),
      () => this.groups?.newTallies() ?? [],
    );
    this.startNs = startNs;
    this.sentBefore = driver.sentCount;
    observer.onWindowStart?.(this.meter.windowNumber);
    this.groups?.begin(startNs);
    this.openBefore = sumOpenRequests(this.openSentNs(), startNs);
    this.startTimes();
    health.start();
    this.context.poller?.start();
  }

  private startTimes(): void {
    this.gaps = new CompletionGaps(this.startNs);
    this.meter.gaps = this.gaps;
    const { mode } = this.context.plan.measurement;
    if (mode.kind === "duration") this.meter.timeline = new Timeline(this.startNs, msToNs(mode.durationMs));
  }

  /**
   * Ends the window at `endNs` and begins the next one.
   * @param last for a level's last window: active lanes before the driver stopped, and time of requests in flight after the window
   */
  async cut(endNs: number, last?: { readonly laneCount: number; readonly afterEndNs: number }): Promise<WindowResult> {
    const { driver, health, canLanesWait, observer } = this.context;
    driver.drain();
    const { windowNumber } = this.meter;
    const tally = this.meter.cut();
    const parts = this.groups?.cut(this.meter.cutGroups(), endNs);
    const { startNs } = this;
    const { sentCount } = this;
    const gpu = this.context.poller?.take();
    const { openBefore } = this;
    this.openSentAtCutNs = this.openSentNs();
    const openAfter = sumOpenRequests(this.openSentAtCutNs, endNs);
    const { laneCount = driver.activeLanes, afterEndNs = 0 } = last ?? {};
    const counts = { sentCount, openBefore, openAfter, afterEndNs, laneCount };
    const frame = { startNs, endNs, ...counts, canLanesWait, health: health.take(), gpu };
    this.startNs = endNs;
    this.openBefore = openAfter;
    this.sentBefore = driver.sentCount;
    this.context.tokens?.cut();
    observer.onRecordsCut?.({ startEpochNs: toEpochNs(startNs), endEpochNs: toEpochNs(endNs) });
    observer.onWindowStart?.(this.meter.windowNumber);
    await this.countersRead;
    const [server, memberServers] = await Promise.all([
      this.serverDelta(tally.latency.count),
      parts && this.groups?.memberServers(parts),
    ]);
    const numbers = { first: windowNumber, last: windowNumber };
    const window = { ...toWindowResult(tally, { ...frame, server }), numbers };
    return parts === undefined ? window : { ...window, ...toGroupWindows(parts, frame), ...memberServers };
  }

  /** Returns the times within a window of this level in which nothing ended for much longer than usual, since the start of the run. Call after it was cut. */
  findGaps({ startNs, endNs, latency }: WindowResult): CompletionGap[] {
    const all = this.gaps?.find(endNs, this.openSentAtCutNs, latency) ?? [];
    const { runStartNs } = this.context;
    return all
      .filter((gap) => gap.endNs > startNs && gap.startNs < endNs)
      .map((gap) => ({ ...gap, startNs: gap.startNs - runStartNs, endNs: gap.endNs - runStartNs }));
  }

  /** Returns the send time of each request in flight. */
  openSentNs(): number[] {
    const { calls } = this.context.driver.client;
    return calls.filter(({ isActive }) => isActive).map(({ sendStartNs }) => sendStartNs);
  }

  /** Returns the increase of the server's counters in the window; waits briefly for counters that lag. */
  private async serverDelta(completed: number): Promise<WindowResult["server"]> {
    const { session, driver, plan, signal } = this.context;
    const before = this.countersBefore;
    // After an error the server may not answer; the measurement counts without its times.
    if (before === undefined || (signal.error !== undefined && !signal.isAborted)) return undefined;
    // With nothing outstanding, the counters must include every request; under load, any increase is enough.
    const expected =
      plan.measurement.mode.kind === "requests" && driver.outstanding === 0 ? completed : Math.min(1, completed);
    const settled = await awaitDelta(session, before, expected, driver.clock).catch((error: unknown) => {
      // The measurement counts without the server's times.
      this.context.fail(error);
    });
    if (settled === undefined) return undefined;
    const { delta, after } = settled;
    this.countersBefore = after;
    if (delta !== undefined) this.warnOfVersions(delta);
    return delta;
  }

  private warnOfVersions(delta: ServerDelta): void {
    for (const { name, hasManyVersions } of [delta, ...flattenComposing(delta)])
      if (hasManyVersions) this.context.warnOfVersions(name);
  }
}
