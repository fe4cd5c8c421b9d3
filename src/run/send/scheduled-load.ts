import type { Arrivals } from "../../load/arrivals.ts";
import { countOf, WHOLE } from "../../load/share.ts";
import { msToNs } from "../../plan/units.ts";
import type { DelayedRequests } from "../../result/run-result.ts";
import { yieldBackgroundThreads } from "../../runtime/background-threads.ts";
import { type Clock, DueTimer, systemClock } from "../../runtime/clock.ts";
import { createRandom, seedOfNumber } from "../../runtime/random.ts";
import type { LaneOptions } from "../lanes.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";
import { Schedule } from "./schedule.ts";
import { SendSlice } from "./send-slice.ts";
import { SequencePool } from "./sequence-pool.ts";

/** A sender that is later at the end of its schedule stood still, and its requests are not wanted any more. */
const MOST_LATE_NS = msToNs(100);

/** Returns whether a request is sent now that is due at `dueNs`. What is not sent is left for `takeUnsent`. */
export function isWanted({ quota, endNs }: Pick<Sender, "quota" | "endNs">, dueNs: number, nowNs: number): boolean {
  return quota > 0 && dueNs < endNs && nowNs < endNs + MOST_LATE_NS;
}

/** A limit on a schedule's outstanding requests, and statistics of the delayed ones. */
class OutstandingLimit {
  readonly max: number;
  private readonly clock: Clock;
  /** Whether the limit makes the schedule wait. */
  private isReached = false;
  private count = 0;
  private longestNs = 0;

  constructor(max: number, clock = systemClock) {
    this.clock = clock;
    this.max = max;
  }

  /** Counts a request sent now if it was delayed. Returns whether it was. */
  countSent(dueNs: number): boolean {
    if (!this.isReached) return false;
    this.count++;
    this.longestNs = Math.max(this.longestNs, this.clock.nowNs() - dueNs);
    return true;
  }

  /** Discards the statistics from before a level. */
  forget(): void {
    this.count = 0;
    this.longestNs = 0;
  }

  /** Updates whether the schedule waits. */
  note(outstanding: number): void {
    this.isReached = outstanding >= this.max;
  }

  /** @param firstDueNs due time of the next request, waiting or future */
  delayedByLimit(firstDueNs: number): DelayedRequests {
    const waitsNs = this.isReached ? this.clock.nowNs() - firstDueNs : 0;
    return { count: this.count, longestNs: Math.max(this.longestNs, waitsNs) };
  }
}

/** Seed for choosing the sequence of each request, in a run with seed 0. */
const POOL_SEED = 1;

/** Creates a scheduled load and, with sequences, their assignment. @param maxOutstanding see {@link ScheduledLoad} */
export async function createScheduledLoad(
  sender: Sender,
  { sequenceCount, laneCount, isSerial, keepsOrder, seed = 0, senders = WHOLE }: LaneOptions,
  maxOutstanding: number | undefined,
): Promise<ScheduledLoad> {
  if (sender.sequences === undefined) return new ScheduledLoad(sender, undefined, maxOutstanding);
  const random = createRandom(seedOfNumber(POOL_SEED, "draw", seed));
  // When requests may overtake each other, a sequence may have only one outstanding request, or the server would see it out of order.
  const pool = new SequencePool(countOf(sequenceCount, senders), laneCount, isSerial || !keepsOrder, random);
  return new ScheduledLoad(sender, pool, maxOutstanding);
}

/**
 * Sends requests at due times. Asynchronous lanes send independently of outstanding requests, up to an optional limit; synchronous lanes
 * wait for their response first.
 */
class ScheduledLoad implements ActiveLoad {
  private readonly sender: Sender;
  private readonly pool: SequencePool | undefined;
  private readonly timer: DueTimer;
  private readonly limit: OutstandingLimit | undefined;
  private readonly slice: SendSlice;
  private schedule: Schedule | undefined;

  /**
   * @param pool assigns requests to sequences; absent without sequences
   * @param maxOutstanding maximum number of outstanding requests, above which others wait in due order; absent: no
   * limit
   */
  constructor(sender: Sender, pool: SequencePool | undefined, maxOutstanding: number | undefined) {
    this.sender = sender;
    this.pool = pool;
    this.limit = maxOutstanding === undefined ? undefined : new OutstandingLimit(maxOutstanding, sender.clock);
    this.slice = new SendSlice(sender.clock);
    this.timer = new DueTimer(() => sender.guard(() => this.tick()), sender.clock);
  }

  get activeLanes(): number {
    return this.schedule === undefined ? 0 : this.sender.laneCount;
  }

  get delayedByLimit(): DelayedRequests | undefined {
    return this.limit?.delayedByLimit(this.schedule?.firstDueNs ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Starts a schedule. Requests that are outstanding keep their slots until they end. @param atNs start of the schedule.
   * Default: now
   */
  start(arrivals: Arrivals, atNs?: number): void {
    const { laneCount, slots, clock } = this.sender;
    this.sender.setActiveLanes(laneCount);
    slots.grow(laneCount);
    slots.assignLanes(laneCount, (slot) => this.sender.isIdle(slot));
    yieldBackgroundThreads();
    this.schedule = new Schedule(arrivals, laneCount, clock, atNs);
    this.timer.set(this.schedule.firstDueNs);
  }

  next(slot: number): void {
    const { isSync, slots, laneCount, quota } = this.sender;
    const { schedule } = this;
    const lane = slot % laneCount;
    this.pool?.release(slots.sequences[slot] as number);
    if (!isSync) slots.release(slot);
    if (schedule === undefined || quota <= 0) this.endSequences();
    else if (this.limit !== undefined) this.resumeInOrder(schedule, lane);
    else if (isSync) this.sendOrWait(schedule, lane, schedule.nextDueNs(lane));
    else this.unblock(schedule, lane);
  }

  stop(): void {
    this.schedule = undefined;
    this.timer.clear();
    this.endSequences();
    this.sender.flush();
  }

  beginLevel(): void {
    this.limit?.forget();
  }

  takeUnsent(atNs: number): number {
    return this.schedule?.takeDue(atNs) ?? 0;
  }

  /**
   * Sends due requests, as many as fit into one slice. The timer continues at once, after the event loop has read responses and handled
   * signals and the end of the level.
   */
  private tick(): void {
    const { schedule, limit, slice } = this;
    if (schedule === undefined) return;
    const tickNs = this.sender.clock.nowNs();
    slice.begin(tickNs);
    while (
      schedule.firstDueNs <= tickNs &&
      isWanted(this.sender, schedule.firstDueNs, tickNs) &&
      this.hasRoom &&
      slice.takeOne()
    ) {
      const dueNs = schedule.firstDueNs;
      const lane = schedule.pop();
      this.sendDue(schedule, lane, dueNs, schedule.isBehind(lane));
    }
    limit?.note(this.sender.outstanding);
    const { quota, endNs } = this.sender;
    const isOver = quota <= 0 || (tickNs >= endNs && !isWanted(this.sender, schedule.firstDueNs, tickNs));
    if (isOver) this.endSequences();
    this.sender.flush();
    // Without capacity, the next response continues the schedule.
    this.timer.set(isOver || !this.hasRoom ? Number.POSITIVE_INFINITY : schedule.firstDueNs);
  }

  private get hasRoom(): boolean {
    return this.limit === undefined || this.sender.outstanding < this.limit.max;
  }

  /** With a limit, a lane waits in line with the others for the request that is due first. */
  private resumeInOrder(schedule: Schedule, lane: number): void {
    if (this.sender.isSync) {
      schedule.push(lane, schedule.nextDueNs(lane));
    } else {
      const dueNs = this.pool?.unblock(lane);
      if (dueNs !== undefined) schedule.push(lane, dueNs);
    }
    this.tick();
  }

  /** Sends a due request and queues an asynchronous lane's next one. Without a free sequence, both wait. */
  private sendDue(schedule: Schedule, lane: number, dueNs: number, isDelayed: boolean): void {
    const { isSync, slots } = this.sender;
    const sequence = this.pool === undefined ? 0 : this.pool.take(lane);
    if (sequence === undefined) {
      this.pool?.block(lane, dueNs);
      return;
    }
    const hasWaited = this.limit?.countSent(dueNs) === true && schedule.isLate(dueNs);
    this.sender.send(isSync ? lane : slots.take(lane), sequence, dueNs, isDelayed || hasWaited);
    if (!isSync) schedule.push(lane, schedule.nextDueNs(lane));
  }

  private sendOrWait(schedule: Schedule, lane: number, dueNs: number): void {
    const nowNs = this.sender.clock.nowNs();
    if (dueNs <= nowNs && isWanted(this.sender, dueNs, nowNs)) {
      this.sendDue(schedule, lane, dueNs, schedule.isBehind(lane));
      return;
    }
    const wasFirst = dueNs < schedule.firstDueNs;
    schedule.push(lane, dueNs);
    if (wasFirst) this.timer.set(dueNs);
  }

  /** Sends the request that waited for one of the lane's sequences. */
  private unblock(schedule: Schedule, lane: number): void {
    const dueNs = this.pool?.unblock(lane);
    if (dueNs === undefined || !isWanted(this.sender, dueNs, this.sender.clock.nowNs())) return;
    this.sendDue(schedule, lane, dueNs, schedule.isLate(dueNs));
    this.timer.set(schedule.firstDueNs);
  }

  /** Ends the open sequences without outstanding requests. */
  private endSequences(): void {
    const { pool } = this;
    const { sequences, laneCount, isSync, slots } = this.sender;
    if (pool === undefined || sequences === undefined) return;
    for (let sequence = 0; sequence < pool.count; sequence++) {
      const lane = sequence % laneCount;
      if (!sequences.isOpen(sequence) || pool.isBusy(sequence)) continue;
      if (isSync && !this.sender.isIdle(lane)) continue;
      pool.takeForEnd(sequence);
      this.sender.sendEnd(isSync ? lane : slots.take(lane), sequence);
    }
  }
}
