import type { Drive } from "../load/load-mode.ts";
import { nowNs } from "../runtime/clock.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";

const RAMP_STEP_MS = 20;

/** A number of requests that are always outstanding, which may change with time. A slot's requests are one sequence after the other. */
export class ClosedLoad implements ActiveLoad {
  private readonly sender: Sender;
  /** Slots below this keep a request outstanding. */
  private target = 0;
  private rampTimer: ReturnType<typeof setInterval> | undefined;

  constructor(sender: Sender) {
    this.sender = sender;
  }

  get activeLanes(): number {
    return this.target;
  }

  /** Sends the very first request, ahead of `hold`. */
  sendFirst(concurrency: number): void {
    this.sender.setActiveLanes(concurrency);
    this.target = 1;
    this.sender.send(0, 0, Number.NaN, false);
    this.sender.flush();
  }

  /** Goes over to another number of requests outstanding; resolves when there are no more than that. */
  async hold(concurrency: number): Promise<void> {
    this.stopRamp();
    this.sender.setActiveLanes(concurrency);
    await this.sender.reserve(concurrency);
    const before = this.target;
    this.reach(concurrency);
    // Lower than before: the surplus must be answered before anything is measured at this level.
    if (concurrency < before) await this.sender.waitForQuiet(concurrency);
  }

  async ramp(drive: Extract<Drive, { kind: "ramp" }>): Promise<void> {
    this.stopRamp();
    await this.sender.reserve(drive.maxConcurrency);
    this.sender.shareSteps();
    const startNs = nowNs();
    const adjust = (): void => this.reach(drive.concurrencyAt(nowNs() - startNs));
    adjust();
    this.rampTimer = setInterval(() => this.sender.guard(adjust), RAMP_STEP_MS);
  }

  goOn(slot: number): void {
    if (slot < this.target && this.sender.quota > 0) this.sender.send(slot, slot, Number.NaN, false);
    else this.endSequence(slot);
  }

  stop(): void {
    this.stopRamp();
    this.reach(0);
  }

  private reach(target: number): void {
    const before = this.target;
    this.target = target;
    for (let slot = 0; slot < target; slot++) {
      if (this.sender.isIdle(slot)) this.sender.send(slot, slot, Number.NaN, false);
    }
    for (let slot = target; slot < before; slot++) if (this.sender.isIdle(slot)) this.endSequence(slot);
    this.sender.flush();
  }

  private endSequence(slot: number): void {
    if (this.sender.sequences?.isOpen(slot) === true) this.sender.sendEnd(slot, slot);
  }

  private stopRamp(): void {
    if (this.rampTimer !== undefined) clearInterval(this.rampTimer);
    this.rampTimer = undefined;
  }
}
