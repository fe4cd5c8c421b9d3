import type { DriveOf, ThinkTime } from "../../load/drive.ts";
import type { Cancel } from "../../runtime/clock.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";
import { SendSlice } from "./send-slice.ts";
import { isSameThinking, Thinking } from "./think-time.ts";

/** Time between two changes of a ramp. */
const RAMP_STEP_MS = 20;

/** Keeps a number of requests outstanding, which may change over time. Each slot sends one sequence after another. */
export class ClosedLoad implements ActiveLoad {
  private readonly sender: Sender;
  /** Slots below this keep a request outstanding. */
  private target = 0;
  private cancelRamp: Cancel | undefined;
  /** Slots that send after the reads. Without `readsFirst`: slots of a new load, of which a slice sends as many as fit. */
  private waiting: number[] = [];
  private cancelTurn: Cancel | undefined;
  /** Slots whose users think; undefined without a think time. */
  private thinking: Thinking | undefined;

  constructor(sender: Sender) {
    this.sender = sender;
  }

  get activeLanes(): number {
    return this.target;
  }

  /**
   * Changes the number of outstanding requests. Resolves when no more than that are outstanding, and when all users have begun.
   */
  async hold({ concurrency, thinkTime }: Omit<DriveOf<"closed">, "kind">): Promise<void> {
    this.stopRamp();
    this.sender.setActiveLanes(concurrency);
    await this.sender.reserve(concurrency);
    const before = this.target;
    this.think(thinkTime);
    this.reach(concurrency, true);
    // At a lower level, surplus requests must end before measuring.
    if (concurrency < before) await this.sender.waitForOutstanding(concurrency);
    if (thinkTime !== undefined && concurrency > before) await this.untilBegun(thinkTime);
  }

  /** @param atNs start of the ramp. Default: now */
  async ramp(drive: DriveOf<"ramp">, atNs?: number): Promise<void> {
    this.stopRamp();
    this.think(drive.thinkTime);
    await this.sender.reserve(drive.maxConcurrency);
    this.startRamp(drive, atNs);
  }

  /** Changes the number of outstanding requests at once. The connections must be open. @param atNs start of a ramp. Default: now */
  change(drive: DriveOf<"closed" | "ramp">, atNs?: number): void {
    this.stopRamp();
    this.think(drive.thinkTime);
    if (drive.kind === "ramp") {
      this.startRamp(drive, atNs);
      return;
    }
    this.sender.setActiveLanes(drive.concurrency);
    this.reach(drive.concurrency, true);
  }

  /** New users begin within the mean think time. A run that ends earlier does not wait for it. */
  private untilBegun({ meanMs }: ThinkTime): Promise<void> {
    return new Promise((resolve) => {
      this.sender.clock.after(meanMs, resolve, true);
    });
  }

  private think(thinkTime: ThinkTime | undefined): void {
    if (isSameThinking(this.thinking?.thinkTime, thinkTime)) return;
    this.thinking?.clear();
    const { clock } = this.sender;
    this.thinking = thinkTime && new Thinking(thinkTime, clock, () => this.sender.guard(() => this.sendThought()));
  }

  /** Sends the requests of users whose think time is over. */
  private sendThought(): void {
    const { sender, thinking } = this;
    if (thinking === undefined) return;
    const slice = new SendSlice(sender.clock);
    while (slice.takeOne()) {
      const slot = thinking.take();
      if (slot === undefined) break;
      if (slot >= this.target || sender.quota <= 0) this.endSequence(slot);
      else if (sender.isIdle(slot)) sender.send(slot, slot, Number.NaN, false);
    }
    sender.flush();
    thinking.arm();
  }

  private startRamp(drive: DriveOf<"ramp">, startNs = this.sender.clock.nowNs()): void {
    this.sender.shareSteps();
    const { clock } = this.sender;
    const adjust = (): void => this.reach(drive.concurrencyAt(clock.nowNs() - startNs));
    adjust();
    this.cancelRamp = clock.every(RAMP_STEP_MS, () => this.sender.guard(adjust));
  }

  next(slot: number): void {
    if (slot >= this.target || this.sender.quota <= 0) this.endSequence(slot);
    else if (this.thinking !== undefined) this.thinking.rest(slot);
    else if (this.sender.readsFirst) {
      this.waiting.push(slot);
      this.scheduleWaiting();
    } else this.sender.send(slot, slot, Number.NaN, false);
  }

  private sendWaiting(): void {
    this.clearTurn();
    const { waiting, sender } = this;
    this.waiting = [];
    const slice = new SendSlice(sender.clock);
    let next = 0;
    for (; next < waiting.length && slice.takeOne(); next++) {
      const slot = waiting[next] as number;
      // The load may have changed meanwhile.
      if (slot < this.target && sender.isIdle(slot)) sender.send(slot, slot, Number.NaN, false);
    }
    sender.flush();
    if (next === waiting.length) return;
    this.waiting = [...waiting.slice(next), ...this.waiting];
    this.scheduleWaiting();
  }

  private scheduleWaiting(): void {
    this.cancelTurn ??= this.sender.clock.nextTurn(() => this.sender.guard(() => this.sendWaiting()));
  }

  stop(): void {
    this.stopRamp();
    this.clearTurn();
    this.waiting = [];
    this.think(undefined);
    this.reach(0);
  }

  private clearTurn(): void {
    this.cancelTurn?.();
    this.cancelTurn = undefined;
  }

  /** @param isTogether whether all new users begin at this time, not one after the other */
  private reach(wanted: number, isTogether = false): void {
    const before = this.target;
    // One more than the limit ends the load.
    const target = Math.min(wanted, this.sender.maxOutstanding + 1);
    this.target = target;
    // Waiting slots are idle, so the loop below finds them again.
    this.waiting = [];
    for (let slot = 0; slot < target; slot++) {
      if (!this.sender.isIdle(slot) || this.thinking?.has(slot) === true) continue;
      if (isTogether && this.thinking !== undefined) this.thinking.begin(slot);
      else this.waiting.push(slot);
    }
    if (this.waiting.length > 0) this.sendWaiting();
    for (let slot = target; slot < before; slot++) if (this.sender.isIdle(slot)) this.endSequence(slot);
    this.sender.flush();
  }

  private endSequence(slot: number): void {
    if (this.sender.sequences?.isOpen(slot) === true) this.sender.sendEnd(slot, slot);
  }

  private stopRamp(): void {
    this.cancelRamp?.();
    this.cancelRamp = undefined;
  }
}
