import type { LevelResult } from "../../result/run-result.ts";
import type { QueryMinimums } from "../send/messages.ts";
import type { LevelContext } from "./level-context.ts";
import { addTokens, LevelFrame } from "./level-frame.ts";
import { measureDuration } from "./modes/duration.ts";
import { measureRequests, minimumsOf } from "./modes/requests.ts";
import { measureUntilResolved } from "./modes/until-resolved.ts";
import { measureUntilStable } from "./modes/until-stable.ts";

/** Measures one level while the driver keeps up its load. */
export class LevelRun {
  private readonly frame: LevelFrame;

  constructor(context: LevelContext, level: number) {
    this.frame = new LevelFrame(context, level);
  }

  /** Discards earlier records and begins the first window. @param ready for a start without load: the window waits for it */
  begin(ready: Promise<unknown> | undefined): Promise<void> {
    return this.frame.windows.begin(ready);
  }

  get startNs(): number {
    return this.frame.windows.startNs;
  }

  /** End conditions of a load without a quota. Call when the first window has begun. */
  get minimums(): QueryMinimums | undefined {
    return minimumsOf(this.frame);
  }

  /** See {@link WindowCutter}. */
  get scheduleEndNs(): number | undefined {
    return this.frame.windows.scheduleEndNs;
  }

  /** Counts requests that end before the load is steady, for a run that ends before that. @param startNs start of the load */
  lead(startNs: number): Promise<void> {
    return this.frame.windows.lead(startNs);
  }

  /** Discards earlier records and begins the first window in the middle of a load that was not measured until now. */
  async discardAndContinue(startNs: number): Promise<void> {
    await this.frame.windows.discard();
    this.continueAt(startNs);
  }

  /** Begins the first window in the middle of a load. See {@link WindowCutter.continueAt}. */
  continueAt(startNs: number, keepsTokens = false): void {
    this.frame.windows.continueAt(startNs, keepsTokens);
  }

  /** Measures in the plan's mode. */
  async measure(): Promise<LevelResult> {
    const { frame } = this;
    const { sender, hasTokens, handOver, signal, abort, plan } = frame.context;
    const result = await this.measureInMode();
    if (!frame.hasHandedOver) abort?.pause();
    const isWhole = !hasTokens || result.window.tokens !== undefined;
    // Nothing measures what would be sent while tokens are counted. Other ranks may still measure.
    if (!isWhole && handOver === undefined && !plan.client.isMpi) sender.change({ quota: 0 });
    const whole = isWhole
      ? result
      : addTokens(result, await sender.takeTokens({ kind: "windows", count: frame.windowCount }));
    if (frame.hasHandedOver || handOver === undefined) return whole;
    // Windows until three agree: requests that ended since the last window belong to no window.
    if (!signal.isStopped) await handOver.prepare(result.outcome);
    const atNs = frame.clock.nowNs();
    await sender.drain();
    handOver.change(atNs, false);
    return whole;
  }

  private measureInMode(): Promise<LevelResult> {
    const { frame } = this;
    const { mode } = frame.context.plan.measurement;
    if (mode.kind === "requests") return measureRequests(frame, mode);
    if (mode.kind === "duration") return measureDuration(frame, mode);
    if (mode.kind === "until-resolved") return measureUntilResolved(frame, mode);
    return measureUntilStable(frame, mode);
  }
}
