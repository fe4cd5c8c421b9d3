import type { Cancel, Clock } from "../../src/runtime/clock.ts";

/** What a turn of the event loop takes. */
const TURN_NS = 1000;

interface FakeTimer {
  dueNs: number;
  readonly action: () => void;
  /** Present for one that repeats. */
  readonly periodNs?: number;
}

/** A clock whose time only {@link FakeClock.advanceMs} moves: what is due by then happens at its exact moment. */
export class FakeClock implements Clock {
  private timeNs: number;
  private timers: FakeTimer[] = [];
  private turns: (() => void)[] = [];
  readonly waitFinely: Clock["waitFinely"];

  /** @param options.hasFineWaits as in Bun; default true */
  constructor({ startNs = 0, hasFineWaits = true } = {}) {
    this.timeNs = startNs;
    this.waitFinely = hasFineWaits ? (waitNs, then) => void this.addTimer(waitNs, then) : undefined;
  }

  nowNs(): number {
    return this.timeNs;
  }

  /** In milliseconds. */
  get nowMs(): number {
    return this.timeNs / 1e6;
  }

  after(delayMs: number, action: () => void): Cancel {
    return this.addTimer(delayMs * 1e6, action);
  }

  every(periodMs: number, action: () => void): Cancel {
    return this.addTimer(periodMs * 1e6, action, periodMs * 1e6);
  }

  nextTurn(action: () => void): Cancel {
    this.turns.push(action);
    return () => {
      this.turns = this.turns.filter((turn) => turn !== action);
    };
  }

  /** Timers that are set, repeated ones included. */
  get timerCount(): number {
    return this.timers.length;
  }

  /** Time that the code under test takes without giving the event loop a turn. */
  spendMs(durationMs: number): void {
    this.timeNs += durationMs * 1e6;
  }

  /** Runs the actions that wait for the next turn of the event loop, but not those that they add. */
  turn(): void {
    const { turns } = this;
    this.turns = [];
    for (const action of turns) action();
  }

  /** Moves the time on. What is due happens in its order, and promises settle in between. */
  async advanceMs(durationMs: number): Promise<void> {
    const endNs = this.timeNs + durationMs * 1e6;
    for (;;) {
      await settle();
      if (this.turns.length > 0 && this.timeNs < endNs) {
        this.timeNs = Math.min(endNs, this.timeNs + TURN_NS);
        this.turn();
      } else if (!this.fireFirst(endNs)) break;
    }
    this.timeNs = Math.max(this.timeNs, endNs);
  }

  private fireFirst(endNs: number): boolean {
    let first: FakeTimer | undefined;
    for (const timer of this.timers) if (timer.dueNs < (first?.dueNs ?? Number.POSITIVE_INFINITY)) first = timer;
    if (first === undefined || first.dueNs > endNs) return false;
    this.timeNs = Math.max(this.timeNs, first.dueNs);
    if (first.periodNs === undefined) this.drop(first);
    else first.dueNs += first.periodNs;
    first.action();
    return true;
  }

  private addTimer(delayNs: number, action: () => void, periodNs?: number): Cancel {
    const timer = { dueNs: this.timeNs + delayNs, action, ...(periodNs === undefined ? {} : { periodNs }) };
    this.timers.push(timer);
    return () => this.drop(timer);
  }

  private drop(timer: FakeTimer): void {
    this.timers = this.timers.filter((other) => other !== timer);
  }
}

/** Resolves when no promise that can settle by itself is left. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
