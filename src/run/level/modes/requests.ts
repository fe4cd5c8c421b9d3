import type { MlperfRules } from "../../../load/load-mode.ts";
import type { MeasurementModePlan, Plan } from "../../../plan/plan.ts";
import { msToNs } from "../../../plan/units.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import type { LevelFrame } from "../level-frame.ts";

type RequestsMode = Extract<MeasurementModePlan, { kind: "requests" }>;

/** Measures a number of requests in one window that ends with the last answer. */
export async function measureRequests(frame: LevelFrame, { count, minDurationMs }: RequestsMode): Promise<LevelResult> {
  const { driver, signal, handOver } = frame.context;
  if (handOver !== undefined && !handOver.isLast) {
    const sent = new Promise<void>((resolve) => {
      driver.onAllSent = resolve;
      if (driver.quota <= 0) resolve();
    });
    await handOver.prepare("measured");
    await Promise.race([sent, signal.stopped]);
    return frame.cutAndChange(handOver);
  }
  if (minDurationMs !== undefined) {
    await sleepUnless(minDurationMs, signal.stopped, frame.clock);
    driver.quota = Math.max(0, (count ?? 0) - frame.windows.sentCount);
  }
  await Promise.race([driver.finished(), signal.stopped]);
  const nowNs = frame.clock.nowNs();
  driver.drain();
  // Nothing happens after the last response, so the window ends with it.
  const { lastEndNs, lastSendNs } = frame.meter;
  const { startNs } = frame.windows;
  const hasEnd = !signal.isStopped && lastEndNs > startNs;
  const isDue = hasEnd && frame.context.isScheduled;
  const window = await frame.windows.cut(hasEnd ? lastEndNs : nowNs, isDue ? { sendingEndNs: lastSendNs } : {});
  const result = frame.finish(window, []);
  return { ...result, ...(await judgeQueries(frame, { count: count ?? 0, minDurationMs }, startNs)) };
}

/** Returns MLPerf's rules for the load of a plan; undefined for all other loads. */
export function mlperfRulesOf({ load }: Plan): MlperfRules | undefined {
  return loadModeOf(load).mlperf?.(load);
}

/** Returns what the rules of MLPerf say, and the tokens that they judge. */
async function judgeQueries(
  { context, meter, windowCount }: LevelFrame,
  { count, minDurationMs = 0 }: { count: number; minDurationMs: number | undefined },
  startNs: number,
): Promise<Partial<LevelResult>> {
  const rules = mlperfRulesOf(context.plan);
  if (rules === undefined || meter.mlperf === undefined) return {};
  const { judgeMlperf } = await import("../../../measure/mlperf/judge-mlperf.ts");
  const { sampleTokens } = await import("../../../measure/mlperf/token-sample.ts");
  const required = { minQueryCount: count / rules.samplesPerQuery, minDurationNs: msToNs(minDurationMs) };
  const merged = await context.tokens?.mergeLevel(windowCount);
  const tokens = merged && sampleTokens(merged.tokens);
  return { ...merged, mlperf: judgeMlperf(rules, required, meter.mlperf.sample(), startNs, tokens) };
}
