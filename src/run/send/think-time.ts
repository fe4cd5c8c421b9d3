import type { ThinkTime } from "../../load/drive.ts";
import { DueHeap } from "../../load/due-heap.ts";
import { msToNs } from "../../plan/units.ts";
import { type Clock, DueTimer } from "../../runtime/clock.ts";
import { createRandomFor, drawNormal, type Random } from "../../runtime/random.ts";

/**
 * The users of a closed load with think time: each slot is a user. Each user draws separate random numbers, independent
 * of the other users.
 */
export class Thinking {
  readonly thinkTime: ThinkTime;
  private readonly clock: Clock;
  private readonly timer: DueTimer;
  private readonly due = new DueHeap();
  private readonly slots = new Set<number>();
  private readonly draws: Random[] = [];

  /** @param onDue called when a user's think time is over */
  constructor(thinkTime: ThinkTime, clock: Clock, onDue: () => void) {
    this.thinkTime = thinkTime;
    this.clock = clock;
    this.timer = new DueTimer(onDue, clock);
  }

  /** Whether the user thinks. */
  has(slot: number): boolean {
    return this.slots.has(slot);
  }

  /** Makes the user begin after a part of the mean time, so that users who begin together do not send together. */
  begin(slot: number): void {
    this.wait(slot, msToNs(this.thinkTime.meanMs) * this.drawOf(slot)());
  }

  /** Makes the user think before the next request. Call when the user has a response. */
  rest(slot: number): void {
    const { meanMs, stddevMs = 0 } = this.thinkTime;
    this.wait(slot, msToNs(Math.max(0, drawNormal(this.drawOf(slot), meanMs, stddevMs))));
  }

  /** Returns a user whose think time is over; undefined if there is none. */
  take(): number | undefined {
    if (this.due.firstDueNs > this.clock.nowNs()) return undefined;
    const slot = this.due.pop();
    this.slots.delete(slot);
    return slot;
  }

  /** Waits for the next user. */
  arm(): void {
    this.timer.set(this.due.firstDueNs);
  }

  clear(): void {
    this.timer.clear();
  }

  private wait(slot: number, forNs: number): void {
    this.slots.add(slot);
    this.due.push(slot, this.clock.nowNs() + forNs);
    this.arm();
  }

  private drawOf(slot: number): Random {
    const { seed, userOf } = this.thinkTime;
    this.draws[slot] ??= createRandomFor(seed, "think time", userOf(slot));
    return this.draws[slot];
  }
}

/** Whether two think times are the same. */
export function isSameThinking(one: ThinkTime | undefined, other: ThinkTime | undefined): boolean {
  return one?.meanMs === other?.meanMs && one?.stddevMs === other?.stddevMs;
}
