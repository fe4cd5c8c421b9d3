import type { Arrivals } from "../load/arrivals.ts";
import type { Drive } from "../load/load-mode.ts";
import { RecordColumns } from "../measure/records.ts";
import { nowNs } from "../runtime/clock.ts";
import type { Call, LoadClient } from "../transport/client.ts";
import { isConnectionFailure } from "../transport/failure.ts";
import { Backoff } from "./backoff.ts";
import type { DriverOptions, DriverWork } from "./driver-work.ts";
import { DueTimer } from "./due-timer.ts";
import type { RequestFeed } from "./feed.ts";
import { Quiet } from "./quiet.ts";
import { Schedule } from "./schedule.ts";
import { writeRecord } from "./write-record.ts";

const RAMP_STEP_MS = 20;

/**
 * Sends requests as a load asks, and records what came of them. It decides nothing about measuring. Connections can be opened, and one
 * request sent, before it is told what to do with the outcome.
 */
export class Driver {
  /** Requests handed to the client so far. */
  sentCount = 0;
  completedCount = 0;
  failedCount = 0;
  /** When a request last succeeded; the start at first. */
  lastSuccessNs = nowNs();
  private readonly options: DriverOptions;
  private work: DriverWork | undefined;
  private records: RecordColumns | undefined;
  private feed: RequestFeed | undefined;
  /** A request that ended before there was work. */
  private early: Call | undefined;
  private readonly client: LoadClient;
  private readonly timer = new DueTimer(() => this.guard(() => this.tick()));
  /** By slot: when its request was due, whether it was sent late, and its step of the data. */
  private readonly intendedNs: number[] = [];
  private readonly isDelayed: boolean[] = [];
  private readonly steps: number[] = [];
  private readonly backoff = new Backoff((slot) => {
    this.guard(() => this.goOn(slot));
    this.client.flush();
  });
  /** By lane: slots without a request, for asynchronous schedules. */
  private readonly freeSlots: number[][] = [];
  private slotCount = 0;
  private firstReady: Promise<void> = Promise.resolve();
  private outstandingCount = 0;
  /** Closed loops: slots below this keep a request outstanding. */
  private targetSlots = 0;
  private schedule: Schedule | undefined;
  private quota = Number.POSITIVE_INFINITY;
  private rampTimer: ReturnType<typeof setInterval> | undefined;
  private readonly quiet = new Quiet();
  private onFinished: (() => void) | undefined;

  constructor(options: DriverOptions) {
    this.options = options;
    const driver = this;
    this.client = options.createClient({
      laneCount: options.laneCount,
      stallTimeoutNs: options.stallTimeoutNs,
      get keepBodies() {
        return driver.work?.needsBodies !== false;
      },
      onDone: (call) => this.done(call),
    });
  }

  /** Gives it its work, before the first start. */
  take(work: DriverWork): void {
    this.work = work;
    this.records = new RecordColumns((records, count) => work.onRecords(records, count));
    this.feed = work.feed;
    const { early } = this;
    this.early = undefined;
    if (early !== undefined) this.done(early);
  }

  /** Requests sent and not answered. */
  get outstanding(): number {
    return this.outstandingCount;
  }

  /** Lanes that can have a request outstanding under the present load. */
  get activeLanes(): number {
    if (this.schedule !== undefined) return this.options.laneCount;
    return this.targetSlots;
  }

  /** Connections opened so far. */
  get connectionCount(): number {
    return this.client.connectionCount;
  }

  /** Opens the first connection ahead of a level. */
  prepareFirst(): void {
    this.firstReady = this.reserve(1);
  }

  /** Sends the first request of a closed load ahead of everything else that a run needs; `take` is to follow. */
  async sendFirst(feed: RequestFeed, concurrency: number): Promise<void> {
    this.feed = feed;
    feed.setActiveLanes(Math.min(concurrency, this.options.laneCount));
    await this.firstReady;
    this.targetSlots = 1;
    this.send(0, Number.NaN);
    this.client.flush();
  }

  /** Opens the connections a level needs ahead of it, so that the first requests do not wait for them. */
  prepare(drive: Drive): Promise<void> {
    if (drive.kind === "closed") return this.reserve(drive.concurrency);
    return this.reserve(drive.kind === "ramp" ? drive.maxConcurrency : this.options.laneCount);
  }

  /**
   * Begins a level, or changes to another one without a pause.
   * @param quota requests to send at most
   */
  start(drive: Drive, quota: number): Promise<void> {
    this.quota = quota;
    this.stopRamp();
    if (drive.kind === "scheduled") return this.startSchedule(drive.arrivals);
    if (drive.kind === "closed") return this.startClosed(drive.concurrency);
    return this.startRamp(drive);
  }

  /** Stops sending. Resolves when nothing is outstanding. */
  stop(): Promise<void> {
    this.stopRamp();
    this.targetSlots = 0;
    this.schedule = undefined;
    this.timer.clear();
    this.backoff.clear();
    return this.quiet.wait(this.outstandingCount, 0);
  }

  /** Resolves when the quota is used up and everything sent has been answered. */
  finished(): Promise<void> {
    if (this.isFinished) return Promise.resolve();
    return new Promise((resolve) => {
      this.onFinished = resolve;
    });
  }

  /** Fails what is outstanding and closes the connections. */
  close(): void {
    void this.stop();
    this.client.close();
    this.drain();
  }

  /** Hands over what was recorded since the last time. */
  drain(): void {
    this.records?.drain();
  }

  private async startClosed(concurrency: number): Promise<void> {
    this.schedule = undefined;
    this.feed?.setActiveLanes(Math.min(concurrency, this.options.laneCount));
    await this.reserve(concurrency);
    const before = this.targetSlots;
    this.targetSlots = concurrency;
    for (let slot = 0; slot < concurrency; slot++) this.sendIfIdle(slot);
    this.client.flush();
    // Lower than before: the surplus must be answered before anything is measured at this level.
    if (concurrency < before) await this.quiet.wait(this.outstandingCount, concurrency);
  }

  private async startRamp(drive: Extract<Drive, { kind: "ramp" }>): Promise<void> {
    await this.reserve(drive.maxConcurrency);
    const startNs = nowNs();
    const adjust = (): void => {
      const target = drive.concurrencyAt(nowNs() - startNs);
      this.feed?.setActiveLanes(target);
      this.targetSlots = target;
      for (let slot = 0; slot < target; slot++) this.sendIfIdle(slot);
      this.client.flush();
    };
    adjust();
    this.rampTimer = setInterval(() => this.guard(adjust), RAMP_STEP_MS);
  }

  private async startSchedule(arrivals: Arrivals): Promise<void> {
    const { laneCount, isSync } = this.options;
    this.feed?.setActiveLanes(laneCount);
    this.schedule = undefined;
    // Whoever waited is dealt a place like all the others.
    this.backoff.clear();
    await this.quiet.wait(this.outstandingCount, 0);
    await this.reserve(laneCount);
    this.freeSlots.length = 0;
    for (let lane = 0; lane < laneCount; lane++) this.freeSlots.push([]);
    if (!isSync)
      for (let slot = this.slotCount - 1; slot >= 0; slot--) (this.freeSlots[slot % laneCount] as number[]).push(slot);
    this.schedule = new Schedule(arrivals, laneCount);
    this.timer.set(this.schedule.firstDueNs);
  }

  private async reserve(count: number): Promise<void> {
    if (count <= this.slotCount) return;
    for (let slot = this.slotCount; slot < count; slot++) this.addSlot();
    await this.client.reserve(count);
  }

  private addSlot(): number {
    this.intendedNs.push(0);
    this.isDelayed.push(false);
    this.steps.push(0);
    return this.slotCount++;
  }

  private sendIfIdle(slot: number): void {
    if (this.client.calls[slot]?.isActive === true || this.backoff.isWaiting(slot)) return;
    this.send(slot, Number.NaN);
  }

  /** @param intendedNs when the request was due; NaN: now */
  private send(slot: number, intendedNs: number): void {
    if (this.quota <= 0) return;
    const feed = this.feed as RequestFeed;
    const request = feed.next(slot % this.options.laneCount);
    this.quota--;
    this.sentCount++;
    this.outstandingCount++;
    this.intendedNs[slot] = intendedNs;
    this.steps[slot] = feed.step;
    this.client.send(slot, request, feed.stamp);
  }

  /** Sends what is due by now. */
  private tick(): void {
    const { schedule } = this;
    if (schedule === undefined) return;
    const tickNs = nowNs();
    while (schedule.firstDueNs <= tickNs && this.quota > 0) {
      const dueNs = schedule.firstDueNs;
      const lane = schedule.pop();
      this.sendScheduled(schedule, lane, dueNs);
      if (!this.options.isSync) schedule.push(lane, schedule.nextDueNs(lane));
    }
    this.client.flush();
    this.timer.set(this.quota > 0 ? schedule.firstDueNs : Number.POSITIVE_INFINITY);
  }

  private sendScheduled(schedule: Schedule, lane: number, dueNs: number): void {
    const slot = this.options.isSync ? lane : this.takeSlot(lane);
    this.send(slot, dueNs);
    this.isDelayed[slot] = schedule.isBehind(lane);
  }

  /** A slot of the lane without a request; all busy ones make a new one, since an open loop never waits. */
  private takeSlot(lane: number): number {
    const free = (this.freeSlots[lane] as number[]).pop();
    if (free !== undefined) return free;
    const { laneCount } = this.options;
    // Slots belong to lanes by their number, so a whole round of them is added.
    for (let i = 0; i < laneCount; i++) {
      const slot = this.addSlot();
      if (slot % laneCount !== lane) (this.freeSlots[slot % laneCount] as number[]).push(slot);
    }
    void this.client.reserve(this.slotCount);
    return this.slotCount - laneCount + lane;
  }

  private done(call: Call): void {
    if (this.work === undefined) {
      this.early = call;
      return;
    }
    // As guard() does, without a closure for each request.
    try {
      this.conclude(call);
    } catch (error) {
      this.todo.onError(error);
    }
  }

  private conclude(call: Call): void {
    const slot = call.slot;
    this.outstandingCount--;
    const failure = this.todo.judge(call, this.steps[slot] as number);
    writeRecord(
      this.records as RecordColumns,
      call,
      failure !== undefined,
      this.intendedNs[slot] as number,
      this.isDelayed[slot] === true,
    );
    if (failure === undefined) {
      this.completedCount++;
      this.backoff.reset(slot);
      this.lastSuccessNs = call.endNs;
    } else {
      this.failedCount++;
      this.todo.onFailure(failure, slot % this.options.laneCount);
    }
    if (failure !== undefined && isConnectionFailure(failure)) this.backoff.wait(slot);
    else this.goOn(slot);
    this.quiet.check(this.outstandingCount);
    if (this.onFinished !== undefined && this.isFinished) {
      const settle = this.onFinished;
      this.onFinished = undefined;
      settle();
    }
  }

  /** What a slot does once its request is over. */
  private goOn(slot: number): void {
    const { schedule } = this;
    if (schedule === undefined) {
      if (slot < this.targetSlots) this.send(slot, Number.NaN);
      return;
    }
    const lane = slot % this.options.laneCount;
    if (!this.options.isSync) {
      (this.freeSlots[lane] as number[]).push(slot);
      return;
    }
    if (this.quota <= 0) return;
    const dueNs = schedule.nextDueNs(lane);
    if (dueNs <= nowNs()) {
      this.sendScheduled(schedule, lane, dueNs);
      return;
    }
    const wasFirst = dueNs < schedule.firstDueNs;
    schedule.push(lane, dueNs);
    if (wasFirst) this.timer.set(dueNs);
  }

  /** For what the event loop calls: an exception there would be lost, and with it the run. */
  private guard(action: () => void): void {
    try {
      action();
    } catch (error) {
      this.todo.onError(error);
    }
  }

  private get todo(): DriverWork {
    return this.work as DriverWork;
  }

  private get isFinished(): boolean {
    return this.outstandingCount === 0 && (this.quota <= 0 || this.activeLanes === 0);
  }

  private stopRamp(): void {
    if (this.rampTimer !== undefined) clearInterval(this.rampTimer);
    this.rampTimer = undefined;
  }
}
