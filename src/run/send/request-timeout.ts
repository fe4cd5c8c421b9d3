import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import type { LoadClient } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";

/** Timers take 31 bits of milliseconds; longer ones would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/**
 * Fails requests that have no complete answer within the request timeout, however often bytes arrive. It looks at the calls from a timer
 * that is set for the oldest of them, so that a request in time costs nothing.
 */
export class RequestTimeout {
  private readonly client: Pick<LoadClient, "calls" | "cancel">;
  private readonly timeoutNs: number;
  private readonly failure: Failure;
  private readonly clockNs: () => number;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isWatching = false;

  /** @param timeoutNs from when the request was sent @param clockNs the time; default: the run's clock */
  constructor(client: Pick<LoadClient, "calls" | "cancel">, timeoutNs: number, clockNs: () => number = nowNs) {
    this.client = client;
    this.timeoutNs = timeoutNs;
    this.clockNs = clockNs;
    this.failure = { kind: "timeout", message: `no complete answer within ${formatDurationNs(timeoutNs)}` };
  }

  /** Begins to watch; later calls do nothing. */
  start(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    this.waitUntil(this.clockNs() + this.timeoutNs);
  }

  stop(): void {
    this.isWatching = false;
    clearTimeout(this.timer);
  }

  /** Fails what is overdue. Returns when the next request can be overdue at the earliest. */
  check(): number {
    const currentNs = this.clockNs();
    let oldestNs = currentNs;
    // One that is cancelled here may be followed by another on the same slot, which began later than all that were looked at.
    for (const { slot, isActive, sendStartNs } of this.client.calls) {
      if (!isActive) continue;
      if (currentNs - sendStartNs >= this.timeoutNs) this.client.cancel(slot, this.failure);
      else if (sendStartNs < oldestNs) oldestNs = sendStartNs;
    }
    return oldestNs + this.timeoutNs;
  }

  private waitUntil(dueNs: number): void {
    const restMs = Math.ceil((dueNs - this.clockNs()) / 1e6);
    // What has arrived meanwhile is read first: a client that was busy itself must not blame the server.
    const look = (): void => void setImmediate(() => this.isWatching && this.waitUntil(this.check()));
    this.timer = setTimeout(look, Math.min(MAX_TIMER_MS, Math.max(1, restMs)));
    this.timer.unref?.();
  }
}
