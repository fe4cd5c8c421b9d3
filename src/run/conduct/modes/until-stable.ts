import { inferPerSec, stabilizingLatencyNs } from "../../../measure/derived-values.ts";
import type { Instability } from "../../../measure/instability.ts";
import type { Measurement } from "../../../measure/measurement.ts";
import { STABILITY_WINDOWS, StabilityJudge, WINDOW_STRETCH } from "../../../measure/stability.ts";
import type { MeasurementModePlan } from "../../../plan/plan.ts";
import { msToNs } from "../../../plan/units.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import { LevelError, type LevelFrame } from "../level-frame.ts";

/** Count windows are checked once per second, so they last whole seconds. */
const COUNT_POLL_MS = 1000;

type WindowsMode = Extract<MeasurementModePlan, { kind: "time-windows" | "count-windows" }>;

/** Measures windows until the last three agree, by perf_analyzer's rule, and merges those three. */
export async function measureUntilStable(frame: LevelFrame, mode: WindowsMode): Promise<LevelResult> {
  const { signal, plan, peers, observer } = frame.context;
  const { latencyLimitMs } = plan.measurement;
  const judge = new StabilityJudge({
    toleranceRatio: mode.stabilityPct / 100,
    latencyLimitNs: latencyLimitMs === null ? undefined : msToNs(latencyLimitMs),
  });
  const recent: Measurement[] = [];
  let trials = 0;
  while (trials < mode.maxTrials) {
    frame.context.sender.change({ resumesTokens: true });
    await waitForWindow(frame, mode);
    if (signal.isStopped) break;
    const window = await frame.windows.cut(frame.clock.nowNs());
    frame.context.checkFailures();
    trials++;
    recent.push(window);
    if (recent.length > STABILITY_WINDOWS) recent.shift();
    const isSettled = judgeWindow(frame, judge, window, trials);
    if (await peers.areAllStable(isSettled, signal)) {
      if (peers.count > 1) observer.onAllStable?.();
      break;
    }
  }
  if (signal.isStopped) return frame.partial(recent, trials);
  return judged(frame, recent, judge, trials);
}

/** Adds a window to the judge. @returns whether the level needs no further window */
function judgeWindow(frame: LevelFrame, judge: StabilityJudge, window: Measurement, trial: number): boolean {
  const { plan, observer } = frame.context;
  if (window.requestCount === 0) {
    judge.add(0, Number.POSITIVE_INFINITY);
    observer.onEmptyWindow?.(trial);
    return false;
  }
  const latencyNs = stabilizingLatencyNs(window, plan.measurement.percentile);
  judge.add(inferPerSec(window, frame.batchSize), latencyNs);
  observer.onWindow?.(trial, window, latencyNs);
  return judge.isStable || judge.isOverLimit;
}

async function judged(
  frame: LevelFrame,
  windows: readonly Measurement[],
  judge: StabilityJudge,
  trials: number,
): Promise<LevelResult> {
  const emptyCount = windows.filter(({ requestCount }) => requestCount === 0).length;
  if (emptyCount > 0 && emptyCount < windows.length) {
    throw new LevelError(`in ${emptyCount} of the last ${windows.length} windows`);
  }
  if (emptyCount > 0) throw new LevelError();
  const isLatencyUnstable = frame.context.isAsync && !judge.isStable && judge.isThroughputStable;
  const isStable = judge.isStable || isLatencyUnstable;
  const window = frame.merge(windows);
  const isOverLimit = isStable && frame.isOverLimit(window);
  return frame.result(isOverLimit ? "over-limit" : isStable ? "measured" : "unstable", window, trials, {
    isLatencyUnstable,
    instability: isStable ? undefined : instabilityOf(frame, windows, judge, trials),
  });
}

function instabilityOf(
  frame: LevelFrame,
  windows: readonly Measurement[],
  judge: StabilityJudge,
  trials: number,
): Instability {
  const { plan, isAsync } = frame.context;
  return {
    ...judge.spread,
    toleranceRatio: judge.toleranceRatio,
    trials,
    windows: windows.map((window) => ({
      inferPerSec: inferPerSec(window, frame.batchSize),
      latencyNs: stabilizingLatencyNs(window, plan.measurement.percentile),
      requestCount: window.requestCount,
    })),
    isThroughputOnly: isAsync,
  };
}

async function waitForWindow({ context, clock }: LevelFrame, mode: WindowsMode): Promise<void> {
  const { sender, signal } = context;
  if (mode.kind === "time-windows") {
    await sleepUnless(mode.windowMs * WINDOW_STRETCH, signal.stopped, clock);
    return;
  }
  let collected = 0;
  do {
    await sleepUnless(COUNT_POLL_MS, signal.stopped, clock);
    ({ collected } = await sender.drain());
    context.checkFailures();
  } while (!signal.isStopped && collected < mode.requestsPerWindow);
}
