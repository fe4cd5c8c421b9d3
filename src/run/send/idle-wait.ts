import { formatDurationNs, nsToMs } from "../../plan/units.ts";
import type { Clock } from "../../runtime/clock.ts";

/** Requests get this time to end after their load, or this many times the longest latency so far. */
const DRAIN_NS = 10e9;
const DRAIN_LATENCIES = 2;

/** Limits how long the end of a load waits for answers. @param cancelAll cancels what has none then, for this reason */
export function limitDrain(
  drained: Promise<void>,
  longestLatencyNs: number,
  clock: Clock,
  cancelAll: (message: string) => void,
): Promise<void> {
  const limitNs = Math.max(DRAIN_NS, DRAIN_LATENCIES * longestLatencyNs);
  const cancel = clock.after(nsToMs(limitNs), () =>
    cancelAll(`cancelled without its complete answer ${formatDurationNs(limitNs)} after the end of the load`),
  );
  return drained.finally(cancel);
}

/** Waits until few enough requests are outstanding. A new wait resolves the previous one. */
export class IdleWait {
  private atMost = 0;
  private onIdle: (() => void) | undefined;

  /** Resolves when `check` is called with `atMost` or fewer, or when another wait begins; at once when `outstanding` is low enough. */
  wait(outstanding: number, atMost: number): Promise<void> {
    if (outstanding <= atMost) return Promise.resolve();
    return new Promise((resolve) => {
      this.settle();
      this.atMost = atMost;
      this.onIdle = resolve;
    });
  }

  check(outstanding: number): void {
    if (this.onIdle !== undefined && outstanding <= this.atMost) this.settle();
  }

  private settle(): void {
    const resolve = this.onIdle;
    this.onIdle = undefined;
    resolve?.();
  }
}
