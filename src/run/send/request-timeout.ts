import { formatDurationNs, nsToMs } from "../../plan/units.ts";
import { type Cancel, type Clock, systemClock } from "../../runtime/clock.ts";
import type { LoadClient } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";

/**
 * Fails requests without a complete response within the request timeout, even if bytes arrive. Checks all calls from a timer that is set
 * for the oldest one, so that requests in time cost nothing.
 */
export class RequestTimeout {
  private readonly client: Pick<LoadClient, "calls" | "cancel">;
  private readonly timeoutNs: number;
  private readonly failure: Failure;
  private readonly clock: Clock;
  private cancelTimer: Cancel | undefined;
  private isWatching = false;

  /** @param timeoutNs since the send */
  constructor(client: Pick<LoadClient, "calls" | "cancel">, timeoutNs: number, clock = systemClock) {
    this.client = client;
    this.timeoutNs = timeoutNs;
    this.clock = clock;
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
    let oldestNs = currentNs;
    // A cancelled request may be followed by a new one on the same slot, which is younger than all others.
    for (const { slot, isActive, sendStartNs } of this.client.calls) {
      if (!isActive) continue;
      if (currentNs - sendStartNs >= this.timeoutNs) this.client.cancel(slot, this.failure);
      else if (sendStartNs < oldestNs) oldestNs = sendStartNs;
    }
    return oldestNs + this.timeoutNs;
  }

  private waitUntil(dueNs: number): void {
    const restMs = Math.ceil(nsToMs(dueNs - this.clock.nowNs()));
    // Read what has arrived first, so that a busy client does not blame the server.
    const checkNextTurn = (): void => {
      this.cancelTimer = this.clock.nextTurn(() => this.isWatching && this.waitUntil(this.check()));
    };
    this.cancelTimer = this.clock.after(Math.max(1, restMs), checkNextTurn, true);
  }
}
