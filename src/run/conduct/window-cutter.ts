import { type CompletionGap, CompletionGaps } from "../../measure/gaps/completion-gaps.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { NO_OPEN_REQUESTS, type OpenRequests, sumOpenRequests } from "../../measure/open-requests.ts";
import { flattenComposing, type ServerDelta } from "../../measure/server-delta.ts";
import { toMeasurement, WindowTally } from "../../measure/tally/window-tally.ts";
import { Timeline } from "../../measure/timeline.ts";
import { msToNs } from "../../plan/units.ts";
import { tokensPlanOf } from "../../registry/mix.ts";
import { toEpochNs } from "../../runtime/clock.ts";
import type { ServerCounters } from "../../service/statistics.ts";
import { GroupCutter, toGroupWindows } from "./group-cutter.ts";
import type { LevelContext } from "./level-context.ts";
import type { LevelMeter } from "./level-meter.ts";
import { awaitDelta } from "./settled-delta.ts";

/** What the last window of a level knows after the driver has stopped. */
export interface LastWindow {
  /** Active lanes before that. Default: those now. */
  readonly laneCount?: number;
  /** Time after the window in which requests of it were in flight, in nanoseconds. Default: 0. */
  readonly afterEndNs?: number;
  /** End of the time in which requests were due. Default: the end of the window. */
  readonly sendingEndNs?: number;
}

/** Divides a level's time into windows and collects what was measured in each. */
export class WindowCutter {
  private readonly context: LevelContext;
  private readonly meter: LevelMeter;
  private readonly groups: GroupCutter | undefined;
  /** Start of the current window. */
  startNs = 0;
  private sentBefore = 0;
  private endedBefore = 0;
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

  /** Number of requests that ended in the current window, including those that are not judged yet. */
  get endedCount(): number {
    return this.context.driver.endedCount - this.endedBefore;
  }

  /** Whether the server reports counters. */
  get hasServerCounters(): boolean {
    return this.countersBefore !== undefined;
  }

  /** Discards earlier records and begins the first window. @param ready without load: what the window waits for */
  async begin(ready: Promise<void> | undefined): Promise<void> {
    const { driver, session, signal } = this.context;
    this.discard();
    this.open(driver.clock.nowNs());
    const isReady = ready && Promise.race([ready, signal.stopped]);
    [this.countersBefore] = await Promise.all([session.counters(), isReady, this.groups?.readCounters()]);
    // Without load, the time for reading the counters must not be part of the window.
    if (driver.activeLanes > 0) return;
    this.startNs = driver.clock.nowNs();
    this.startTimes();
  }

  /** Discards earlier records. */
  discard(): void {
    const { driver, observer, tokens } = this.context;
    driver.drain();
    observer.onRecordsCut?.(undefined);
    tokens?.reset();
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

  /**
   * Counts what ends before the load is steady, for a run that ends before that. A window begins only with `continueAt`.
   * @param startNs start of the load
   */
  lead(startNs: number): void {
    this.discard();
    this.count(startNs, "count");
  }

  private open(startNs: number): void {
    this.count(startNs, "begin");
    const { observer, poller } = this.context;
    observer.onWindowStart?.(this.meter.windowNumber);
    poller?.start();
  }

  private count(startNs: number, way: "begin" | "count"): void {
    const { driver, session, isScheduled, health, plan } = this.context;
    const { wire, answerReader, isDecoupled: isModelDecoupled, hasManyResponses } = session.service;
    const isDecoupled = isModelDecoupled || hasManyResponses === true;
    const extractedNames = answerReader?.names;
    const isStreamed = tokensPlanOf(plan)?.isStreamed;
    const options = { isScheduled, countsReading: wire === "http", isDecoupled, isStreamed, extractedNames };
    this.meter[way](
      () => new WindowTally(options),
      () => this.groups?.newTallies() ?? [],
    );
    this.startNs = startNs;
    this.sentBefore = driver.sentCount;
    this.endedBefore = driver.endedCount;
    this.groups?.begin(startNs);
    this.openBefore = sumOpenRequests(this.openSentNs(), startNs);
    this.startTimes();
    health.start();
  }

  private startTimes(): void {
    this.gaps = new CompletionGaps(this.startNs);
    this.meter.gaps = this.gaps;
    const { mode } = this.context.plan.measurement;
    if (mode.kind === "duration")
      this.meter.timeline = new Timeline(this.startNs, { durationNs: msToNs(mode.durationMs) });
  }

  /**
   * Ends the window at `endNs` and begins the next one.
   * @param last for a level's last window, when the driver has stopped
   */
  async cut(endNs: number, last: LastWindow = {}): Promise<Measurement> {
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
    const { laneCount = driver.activeLanes, afterEndNs = 0, sendingEndNs = endNs } = last;
    const sendingNs = Math.max(0, sendingEndNs - startNs);
    const counts = { sentCount, sendingNs, openBefore, openAfter, afterEndNs, laneCount };
    const frame = { startNs, endNs, ...counts, canLanesWait, health: health.take(), gpu };
    this.startNs = endNs;
    this.openBefore = openAfter;
    this.sentBefore = driver.sentCount;
    this.endedBefore = driver.endedCount;
    this.context.tokens?.cut({ startNs, endNs });
    observer.onRecordsCut?.({ startEpochNs: toEpochNs(startNs), endEpochNs: toEpochNs(endNs) });
    observer.onWindowStart?.(this.meter.windowNumber);
    await this.countersRead;
    const [server, memberServers] = await Promise.all([
      this.serverDelta(tally.latency.count, openBefore.count === 0),
      parts && this.groups?.memberServers(parts),
    ]);
    // The time before the first window has no number.
    const numbers = windowNumber === 0 ? {} : { numbers: { first: windowNumber, last: windowNumber } };
    const window = { ...toMeasurement(tally, { ...frame, server }), ...numbers };
    return parts === undefined ? window : { ...window, ...toGroupWindows(parts, frame, window), ...memberServers };
  }

  /** Returns the times within a window of this level in which nothing ended for much longer than usual, since the start of the run. Call after it was cut. */
  findGaps({ startNs, endNs, latency }: Measurement): CompletionGap[] {
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
  private async serverDelta(completed: number, isFromNothing: boolean): Promise<Measurement["server"]> {
    const { session, driver, plan, signal } = this.context;
    const before = this.countersBefore;
    // After an error the server may not answer; the measurement counts without its times.
    if (before === undefined || (signal.error !== undefined && !signal.isAborted)) return undefined;
    // With nothing outstanding before and after, the counters must include every request; under load, any increase is enough.
    const isExact = isFromNothing && plan.measurement.mode.kind === "requests" && driver.outstanding === 0;
    const expected = isExact ? completed : Math.min(1, completed);
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
