import { formatDurationNs, msToNs, nsToMs } from "../../plan/units.ts";
import { type Cancel, type Clock, systemClock } from "../../runtime/clock.ts";
import type { LoadClient } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";
import { lookIntervalMs, Pauses } from "../../transport/stall-watch.ts";

/** The timers of slots: the delay after a failed connection, and the timeout of a request. */

const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 1000;
/** A later timer means that the thread stood still. */
const MOST_LATE_NS = msToNs(50);
/** Interval between checks of requests that got more time because the thread stood still. */
const SOON_NS = msToNs(10);

/**
 * Delays slots after a failed connection, longer with each failure in a row, so that a dead server is not flooded with connections. The
 * first failure after a success delays nothing: a server that loses some requests still gets the requested load.
 */
export class Backoff {
  private readonly onReady: (slot: number) => void;
  /** Number of consecutive failures of each slot. Before the first success, one more. */
  private readonly failures: number[] = [];
  private readonly timers = new Map<number, Cancel>();
  private readonly clock: Clock;

  /** @param onReady called with a slot after its delay */
  constructor(onReady: (slot: number) => void, clock = systemClock) {
    this.onReady = onReady;
    this.clock = clock;
  }

  isWaiting(slot: number): boolean {
    return this.timers.has(slot);
  }

  /** Records that a slot's request succeeded. */
  reset(slot: number): void {
    this.failures[slot] = 0;
  }

  /** Records that a slot's connection failed. Returns whether the slot waits. */
  wait(slot: number): boolean {
    const failures = this.failures[slot] ?? 1;
    this.failures[slot] = failures + 1;
    if (failures === 0) return false;
    const ready = (): void => {
      this.timers.delete(slot);
      this.onReady(slot);
    };
    this.timers.set(slot, this.clock.after(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (failures - 1)), ready));
    return true;
  }

  /** Cancels all delays. Returns the slots that were waiting. */
  clear(): number[] {
    const slots = [...this.timers.keys()];
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
    return slots;
  }
}

/**
 * Fails requests without a complete response within the request timeout, even if bytes arrive. A timer set for the oldest call checks
 * all of them, so that requests in time cost nothing. Time in which this process did not run does not count.
 */
export class RequestTimeout {
  private readonly client: Pick<LoadClient, "calls" | "cancel">;
  private readonly timeoutNs: number;
  private readonly failure: Failure;
  private readonly clock: Clock;
  private readonly lookNs: number;
  private readonly pauses: Pauses;
  private cancelTimer: Cancel | undefined;
  private isWatching = false;

  /** @param timeoutNs time since the send */
  constructor(client: Pick<LoadClient, "calls" | "cancel">, timeoutNs: number, clock = systemClock) {
    this.client = client;
    this.timeoutNs = timeoutNs;
    this.clock = clock;
    this.lookNs = msToNs(lookIntervalMs(timeoutNs));
    this.pauses = new Pauses(Math.min(MOST_LATE_NS, this.lookNs));
    this.failure = { kind: "timeout", message: `no complete response within ${formatDurationNs(timeoutNs)}` };
  }

  /** Starts the timer; later calls do nothing. */
  start(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    this.waitUntil(this.clock.nowNs() + this.timeoutNs);
  }

  stop(): void {
    this.isWatching = false;
    this.cancelTimer?.();
  }

  /** Fails overdue requests. Returns the earliest time at which another may be overdue. */
  check(): number {
    const currentNs = this.clock.nowNs();
    const deadlineNs = this.pauses.startOf(this.timeoutNs, currentNs);
    let oldestNs = currentNs;
    // A cancelled request may be followed by a new one on the same slot, which is the youngest of all.
    for (const { slot, isActive, sendStartNs } of this.client.calls) {
      if (!isActive) continue;
      if (sendStartNs <= deadlineNs) this.client.cancel(slot, this.failure);
      else if (sendStartNs < oldestNs) oldestNs = sendStartNs;
    }
    const dueNs = oldestNs + this.timeoutNs;
    return dueNs > currentNs ? dueNs : currentNs + SOON_NS;
  }

  private waitUntil(dueNs: number): void {
    const startNs = this.clock.nowNs();
    const restMs = Math.max(1, Math.ceil(nsToMs(Math.min(dueNs - startNs, this.lookNs))));
    const look = (): void => {
      const nowNs = this.clock.nowNs();
      const isRead = this.pauses.note(nowNs, startNs + msToNs(restMs));
      if (!isRead || nowNs < dueNs) this.waitUntil(isRead ? dueNs : Math.max(dueNs, nowNs + this.lookNs));
      // Read what has arrived first, so that a busy client does not blame the server.
      else this.cancelTimer = this.clock.nextTurn(() => this.isWatching && this.waitUntil(this.check()));
    };
    this.cancelTimer = this.clock.after(restMs, look, true);
  }
}
