import type { Drive } from "../../load/load-mode.ts";
import { sleepUnless } from "../../runtime/clock.ts";
import type { FailurePolicy } from "../judge/failure-policy.ts";
import type { RunSignal } from "../run-signal.ts";
import type { Canceller } from "../send/canceller.ts";
import type { Driver } from "../send/driver.ts";

/** What a warm-up needs. */
export interface WarmUp {
  readonly driver: Driver;
  readonly policy: FailurePolicy;
  readonly canceller: Canceller | undefined;
  readonly signal: RunSignal;
  readonly drive: Drive;
  /** Requests to send. */
  readonly count: number;
  /** How long to send them; 0: until they are sent. */
  readonly durationMs: number;
}

/** What warm-ups sent. */
export interface WarmUpTally {
  readonly sentCount: number;
  readonly failedCount: number;
}

/** The load of a warm-up: no more requests at once than there are in all. */
export function warmUpDrive(drive: Drive, count: number, durationMs: number): Drive {
  if (drive.kind !== "closed" || durationMs > 0) return drive;
  return { ...drive, concurrency: Math.min(drive.concurrency, count) };
}

/** Sends so many requests and for so long, whichever takes longer, and waits for the last answer. */
export async function warmUp({
  driver,
  policy,
  canceller,
  signal,
  drive,
  count,
  durationMs,
}: WarmUp): Promise<WarmUpTally> {
  const { sentCount, ended } = driver;
  const { failedCount } = ended;
  if (canceller !== undefined) canceller.isOn = false;
  policy.isWarmingUp = true;
  await Promise.race([driver.start(drive, durationMs > 0 ? Number.POSITIVE_INFINITY : count), signal.stopped]);
  if (durationMs > 0) {
    await sleepUnless(durationMs, signal.stopped, driver.clock);
    driver.quota = Math.max(0, count - (driver.sentCount - sentCount));
  }
  await Promise.race([driver.finished(), signal.stopped]);
  await Promise.race([driver.stop(), signal.stopped]);
  driver.drain();
  policy.isWarmingUp = false;
  // What is measured does not depend on how long the warm-up was.
  driver.rewind();
  return { sentCount: driver.sentCount - sentCount, failedCount: ended.failedCount - failedCount };
}
