import type { MeasurementModePlan } from "../../../plan/plan.ts";
import { formatDurationNs, msToNs, nsToMs } from "../../../plan/units.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import type { LevelFrame } from "../level-frame.ts";

/** Measures one window of a fixed length. With a grace period, it contains the answers to everything that was sent within it. */
export async function measureDuration(
  frame: LevelFrame,
  { durationMs, graceMs }: Extract<MeasurementModePlan, { kind: "duration" }>,
): Promise<LevelResult> {
  const { driver, signal, handOver } = frame.context;
  const { timeline } = frame.meter;
  const stopNs = frame.windows.startNs + msToNs(durationMs);
  await sleepUnless(Math.max(0, nsToMs(stopNs - frame.clock.nowNs())), signal.stopped, frame.clock);
  if (handOver !== undefined) {
    if (!signal.isStopped) await handOver.prepare("measured");
    return frame.cutAndChange(handOver);
  }
  const laneCount = driver.activeLanes;
  frame.endSchedule(Math.min(stopNs, frame.clock.nowNs()));
  const cancelled = graceMs === undefined ? undefined : await awaitLast(frame, graceMs);
  driver.drain();
  frame.meter.timeline = undefined;
  const isWhole = graceMs !== undefined && !signal.isStopped;
  // After sending has stopped, only responses extend the window, not the wait for missing ones.
  const endNs = isWhole ? Math.max(stopNs, frame.meter.lastEndNs) : frame.clock.nowNs();
  const buckets = timeline?.finish(endNs, frame.windows.openSentNs()) ?? [];
  const afterEndNs = cancelled === undefined ? 0 : cancelled.count * Math.max(0, cancelled.atNs - endNs);
  return frame.finish(await frame.windows.cut(endNs, { laneCount, afterEndNs }), buckets);
}

/** Stops sending and waits for outstanding requests, up to the grace period. Returns the number of cancelled requests and the time. */
async function awaitLast(
  frame: LevelFrame,
  graceMs: number,
): Promise<{ readonly count: number; readonly atNs: number } | undefined> {
  const { driver, signal } = frame.context;
  frame.delayedByLimit = driver.delayedByLimit;
  await sleepUnless(graceMs, Promise.race([driver.stop(), signal.stopped]), frame.clock);
  if (driver.outstanding === 0 || signal.isStopped) return undefined;
  const cancelled = { count: driver.outstanding, atNs: frame.clock.nowNs() };
  driver.cancelAll(
    `cancelled without an answer at the end of the grace period of ${formatDurationNs(msToNs(graceMs))}`,
  );
  return cancelled;
}
