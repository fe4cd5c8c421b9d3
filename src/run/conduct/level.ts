import type { LevelResult } from "../../result/run-result.ts";
import type { LevelContext } from "./level-context.ts";
import { addTokens, LevelFrame } from "./level-frame.ts";
import { measureDuration } from "./modes/duration.ts";
import { endAtMinimums, measureRequests, mlperfRulesOf } from "./modes/requests.ts";
import { measureUntilResolved } from "./modes/until-resolved.ts";
import { measureUntilStable } from "./modes/until-stable.ts";

/** Measures one level while the driver keeps up its load. */
export class LevelRun {
  private readonly frame: LevelFrame;

  constructor(context: LevelContext, level: number) {
    this.frame = new LevelFrame(context, level);
  }

  /** Discards earlier records and begins the first window. @param ready without load: what the window waits for */
  async begin(ready: Promise<void> | undefined): Promise<void> {
    const { context, windows } = this.frame;
    await windows.begin(ready);
    const { mode } = context.plan.measurement;
    if (mode.kind === "requests") endAtMinimums(this.frame, mode);
    const rules = mlperfRulesOf(context.plan);
    if (rules !== undefined) await context.sender.countQueries(rules.samplesPerQuery);
  }

  /** Counts what ends before the load is steady, for a run that ends before that; not that of a warm-up. @param startNs start of the load */
  async lead(startNs: number, isWarmup: boolean): Promise<void> {
    const { windows, context } = this.frame;
    if (isWarmup) context.sender.warmUpTokens();
    else await windows.lead(startNs);
  }

  /** Discards earlier records and begins the first window in the middle of a load that was not measured before. */
  async discardAndContinue(startNs: number): Promise<void> {
    await this.frame.windows.discard();
    this.continueAt(startNs);
  }

  /** Begins the first window in the middle of a load. @param startNs the end of what was measured before */
  continueAt(startNs: number): void {
    this.frame.windows.continueAt(startNs);
  }

  /** Measures in the plan's mode. */
  async measure(): Promise<LevelResult> {
    const { frame } = this;
    const { sender, hasTokens, handOver, signal, abort } = frame.context;
    const result = await this.measureInMode();
    if (!frame.hasHandedOver) abort?.pause();
    const isWhole = !hasTokens || result.window.tokens !== undefined;
    const whole = isWhole ? result : addTokens(result, await sender.mergeTokens(frame.windowCount));
    if (frame.hasHandedOver || handOver === undefined) return whole;
    // Windows until three agree: what ended since the last one belongs to no window.
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
