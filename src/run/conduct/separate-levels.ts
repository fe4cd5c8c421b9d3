import { LEVEL_UNITS } from "../../load/level-units.ts";
import { inferPerSec } from "../../measure/derived-values.ts";
import type { Plan } from "../../plan/plan.ts";
import { formatDurationNs, msToNs, nsToMs } from "../../plan/units.ts";
import { CLIENT_WARM_UP_MS } from "../../registry/estimate-time.ts";
import { loadModeOf, mlperfRulesOf } from "../../registry/load-modes.ts";
import { type RunObserver, reportWait } from "../../result/observer.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { sleepUnless } from "../../runtime/clock.ts";
import { drainLimitNs } from "../send/end-waits.ts";
import { LevelRun } from "./level.ts";
import { LevelError } from "./level-frame.ts";
import type { LevelHost, LevelSequence, RanStep } from "./level-sequence.ts";
import { type Step, verdictOf } from "./step.ts";
import { type WarmUp, type WarmUpTally, warmUp, warmUpStep } from "./warm-up.ts";

/** Longest wait for a load to become steady. A stalled server is measured anyway. */
const STEADY_LIMIT_MS = 60_000;

/**
 * Returns the longest wait for the load of a level to become steady: the level's own length, the time in which users may think before their
 * first request, and the time that a load is given to end.
 */
function steadyLimitMs({ load, measurement: { mode } }: SteadyLevel["plan"]): number {
  if (mode.kind !== "duration") return STEADY_LIMIT_MS;
  const thinkMs = loadModeOf(load).leadMs?.(load) ?? 0;
  return Math.min(STEADY_LIMIT_MS, mode.durationMs + thinkMs + nsToMs(drainLimitNs(0)));
}

/** Below this rate the speed of the client's code does not matter. */
const LEAST_FULL_PER_SEC = 2000;
const RATE_PROBE_MS = 20;

/** Levels that start one by one, each with its warm-up: those of a load without phases. */
export class SeparateLevels implements LevelSequence {
  private readonly host: LevelHost;

  constructor(host: LevelHost) {
    this.host = host;
  }

  async run(step: Step): Promise<RanStep> {
    const { plan, peers, signal, poller } = this.host.parts;
    await peers.waitForAll(signal);
    if (!(await this.host.sender.prepare(step.load, "check"))) this.host.announce();
    const { warmupRequests, warmupMs = 0 } = plan.measurement;
    const isWarmedUp = warmupRequests + warmupMs > 0;
    const isDrained = isFromNothing(plan, this.host.isWhole);
    if (isDrained && isWarmedUp && !signal.isStopped) await this.warmUp(step, warmupRequests, warmupMs);
    // Announce the run even when the very first request has already failed.
    if (signal.isInterrupted || (signal.isStopped && this.host.isAnnounced)) return {};
    const measuring = isDrained ? this.measure(step) : this.measureSteady(step, warmupRequests, warmupMs);
    const result = await measuring.finally(() => poller?.stop());
    return result === undefined ? {} : { result, next: step.after(verdictOf(result), inferPerSec(result.window, 1)) };
  }

  private async measureSteady(step: Step, count: number, durationMs: number): Promise<LevelResult | undefined> {
    const { host } = this;
    const { sender, failureLimits, quota } = host;
    const { plan, signal, clock, observer } = host.parts;
    const run = new LevelRun(host.contextOf(step), step.level);
    host.beginSending();
    const { mode } = plan.measurement;
    const isFirst = step.load.draw === 0 && mode.kind === "duration";
    return measureSteady({
      firstMs: isFirst ? mode.durationMs : undefined,
      ...{ run, sender, clock, failureLimits, signal, observer, step: step.load, count, durationMs, quota },
      plan,
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
    const { signal, observer, plan } = host.parts;
    const { unit } = step.phase.load.search;
    const run = new LevelRun(host.contextOf(step), step.level);
    host.beginSending();
    sender.change({ isWarmup: false });
    if (host.isWhole || isRamp(plan)) {
      // Send nothing before the window begins, because a schedule or a ramp begins with it, and nothing after the last
      // requested request.
      await Promise.race([sender.stop(), signal.stopped]);
      const ready = sender.prepare(step.load);
      host.announce();
      observer.onLevelStart?.(unit, step.level, false);
      await run.begin(ready);
      const start = { quota: run.minimums ?? host.quota, atNs: run.startNs, endNs: run.scheduleEndNs };
      await Promise.race([sender.start(step.load, start), signal.stopped]);
      const result = await run.measure();
      await host.checkOnce();
      return result;
    }
    // Changing a schedule waits for outstanding requests, which may never end.
    await Promise.race([sender.start(step.load, { quota: Number.POSITIVE_INFINITY }), signal.stopped]);
    host.announce();
    observer.onLevelStart?.(unit, step.level, false);
    await host.checkOnce();
    await run.begin(undefined);
    return run.measure();
  }

  private async warmUp(of: Step, count: number, durationMs: number): Promise<void> {
    const { host } = this;
    const { sender, failureLimits } = host;
    const { signal, clock, observer } = host.parts;
    const step = warmUpStep(of.load, count, durationMs);
    const { unit, roundSize = of.level } = host.contextOf(of);
    host.announce();
    const level = LEVEL_UNITS[unit].isScheduled ? of.level : Math.min(roundSize, step.mostRequests ?? of.level);
    observer.onLevelStart?.(unit, level, true);
    host.beginSending();
    host.addWarmup(await warmUp({ sender, clock, failureLimits, signal, step, count, durationMs }));
  }
}

/** A level that is measured once its load is steady. */
interface SteadyLevel extends Pick<WarmUp, "sender" | "clock" | "signal" | "step" | "count" | "durationMs"> {
  readonly failureLimits: Pick<WarmUp["failureLimits"], "isWarmingUp">;
  readonly observer: Pick<RunObserver, "onWait">;
  readonly run: LevelRun;
  /** Maximum number of requests to measure. */
  readonly quota: number;
  /**
   * Length of the level if it is the run's first, so that warm-up under the same load, in which code is JIT-compiled, takes at most
   * as long. Absent: it is not the first.
   */
  readonly firstMs?: number | undefined;
  readonly plan: Pick<Plan, "load" | "measurement">;
  /** Called when the load has begun, and again when a warm-up has ended. */
  onStart(isWarmup: boolean): Promise<void>;
  /** Receives the counts of requests that ended before the measurement began. */
  onLead(tally: WarmUpTally): void;
}

/**
 * Reports whether a level is measured from its first request, because the front door, its load or its number of requests says so.
 * @param isWhole whether no request may be in flight when the level begins
 */
function isFromNothing(plan: Plan, isWhole: boolean): boolean {
  const isFixed = isRamp(plan) || mlperfRulesOf(plan) !== undefined;
  return plan.behaviour?.measuresFromNothing === true || isFixed || isWhole;
}

function isRamp({ load }: Plan): boolean {
  return loadModeOf(load).ramp?.(load) !== undefined;
}

/**
 * Measures a level once its warm-up is over and its load is steady. A run that ends earlier returns the requests that ended until then;
 * undefined when the level has a warm-up.
 * @throws LevelError when nothing ends during a wait that is limited by the level's length: nothing would end in the level either
 */
export async function measureSteady(level: SteadyLevel): Promise<LevelResult | undefined> {
  const { run, sender, clock, signal, failureLimits } = level;
  const isWarmedUp = level.count + level.durationMs > 0;
  if (!isWarmedUp) await run.lead(clock.nowNs());
  failureLimits.isWarmingUp = isWarmedUp;
  sender.change({ isWarmup: isWarmedUp });
  const leading = leadIn(level);
  await level.onStart(isWarmedUp);
  const tally = await leading;
  if (signal.isStopped && !isWarmedUp) return run.measure();
  level.onLead(tally);
  if (signal.isStopped) return undefined;
  failureLimits.isWarmingUp = false;
  const startNs = clock.nowNs();
  await sender.drain();
  // The measurement must not depend on the length of the warm-up.
  sender.change({ isWarmup: false, rewinds: isWarmedUp });
  if (isWarmedUp) void level.onStart(false);
  await run.discardAndContinue(startNs);
  sender.change({ quota: level.quota });
  return run.measure();
}

/**
 * Starts a load that continues, and resolves when its warm-up is over and it is steady: when both the number and the duration are reached,
 * and every request that was sent before the first response has ended. An earlier measurement would contain requests sent to an idle
 * server, and too few responses.
 * @returns counts of the requests that ended before
 */
async function leadIn(level: SteadyLevel): Promise<WarmUpTally> {
  const { sender, clock, signal, observer, step, count, durationMs, firstMs = 0 } = level;
  const mostMs = steadyLimitMs(level.plan);
  const before = await sender.until({ kind: "now" });
  const compiledNs = clock.nowNs() + msToNs(Math.min(CLIENT_WARM_UP_MS, firstMs));
  await Promise.race([sender.start(step, { quota: Number.POSITIVE_INFINITY }), signal.stopped]);
  if (durationMs > 0) await sleepUnless(durationMs, signal.stopped, clock);
  const restOf = async (): Promise<number> =>
    count - ((await sender.until({ kind: "now" })).sentCount - before.sentCount);
  for (let rest = count; rest > 0 && !signal.isStopped; rest = await restOf())
    await Promise.race([sender.until({ kind: "more-ended", count: rest }), signal.stopped]);
  const limitNs = clock.nowNs() + msToNs(mostMs);
  const steady = Promise.race([sender.until({ kind: "steady", limitNs }), signal.stopped]);
  await reportWait(observer, mostMs, sleepUnless(mostMs, steady, clock));
  if (clock.nowNs() < compiledNs && (await isAtFullRate(level)))
    await sleepUnless(Math.max(0, nsToMs(compiledNs - clock.nowNs())), signal.stopped, clock);
  const { endedCount, failedCount } = await sender.until({ kind: "now" });
  if (endedCount === before.endedCount && mostMs < STEADY_LIMIT_MS && !signal.isStopped)
    throw new LevelError(`in the first ${formatDurationNs(msToNs(mostMs))}`);
  const failures = failedCount - before.failedCount;
  // The previous level has counted the requests that it left in flight.
  const sentCount = Math.max(failures, endedCount - before.endedCount - before.outstanding);
  return { sentCount, failedCount: failures };
}

/** Whether requests end so fast that the client's speed limits their number. */
async function isAtFullRate({ sender, clock, signal }: SteadyLevel): Promise<boolean> {
  const before = await sender.until({ kind: "now" });
  await sleepUnless(RATE_PROBE_MS, signal.stopped, clock);
  const { endedCount } = await sender.until({ kind: "now" });
  return endedCount - before.endedCount >= (LEAST_FULL_PER_SEC * RATE_PROBE_MS) / 1000;
}
