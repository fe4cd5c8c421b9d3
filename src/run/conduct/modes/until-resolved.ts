import { stabilizingLatencyNs } from "../../../measure/derived-values.ts";
import { type Measurement, withTokens } from "../../../measure/measurement.ts";
import type { MeasurementModePlan } from "../../../plan/plan.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import type { LevelFrame } from "../level-frame.ts";
import { resolveLimits } from "../resolve-limits.ts";

/** Measures windows until the plan's limits are certainly kept or broken, or until the longest time has passed. */
export async function measureUntilResolved(
  frame: LevelFrame,
  { windowMs, maxMs }: Extract<MeasurementModePlan, { kind: "until-resolved" }>,
): Promise<LevelResult> {
  const { plan, signal, sender, hasTokens, observer, isScheduled, isAsync, session } = frame.context;
  const windows: Measurement[] = [];
  const addTokens = async (window: Measurement): Promise<Measurement> =>
    hasTokens ? withTokens(window, await sender.takeTokens({ kind: "windows", count: 1 })) : window;
  const nextWindow = async (trial: number): Promise<Measurement | undefined> => {
    sender.change({ resumesTokens: true });
    await sleepUnless(windowMs, signal.stopped, frame.clock);
    if (signal.isStopped) return undefined;
    const window = await addTokens(await frame.windows.cut(frame.clock.nowNs()));
    windows.push(window);
    if (window.requestCount === 0) observer.onEmptyWindow?.(trial);
    else observer.onWindow?.(trial, window, stabilizingLatencyNs(window, plan.measurement.percentile));
    return window;
  };
  const { level, batchSize } = frame;
  const hasLimit = sender.progress().unsent.delayed !== undefined;
  const sendsWhenDue = isScheduled && isAsync && !session.service.isSequence && !hasLimit;
  const resolved = await resolveLimits({ plan, level, batchSize, windowMs, maxMs, sendsWhenDue, nextWindow });
  if (resolved === undefined) return frame.partial(windows, windows.length, addTokens);
  return frame.result("measured", frame.merge(resolved.windows), windows.length, { limits: resolved.limits });
}
