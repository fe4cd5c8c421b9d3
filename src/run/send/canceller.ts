import { WHOLE } from "../../load/share.ts";
import type { CancellationPlan } from "../../plan/cancellation.ts";
import { formatDurationNs, msToNs, nsToMs } from "../../plan/units.ts";
import { type Cancel, type Clock, systemClock } from "../../runtime/clock.ts";
import { createRandomFor, type Random } from "../../runtime/random.ts";
import type { Call } from "../../transport/call.ts";
import type { Failure } from "../../transport/failure.ts";

/** Cancels a percentage of the requests, each some time after its send, unless it has ended. */
export class Canceller {
  /** Whether to cancel requests; false during warm-up. */
  isEnabled = false;
  private readonly sharePct: number;
  private readonly delayNs: number;
  private readonly random: Random;
  /** Number of draws of other senders before this sender's next draw, and between two of its draws. */
  private skipCount: number;
  private readonly others: number;
  private readonly failure: Failure;
  private readonly clock: Clock;
  private cancel: (slot: number, failure: Failure) => void = () => {};
  /** Whether to cancel each slot's request. */
  private readonly chosen: boolean[] = [];
  /** Function that stops each slot's timer. */
  private readonly waits = new Map<number, Cancel>();

  /**
   * @param senders index of the sender and number of senders: a sender draws for every `count`-th request. Default: one
   * sender
   */
  constructor({ sharePct, delayMs, seed }: CancellationPlan, clock = systemClock, senders = WHOLE) {
    this.skipCount = senders.index;
    this.others = senders.count - 1;
    this.clock = clock;
    this.sharePct = sharePct;
    this.delayNs = msToNs(delayMs);
    this.random = createRandomFor(seed, "cancellation");
    const moment = delayMs === 0 ? "as soon as" : `${formatDurationNs(this.delayNs)} after`;
    this.failure = { kind: "cancelled", message: `cancelled ${moment} it was sent, as requested` };
  }

  /** @param cancel cancels a slot's request; never called synchronously by the other methods */
  attach(cancel: (slot: number, failure: Failure) => void): void {
    this.cancel = cancel;
  }

  /** Call after a request was passed to the client. Decides whether to cancel it. */
  add(call: Call): void {
    const isChosen = this.isEnabled && this.draw() * 100 < this.sharePct;
    this.chosen[call.slot] = isChosen;
    if (isChosen && !call.isSending) this.waitFor(call);
  }

  private draw(): number {
    for (; this.skipCount > 0; this.skipCount--) this.random();
    this.skipCount = this.others;
    return this.random();
  }

  /** Call when all bytes of a request have been passed to the socket. */
  sent(call: Call): void {
    if (this.chosen[call.slot] === true) this.waitFor(call);
  }

  /** Call when the slot's request has ended. */
  ended(slot: number): void {
    this.chosen[slot] = false;
    this.waits.get(slot)?.();
    this.waits.delete(slot);
  }

  private waitFor(call: Call): void {
    const { slot } = call;
    const { clock } = this;
    const restMs = Math.ceil(nsToMs(call.sendEndNs + this.delayNs - clock.nowNs()));
    const end = (): void => {
      this.waits.delete(slot);
      this.cancel(slot, this.failure);
    };
    this.waits.set(slot, restMs <= 0 ? clock.nextTurn(end) : clock.after(restMs, end));
  }
}
