import { type Cancel, type Clock, systemClock } from "../../runtime/clock.ts";

const FIRST_DELAY_MS = 20;
const MAX_DELAY_MS = 1000;

/** Delays slots after a failed connection, longer with each failure in a row, so that a dead server is not flooded with connections. */
export class Backoff {
  private readonly onReady: (slot: number) => void;
  /** By slot: failures in a row. */
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

  /** Resets a slot's delay after a successful request. */
  reset(slot: number): void {
    this.failures[slot] = 0;
  }

  wait(slot: number): void {
    const failures = this.failures[slot] ?? 0;
    this.failures[slot] = failures + 1;
    const ready = (): void => {
      this.timers.delete(slot);
      this.onReady(slot);
    };
    this.timers.set(slot, this.clock.after(Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** failures), ready));
  }

  /** Cancels all delays. Returns the slots that were waiting. */
  clear(): number[] {
    const slots = [...this.timers.keys()];
    for (const cancel of this.timers.values()) cancel();
    this.timers.clear();
    return slots;
  }
}
