import type { Measurement } from "../../../measure/measurement.ts";
import { stabilizingLatencyNs } from "../../../measure/metrics.ts";
import { joinGroupTokens } from "../../../measure/tokens/token-measurement.ts";
import type { MeasurementModePlan } from "../../../plan/plan.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import type { LevelFrame } from "../level-frame.ts";

/** Measures windows until the limits of the plan are certainly kept or broken, or until the longest time has passed. */
export async function measureUntilResolved(
  frame: LevelFrame,
  { windowMs, maxMs }: Extract<MeasurementModePlan, { kind: "until-resolved" }>,
): Promise<LevelResult> {
  const { plan, signal, tokens, observer } = frame.context;
  const { resolveLimits } = await import("../resolve-limits.ts");
  const windows: Measurement[] = [];
  const nextWindow = async (trial: number): Promise<Measurement | undefined> => {
    tokens?.resume();
    await sleepUnless(windowMs, signal.stopped, frame.clock);
    if (signal.isStopped) return undefined;
    const window = await frame.windows.cut(frame.clock.nowNs());
    windows.push(window);
    if (window.requestCount === 0) observer.onEmptyWindow?.(trial);
    else observer.onWindow?.(trial, window, stabilizingLatencyNs(window, plan.measurement.percentile));
    return window;
  };
  let groupTokens: LevelResult["groupTokens"];
  const takeTokens = async () => {
    const taken = await tokens?.mergeLevel(1);
    groupTokens = joinGroupTokens(groupTokens, taken?.groupTokens);
    return taken?.tokens;
  };
  const { level, batchSize } = frame;
  const resolved = await resolveLimits({ plan, level, batchSize, windowMs, maxMs, nextWindow, takeTokens });
  if (resolved === undefined) return frame.partial(windows, windows.length);
  const measured = frame.result("measured", frame.merge(windows), windows.length, { limits: resolved.limits });
  if (resolved.tokens === undefined) return measured;
  return { ...measured, tokens: resolved.tokens, ...(groupTokens === undefined ? {} : { groupTokens }) };
}
