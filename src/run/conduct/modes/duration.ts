import { toBuckets } from "../../../measure/timeline.ts";
import type { MeasurementModePlan } from "../../../plan/plan.ts";
import { formatDurationNs, msToNs, nsToMs } from "../../../plan/units.ts";
import { reportWait } from "../../../result/observer.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import { roundLimitNs } from "../../send/end-waits.ts";
import type { LevelFrame } from "../level-frame.ts";

/**
 * Measures one window of a fixed length. With a grace period, it contains the responses to all requests sent within it. A closed loop is
 * measured to the end of its round: requests that were sent together end together, so a window that ended between two rounds would contain
 * one round too few or too many.
 */
export async function measureDuration(
  frame: LevelFrame,
  { durationMs, graceMs }: Extract<MeasurementModePlan, { kind: "duration" }>,
): Promise<LevelResult> {
  const { sender, signal, observer, handOver, isScheduled } = frame.context;
  const restMs = (): number => durationMs - nsToMs(frame.clock.nowNs() - frame.windows.startNs);
  // Remote senders report its start while this waits.
  while (restMs() > 0 && !signal.isStopped) await sleepUnless(restMs(), signal.stopped, frame.clock);
  const stopNs = frame.windows.startNs + msToNs(durationMs);
  if (handOver !== undefined && !signal.isStopped) await handOver.prepare("measured");
  // A schedule has no rounds.
  if (graceMs === undefined && !isScheduled) {
    const mostMs = nsToMs(roundLimitNs(msToNs(durationMs), sender.progress().longestNs));
    await reportWait(observer, mostMs, Promise.race([sender.until({ kind: "round-ends" }), signal.stopped]));
  }
  if (handOver !== undefined) return frame.cutAndChange(handOver);
  const ending = frame.endSchedule(Math.min(stopNs, frame.clock.nowNs()));
  // A sender that stands still or is lost must not extend the window of a schedule, because the others send nothing more.
  if (graceMs !== undefined || !isScheduled) await ending;
  const cancelled = graceMs === undefined ? undefined : await awaitLast(frame, graceMs);
  const nowNs = frame.clock.nowNs();
  const isWhole = graceMs !== undefined && !signal.isStopped;
  // After sending has stopped, only responses extend the window; the wait for missing ones does not.
  const endNs = isWhole ? Math.max(stopNs, (await sender.drain()).lastEndNs) : nowNs;
  const afterEndNs = cancelled === undefined ? 0 : cancelled.count * Math.max(0, cancelled.atNs - endNs);
  // A schedule ends on time, even if this code runs late.
  const sendingEndNs = isWhole || isScheduled ? Math.min(stopNs, endNs) : endNs;
  const last = { wasStopped: graceMs !== undefined, afterEndNs, sendingEndNs };
  const [{ window, timelines }] = await Promise.all([frame.windows.cutLast(endNs, last), ending]);
  return frame.finish(window, toBuckets(timelines, window.endNs, afterEndNs));
}

/** Stops sending and waits for outstanding requests, up to the grace period. Returns the number of cancelled requests and the time. */
async function awaitLast(
  frame: LevelFrame,
  graceMs: number,
): Promise<{ readonly count: number; readonly atNs: number } | undefined> {
  const { sender, signal, observer } = frame.context;
  const ended = Promise.race([sender.stop(), signal.stopped]);
  await reportWait(observer, graceMs, sleepUnless(graceMs, ended, frame.clock));
  const { outstanding } = await sender.until({ kind: "now" });
  if (outstanding === 0 || signal.isStopped) return undefined;
  const cancelled = { count: outstanding, atNs: frame.clock.nowNs() };
  sender.cancel(`cancelled without a response at the end of the grace period of ${formatDurationNs(msToNs(graceMs))}`);
  return cancelled;
}
