import type { CancellationPlan } from "../../plan/cancellation.ts";
import { formatDurationNs } from "../../plan/units.ts";
import { nowNs } from "../../runtime/clock.ts";
import { createRandomFor, type Random } from "../../runtime/random.ts";
import type { Call } from "../../transport/client.ts";
import type { Failure } from "../../transport/failure.ts";

/** Timers take 31 bits of milliseconds; longer ones would end at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Gives up a share of the requests, each some time after it was sent, unless it is over by then. */
export class Canceller {
  /** Whether requests are drawn: not while the server warms up. */
  isOn = false;
  private readonly sharePct: number;
  private readonly delayNs: number;
  private readonly random: Random;
  private readonly failure: Failure;
  private cancel: (slot: number, failure: Failure) => void = () => {};
  /** By slot: whether its request is to be given up. */
  private readonly chosen: boolean[] = [];
  /** By slot: how to end the wait for the moment. */
  private readonly waits = new Map<number, () => void>();

  constructor({ sharePct, delayMs, seed }: CancellationPlan) {
    this.sharePct = sharePct;
    this.delayNs = delayMs * 1e6;
    this.random = createRandomFor(seed, "cancellation");
    const moment = delayMs === 0 ? "as soon as" : `${formatDurationNs(this.delayNs)} after`;
    this.failure = { kind: "cancelled", message: `cancelled ${moment} it was sent, as requested` };
  }

  /** @param cancel gives up a slot's request; never called from inside the other methods */
  attach(cancel: (slot: number, failure: Failure) => void): void {
    this.cancel = cancel;
  }

  /** A request was handed to the client: draws whether it is one of those. */
  add(call: Call): void {
    const isChosen = this.isOn && this.random() * 100 < this.sharePct;
    this.chosen[call.slot] = isChosen;
    if (isChosen && !call.isSending) this.waitFor(call);
  }

  /** All of a request's bytes are with the socket now. */
  sent(call: Call): void {
    if (this.chosen[call.slot] === true) this.waitFor(call);
  }

  /** The slot's request is over. */
  over(slot: number): void {
    this.chosen[slot] = false;
    this.waits.get(slot)?.();
    this.waits.delete(slot);
  }

  private waitFor(call: Call): void {
    const { slot } = call;
    const restMs = Math.ceil((call.sendEndNs + this.delayNs - nowNs()) / 1e6);
    const end = (): void => {
      this.waits.delete(slot);
      this.cancel(slot, this.failure);
    };
    if (restMs <= 0) {
      const immediate = setImmediate(end);
      this.waits.set(slot, () => clearImmediate(immediate));
      return;
    }
    const isLast = restMs <= MAX_TIMER_MS;
    const timer = setTimeout(isLast ? end : () => this.waitFor(call), Math.min(restMs, MAX_TIMER_MS));
    this.waits.set(slot, () => clearTimeout(timer));
  }
}
