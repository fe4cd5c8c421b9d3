import type { MlperfRules } from "../../../load/load-mode.ts";
import { sampleTokens } from "../../../measure/mlperf/token-sample.ts";
import type { MeasurementModePlan, Plan } from "../../../plan/plan.ts";
import { msToNs } from "../../../plan/units.ts";
import { loadModeOf } from "../../../registry/load-modes.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import { addTokens, type LevelFrame } from "../level-frame.ts";

type RequestsMode = Extract<MeasurementModePlan, { kind: "requests" }>;

/** Measures a number of requests in one window that ends with the last response. */
export async function measureRequests(frame: LevelFrame, mode: RequestsMode): Promise<LevelResult> {
  const { sender, signal, handOver } = frame.context;
  if (handOver !== undefined && !handOver.isLast) {
    const sent = sender.untilAllSent();
    await handOver.prepare("measured");
    await Promise.race([sent, signal.stopped]);
    return frame.cutAndChange(handOver);
  }
  await Promise.race([sender.untilFinished(), signal.stopped]);
  const nowNs = frame.clock.nowNs();
  // Nothing happens after the last response, so the window ends with it.
  const { lastEndNs, lastSendNs } = await sender.drain();
  const { startNs } = frame.windows;
  const hasEnd = !signal.isStopped && lastEndNs > startNs;
  const isDue = hasEnd && frame.context.isScheduled;
  const window = await frame.windows.cut(hasEnd ? lastEndNs : nowNs, isDue ? { sendingEndNs: lastSendNs } : {});
  return judgeQueries(frame, mode, startNs, await frame.finish(window, []));
}

/**
 * Ends a load with the first query that is due (server) or sent (otherwise) when the shortest time is over, and that completes the lowest
 * number of requests, as LoadGen does. Call before the load starts. Loads without a shortest time have a quota instead.
 */
export function endAtMinimums({ context, windows }: LevelFrame, { count, minDurationMs }: RequestsMode): void {
  if (minDurationMs === undefined) return;
  const { sender, plan } = context;
  const { samplesPerQuery = 1 } = mlperfRulesOf(plan) ?? {};
  const minDurationNs = msToNs(minDurationMs);
  sender.endAtMinimums({ startNs: windows.startNs, minDurationNs, leastCount: count ?? 0, samplesPerQuery });
}

/** Returns MLPerf's rules for the load of a plan; undefined for all other loads. */
export function mlperfRulesOf({ load }: Plan): MlperfRules | undefined {
  return loadModeOf(load).mlperf?.(load);
}

/** Returns the result with what the rules of MLPerf say, and the tokens that they judge. */
async function judgeQueries(
  { context, windowCount }: LevelFrame,
  { count, minDurationMs = 0 }: RequestsMode,
  startNs: number,
  result: LevelResult,
): Promise<LevelResult> {
  const rules = mlperfRulesOf(context.plan);
  if (rules === undefined) return result;
  const sample = await context.sender.queries();
  if (sample === undefined) return result;
  const { judgeMlperf } = await import("../../../measure/mlperf/judge-mlperf.ts");
  const required = { minQueryCount: (count ?? 0) / rules.samplesPerQuery, minDurationNs: msToNs(minDurationMs) };
  const merged = await context.sender.mergeTokens(windowCount);
  const tokens = merged?.tokenRows && sampleTokens(merged.tokenRows);
  const mlperf = judgeMlperf(rules, required, sample, startNs, tokens);
  return { ...addTokens(result, merged), mlperf };
}
