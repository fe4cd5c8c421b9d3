import { formatDurationNs } from "../../plan/units.ts";
import { type Cancel, type Clock, systemClock } from "../../runtime/clock.ts";
import type { LoadClient } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";

/**
 * Fails requests that have no complete answer within the request timeout, however often bytes arrive. It looks at the calls from a timer
 * that is set for the oldest of them, so that a request in time costs nothing.
 */
export class RequestTimeout {
  private readonly client: Pick<LoadClient, "calls" | "cancel">;
  private readonly timeoutNs: number;
  private readonly failure: Failure;
  private readonly clock: Clock;
  private cancelTimer: Cancel | undefined;
  private isWatching = false;

  /** @param timeoutNs from when the request was sent */
  constructor(client: Pick<LoadClient, "calls" | "cancel">, timeoutNs: number, clock = systemClock) {
    this.client = client;
    this.timeoutNs = timeoutNs;
    this.clock = clock;
    this.failure = { kind: "timeout", message: `no complete answer within ${formatDurationNs(timeoutNs)}` };
  }

  /** Begins to watch; later calls do nothing. */
  start(): void {
    if (this.isWatching) return;
    this.isWatching = true;
    this.waitUntil(this.clock.nowNs() + this.timeoutNs);
  }

  stop(): void {
    this.isWatching = false;
    this.cancelTimer?.();
  }

  /** Fails what is overdue. Returns when the next request can be overdue at the earliest. */
  check(): number {
    const currentNs = this.clock.nowNs();
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
    const restMs = Math.ceil((dueNs - this.clock.nowNs()) / 1e6);
    // What has arrived meanwhile is read first: a client that was busy itself must not blame the server.
    const look = (): void => {
      this.cancelTimer = this.clock.nextTurn(() => this.isWatching && this.waitUntil(this.check()));
    };
    this.cancelTimer = this.clock.after(Math.max(1, restMs), look, true);
  }
}
