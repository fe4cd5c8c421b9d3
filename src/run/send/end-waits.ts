import { formatDurationNs, nsToMs } from "../../plan/units.ts";
import type { Clock } from "../../runtime/clock.ts";

/** Requests get this time to end after their load, or this many times the longest latency so far. */
const DRAIN_NS = 10e9;
const DRAIN_LATENCIES = 2;

/** Returns the longest time that responses are waited for at the end of a load. @param longestLatencyNs of the requests so far */
export function drainLimitNs(longestLatencyNs: number): number {
  return Math.max(DRAIN_NS, DRAIN_LATENCIES * longestLatencyNs);
}

/** Limits how long the end of a load waits for responses. @param cancelAll cancels what has none then, for this reason */
export function limitDrain(
  drained: Promise<void>,
  longestLatencyNs: number,
  clock: Clock,
  cancelAll: (message: string) => void,
): Promise<void> {
  const limitNs = drainLimitNs(longestLatencyNs);
  const cancel = clock.after(nsToMs(limitNs), () =>
    cancelAll(`cancelled without its complete response ${formatDurationNs(limitNs)} after the end of the load`),
  );
  return drained.finally(cancel);
}

/** Waits of a driver for the ends of its requests. A new wait resolves the previous one of its kind. */
export class EndWaits {
  private atMost = 0;
  private onIdle: (() => void) | undefined;
  private goal = Number.POSITIVE_INFINITY;
  private onGoal: (() => void) | undefined;
  private onFinished: (() => void) | undefined;

  /** Resolves when `check` is called with `atMost` or fewer outstanding requests; at once when `outstanding` is low enough. */
  untilOutstanding(outstanding: number, atMost: number): Promise<void> {
    if (outstanding <= atMost) return Promise.resolve();
    return new Promise((resolve) => {
      this.settleIdle();
      this.atMost = atMost;
      this.onIdle = resolve;
    });
  }

  /** Resolves when `check` is called with `goal` or more ended requests; at once when there are enough. */
  untilEnded(ended: number, goal: number): Promise<void> {
    this.settleGoal();
    if (ended >= goal) return Promise.resolve();
    return new Promise((resolve) => {
      this.goal = goal;
      this.onGoal = resolve;
    });
  }

  /** Resolves when `finish` is called. */
  untilFinished(): Promise<void> {
    this.finish();
    return new Promise((resolve) => {
      this.onFinished = resolve;
    });
  }

  /** Whether anything waits for `finish`. */
  get isFinishAwaited(): boolean {
    return this.onFinished !== undefined;
  }

  finish(): void {
    const resolve = this.onFinished;
    this.onFinished = undefined;
    resolve?.();
  }

  check(outstanding: number, ended: number): void {
    if (this.onIdle !== undefined && outstanding <= this.atMost) this.settleIdle();
    if (ended >= this.goal) this.settleGoal();
  }

  private settleIdle(): void {
    const resolve = this.onIdle;
    this.onIdle = undefined;
    resolve?.();
  }

  private settleGoal(): void {
    const resolve = this.onGoal;
    this.goal = Number.POSITIVE_INFINITY;
    this.onGoal = undefined;
    resolve?.();
  }
}
