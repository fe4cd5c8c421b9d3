import type { MeasurementModePlan } from "../../../plan/plan.ts";
import { formatDurationNs, msToNs, nsToMs } from "../../../plan/units.ts";
import type { LevelResult } from "../../../result/run-result.ts";
import { sleepUnless } from "../../../runtime/clock.ts";
import { drainLimitNs } from "../../send/end-waits.ts";
import type { LevelFrame } from "../level-frame.ts";

/**
 * Measures one window of a fixed length. With a grace period, it contains the responses to everything that was sent within it. A closed loop is
 * measured to the end of its round: requests that were sent together end together, and a window that ended between two rounds would
 * contain one round too few or too many.
 */
export async function measureDuration(
  frame: LevelFrame,
  { durationMs, graceMs }: Extract<MeasurementModePlan, { kind: "duration" }>,
): Promise<LevelResult> {
  const { sender, signal, handOver } = frame.context;
  const stopNs = frame.windows.startNs + msToNs(durationMs);
  await sleepUnless(Math.max(0, nsToMs(stopNs - frame.clock.nowNs())), signal.stopped, frame.clock);
  if (handOver !== undefined && !signal.isStopped) await handOver.prepare("measured");
  if (graceMs === undefined) await finishRound(frame);
  if (handOver !== undefined) return frame.cutAndChange(handOver);
  const laneCount = sender.state().activeLanes;
  frame.endSchedule(Math.min(stopNs, frame.clock.nowNs()));
  const cancelled = graceMs === undefined ? undefined : await awaitLast(frame, graceMs);
  const nowNs = frame.clock.nowNs();
  const { lastEndNs } = sender.drain();
  const isWhole = graceMs !== undefined && !signal.isStopped;
  // After sending has stopped, only responses extend the window, not the wait for missing ones.
  const endNs = isWhole ? Math.max(stopNs, lastEndNs) : nowNs;
  const buckets = sender.takeTimeline(endNs);
  const afterEndNs = cancelled === undefined ? 0 : cancelled.count * Math.max(0, cancelled.atNs - endNs);
  const sendingEndNs = isWhole ? stopNs : endNs;
  return frame.finish(await frame.windows.cut(endNs, { laneCount, afterEndNs, sendingEndNs }), buckets);
}

/** Longest wait for the end of a round, in rounds. A server that stalls must not delay the end of the level for longer than a drain. */
const MOST_ROUNDS = 3;

/**
 * Waits until the number of requests that ended in the window is a multiple of those that the loop keeps in flight. Throughput is then free
 * of the moment at which the time was over.
 */
async function finishRound({ context, windows, clock }: LevelFrame): Promise<void> {
  const { sender, signal, roundSize } = context;
  const { activeLanes, endedCount: allEnded, longestNs } = sender.state();
  if (roundSize === undefined || activeLanes === 0 || signal.isStopped) return;
  const endedCount = allEnded - windows.endedBefore;
  const missing = roundSize - (endedCount % roundSize);
  const roundNs = (clock.nowNs() - windows.startNs) / Math.max(1, endedCount / roundSize);
  const limitNs = Math.min(MOST_ROUNDS * roundNs, drainLimitNs(longestNs));
  const ended = sender.untilEnded(allEnded + missing);
  await sleepUnless(nsToMs(limitNs), Promise.race([ended, signal.stopped]), clock);
}

/** Stops sending and waits for outstanding requests, up to the grace period. Returns the number of cancelled requests and the time. */
async function awaitLast(
  frame: LevelFrame,
  graceMs: number,
): Promise<{ readonly count: number; readonly atNs: number } | undefined> {
  const { sender, signal } = frame.context;
  frame.delayedByLimit = sender.delayedByLimit();
  await sleepUnless(graceMs, Promise.race([sender.stop(), signal.stopped]), frame.clock);
  const { outstanding } = sender.state();
  if (outstanding === 0 || signal.isStopped) return undefined;
  const cancelled = { count: outstanding, atNs: frame.clock.nowNs() };
  sender.cancel(`cancelled without a response at the end of the grace period of ${formatDurationNs(msToNs(graceMs))}`);
  return cancelled;
}
