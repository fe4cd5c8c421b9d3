import type { DueSpan } from "../../../load/drive.ts";
import { sendingNsOf } from "../../../measure/derived-values.ts";
import type { MeasuredGroup, Measurement } from "../../../measure/measurement.ts";
import type { MlperfSample } from "../../../measure/mlperf/mlperf-tally.ts";
import { sampleTokens } from "../../../measure/mlperf/token-sample.ts";
import { defined } from "../../../plan/objects.ts";
import type { MeasurementModePlan } from "../../../plan/plan.ts";
import { msToNs } from "../../../plan/units.ts";
import { mlperfRulesOf } from "../../../registry/load-modes.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import type { QueryMinimums } from "../../send/messages.ts";
import { addTokens, type LevelFrame } from "../level-frame.ts";

type RequestsMode = Extract<MeasurementModePlan, { kind: "requests" }>;

/** Measures a number of requests in one window that ends with the last response. */
export async function measureRequests(frame: LevelFrame, mode: RequestsMode): Promise<LevelResult> {
  const { sender, signal, handOver } = frame.context;
  if (handOver !== undefined && !handOver.isLast) {
    const sent = sender.until({ kind: "all-sent" });
    await handOver.prepare("measured");
    await Promise.race([sent, signal.stopped]);
    return frame.cutAndChange(handOver);
  }
  await Promise.race([sender.until({ kind: "finished" }), signal.stopped]);
  const nowNs = frame.clock.nowNs();
  // Nothing happens after the last response, so the window ends there.
  const { lastEndNs, lastSendNs } = await sender.drain();
  const { startNs } = frame.windows;
  const hasEnd = !signal.isStopped && lastEndNs > startNs;
  const isDue = hasEnd && frame.context.isScheduled;
  const last = isDue ? { sendingEndNs: lastSendNs } : {};
  const { window, queries } = await frame.windows.cutLast(hasEnd ? lastEndNs : nowNs, last);
  const result = await frame.finish(fromFirstDue(window, frame.context.due), []);
  return queries === undefined ? result : judgeQueries(frame, mode, { sample: queries, startNs }, result);
}

/**
 * Returns a window that also has the time in which requests were due, for a load that begins with a request. @param due
 * absent: the load begins with a gap
 */
function fromFirstDue(window: Measurement, due: DueSpan | undefined): Measurement {
  if (due === undefined) return window;
  const sentNs = window.sendingNs - due.firstNs;
  const dueNs = due.lastNs === undefined ? sentNs : due.lastNs - due.firstNs;
  const sendingNs = sendingNsOf(window.sentCount, sentNs, dueNs);
  const groups = window.groups?.map((group): MeasuredGroup => ({ ...group, window: { ...group.window, sendingNs } }));
  return { ...window, sendingNs, ...defined({ groups }) };
}

/**
 * Returns the end conditions of a load with a minimum duration: it ends with the first query that is due (server) or sent (otherwise) after
 * that time and completes the minimum number of requests, as in LoadGen. Undefined for loads without a minimum duration, which have a quota
 * instead.
 */
export function minimumsOf({ context, windows }: LevelFrame): QueryMinimums | undefined {
  const { mode } = context.plan.measurement;
  if (mode.kind !== "requests" || mode.minDurationMs === undefined) return undefined;
  const { samplesPerQuery = 1 } = mlperfRulesOf(context.plan) ?? {};
  const minDurationNs = msToNs(mode.minDurationMs);
  return { startNs: windows.startNs, minDurationNs, leastCount: mode.count ?? 0, samplesPerQuery };
}

interface CountedQueries {
  readonly sample: MlperfSample;
  readonly startNs: number;
}

/** Returns the result with the verdicts of the MLPerf rules, and the tokens that they judge. */
async function judgeQueries(
  { context, windowCount }: LevelFrame,
  { count, minDurationMs = 0 }: RequestsMode,
  { sample, startNs }: CountedQueries,
  result: LevelResult,
): Promise<LevelResult> {
  const rules = mlperfRulesOf(context.plan);
  if (rules === undefined) return result;
  const { judgeMlperf } = await import("../../../measure/mlperf/judge-mlperf.ts");
  const required = { minQueryCount: (count ?? 0) / rules.samplesPerQuery, minDurationNs: msToNs(minDurationMs) };
  const merged = await context.sender.takeTokens({ kind: "windows", count: windowCount });
  const tokens = merged?.tokenRows && sampleTokens(merged.tokenRows);
  const mlperf = judgeMlperf(rules, required, sample, startNs, tokens);
  return { ...addTokens(result, merged), mlperf };
}
