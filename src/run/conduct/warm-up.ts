import { type Drive, limitConcurrency } from "../../load/drive.ts";
import { sleepUnless } from "../../runtime/clock.ts";
import type { FailurePolicy } from "../judge/failure-policy.ts";
import type { RunSignal } from "../run-signal.ts";
import type { Canceller } from "../send/canceller.ts";
import type { Driver } from "../send/driver.ts";

/** Parameters of a warm-up. */
export interface WarmUp {
  readonly driver: Driver;
  readonly policy: FailurePolicy;
  readonly canceller: Canceller | undefined;
  readonly signal: RunSignal;
  readonly drive: Drive;
  /** Number of requests to send. */
  readonly count: number;
  /** Minimum duration; 0: until the requests are sent. */
  readonly durationMs: number;
}

/** Counts of warm-up requests. */
export interface WarmUpTally {
  readonly sentCount: number;
  readonly failedCount: number;
}

/** Returns the load of a warm-up that drains, with a concurrency of at most its number of requests. */
export function warmUpDrive(drive: Drive, count: number, durationMs: number): Drive {
  return durationMs > 0 ? drive : limitConcurrency(drive, count);
}

/** Sends requests until both the number and the duration are reached, and waits for the last response. */
export async function warmUp(parts: WarmUp): Promise<WarmUpTally> {
  const { driver, policy, canceller, signal, drive, count, durationMs } = parts;
  const { sentCount, ended } = driver;
  const { failedCount } = ended;
  if (canceller !== undefined) canceller.isEnabled = false;
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
  // The measurement must not depend on the length of the warm-up.
  driver.rewind();
  return { sentCount: driver.sentCount - sentCount, failedCount: ended.failedCount - failedCount };
}
