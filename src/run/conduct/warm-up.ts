import { sleepUnless } from "../../runtime/clock.ts";
import type { FailureLimits } from "../judge/failure-limits.ts";
import type { ConductorParts } from "../run-parts.ts";
import type { LoadSender, LoadStep } from "../send/messages.ts";

export interface WarmUp extends Pick<ConductorParts, "clock" | "signal"> {
  readonly sender: LoadSender;
  readonly failureLimits: Pick<FailureLimits, "isWarmingUp">;
  readonly step: LoadStep;
  readonly count: number;
  /** Minimum duration; 0: the warm-up ends when the requests are sent. */
  readonly durationMs: number;
}

export interface WarmUpTally {
  readonly sentCount: number;
  readonly failedCount: number;
}

/** Returns the level of a warm-up that drains, with a concurrency of at most its number of requests. */
export function warmUpStep(step: LoadStep, count: number, durationMs: number): LoadStep {
  return durationMs > 0 ? step : { ...step, mostRequests: count };
}

/** Sends requests until both the number and the duration are reached, and waits for the last response. */
export async function warmUp({
  sender,
  clock,
  failureLimits,
  signal,
  step,
  count,
  durationMs,
}: WarmUp): Promise<WarmUpTally> {
  sender.change({ isWarmup: true });
  failureLimits.isWarmingUp = true;
  const before = await sender.until({ kind: "now" });
  await Promise.race([
    sender.start(step, { quota: durationMs > 0 ? Number.POSITIVE_INFINITY : count }),
    signal.stopped,
  ]);
  if (durationMs > 0) {
    await sleepUnless(durationMs, signal.stopped, clock);
    const { sentCount } = await sender.until({ kind: "now" });
    sender.change({ quota: Math.max(0, count - (sentCount - before.sentCount)) });
  }
  await Promise.race([sender.until({ kind: "finished" }), signal.stopped]);
  await Promise.race([sender.stop(), signal.stopped]);
  await sender.drain();
  failureLimits.isWarmingUp = false;
  // The measurement must not depend on the length of the warm-up.
  sender.change({ isWarmup: false, rewinds: true });
  const { sentCount, failedCount } = await sender.until({ kind: "now" });
  return { sentCount: sentCount - before.sentCount, failedCount: failedCount - before.failedCount };
}
