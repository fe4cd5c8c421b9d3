import type { Drive } from "../../load/load-mode.ts";
import { nowNs } from "../../runtime/clock.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";
import { SendSlice } from "./send-slice.ts";

const RAMP_STEP_MS = 20;

/** A number of requests that are always outstanding, which may change with time. A slot's requests are one sequence after the other. */
export class ClosedLoad implements ActiveLoad {
  private readonly sender: Sender;
  /** Slots below this keep a request outstanding. */
  private target = 0;
  private rampTimer: ReturnType<typeof setInterval> | undefined;
  /**
   * Where many streams' tokens arrive at once, each request sent between two reads would make the tokens of all that are read after it look
   * late. The requests leave after the reads; their own times count from when they leave.
   */
  readsFirst = false;
  /** Slots that go on after the reads. */
  private waiting: number[] = [];
  private immediate: NodeJS.Immediate | undefined;

  constructor(sender: Sender) {
    this.sender = sender;
  }

  get activeLanes(): number {
    return this.target;
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

  next(slot: number): void {
    if (slot >= this.target || this.sender.quota <= 0) this.endSequence(slot);
    else if (this.readsFirst) {
      this.waiting.push(slot);
      this.scheduleWaiting();
    } else this.sender.send(slot, slot, Number.NaN, false);
  }

  private sendWaiting(): void {
    this.clearImmediate();
    const { waiting, sender } = this;
    this.waiting = [];
    const slice = new SendSlice();
    let next = 0;
    for (; next < waiting.length && slice.takeOne(); next++) {
      const slot = waiting[next] as number;
      // A change of load may have been quicker.
      if (slot < this.target && sender.isIdle(slot)) sender.send(slot, slot, Number.NaN, false);
    }
    sender.flush();
    if (next === waiting.length) return;
    this.waiting = [...waiting.slice(next), ...this.waiting];
    this.scheduleWaiting();
  }

  private scheduleWaiting(): void {
    this.immediate ??= setImmediate(() => this.sender.guard(() => this.sendWaiting()));
  }

  stop(): void {
    this.stopRamp();
    this.clearImmediate();
    this.waiting = [];
    this.reach(0);
  }

  private clearImmediate(): void {
    if (this.immediate !== undefined) clearImmediate(this.immediate);
    this.immediate = undefined;
  }

  private reach(target: number): void {
    const before = this.target;
    this.target = target;
    // Those that waited are among the idle ones.
    this.waiting = [];
    for (let slot = 0; slot < target; slot++) {
      if (!this.sender.isIdle(slot)) continue;
      if (this.readsFirst) this.waiting.push(slot);
      else this.sender.send(slot, slot, Number.NaN, false);
    }
    if (this.readsFirst) this.sendWaiting();
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
