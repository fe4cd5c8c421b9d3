import { inferPerSec } from "../../measure/derived-values.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { LevelRun } from "./level.ts";
import type { LevelHost, LevelSequence, RanStep } from "./level-sequence.ts";
import { isFromNothing, measureSteady } from "./steady-level.ts";
import { type Step, verdictOf } from "./step.ts";
import { warmUp, warmUpStep } from "./warm-up.ts";

/** Levels that are begun one by one, each with its warm-up: those of a load without phases. */
export class SeparateLevels implements LevelSequence {
  private readonly host: LevelHost;

  constructor(host: LevelHost) {
    this.host = host;
  }

  async run(step: Step): Promise<RanStep> {
    const { plan, peers, signal, poller } = this.host.parts;
    await peers.waitForAll(signal);
    if (!(await this.host.sender.admits(step.load))) this.host.announce();
    const { warmupRequests, warmupMs = 0 } = plan.measurement;
    const isWarmedUp = warmupRequests + warmupMs > 0;
    const isDrained = isFromNothing(plan, this.host.isWhole, isWarmedUp);
    if (isDrained && isWarmedUp && !signal.isStopped) await this.warmUp(step, warmupRequests, warmupMs);
    // Announce the run even when the very first request has already failed.
    if (signal.isInterrupted || (signal.isStopped && this.host.isAnnounced)) return {};
    const measuring = isDrained ? this.measure(step) : this.measureSteady(step, warmupRequests, warmupMs);
    const result = await measuring.finally(() => poller?.stop());
    return result === undefined ? {} : { result, next: step.after(verdictOf(result), inferPerSec(result.window, 1)) };
  }

  private async measureSteady(step: Step, count: number, durationMs: number): Promise<LevelResult | undefined> {
    const { host } = this;
    const { sender, policy, quota } = host;
    const { plan, signal, clock, observer } = host.parts;
    const run = new LevelRun(host.contextOf(step), step.level);
    host.beginSending();
    const { mode } = plan.measurement;
    const isFirst = step.load.draw === 0 && mode.kind === "duration";
    return measureSteady({
      firstMs: isFirst ? mode.durationMs : undefined,
      ...{ run, sender, clock, policy, signal, step: step.load, count, durationMs, quota },
      onStart: (isWarmup) => {
        host.announce();
        observer.onLevelStart?.(step.phase.load.search.unit, step.level, isWarmup);
        return host.checkOnce();
      },
      onLead: (tally) => host.addWarmup(tally),
    });
  }

  private async measure(step: Step): Promise<LevelResult> {
    const { host } = this;
    const { sender } = host;
    const { signal, observer } = host.parts;
    const { unit } = step.phase.load.search;
    const run = new LevelRun(host.contextOf(step), step.level);
    host.beginSending();
    sender.setWarmup(false);
    if (host.isWhole) {
      // Send nothing before the window begins, and nothing after the last requested request.
      await Promise.race([sender.stop(), signal.stopped]);
      const ready = sender.prepare(step.load);
      host.announce();
      observer.onLevelStart?.(unit, step.level, false);
      await run.begin(ready);
      await Promise.race([sender.start(step.load, run.minimums ?? host.quota), signal.stopped]);
      const result = await run.measure();
      await host.checkOnce();
      return result;
    }
    // Changing schedules waits for outstanding requests, which may never be answered.
    await Promise.race([sender.start(step.load, Number.POSITIVE_INFINITY), signal.stopped]);
    host.announce();
    observer.onLevelStart?.(unit, step.level, false);
    await host.checkOnce();
    await run.begin(undefined);
    return run.measure();
  }

  private async warmUp(of: Step, count: number, durationMs: number): Promise<void> {
    const { host } = this;
    const { sender, policy } = host;
    const { signal, clock, observer } = host.parts;
    const step = warmUpStep(of.load, count, durationMs);
    const { unit, roundSize = of.level } = host.contextOf(of);
    host.announce();
    observer.onLevelStart?.(unit, Math.min(roundSize, step.mostRequests ?? of.level), true);
    host.beginSending();
    host.addWarmup(await warmUp({ sender, clock, policy, signal, step, count, durationMs }));
  }
}
