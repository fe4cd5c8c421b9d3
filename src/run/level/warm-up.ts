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
  const { driver, policy, signal, drive, count, durationMs } = parts;
  const { sentCount, ended } = driver;
  const { failedCount } = ended;
  begin(parts);
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

/**
 * Starts a load that continues, and resolves when its warm-up is over and it is steady: when both the number and the duration are reached,
 * and every request that was sent before the first one ended has ended too. A measurement that began earlier would contain requests sent
 * into an empty server, and too few ends.
 * @param parts its canceller stays disabled, and its policy warms up, until the caller begins the measurement
 * @param limitMs the longest wait for a steady load, in milliseconds
 * @returns counts of requests that ended before
 */
export async function leadIn(parts: WarmUp, limitMs: number): Promise<WarmUpTally> {
  const { driver, signal, drive, count, durationMs } = parts;
  const { clock, sentCount, endedCount } = driver;
  const { failedCount } = driver.ended;
  begin(parts);
  await Promise.race([driver.start(drive, Number.POSITIVE_INFINITY), signal.stopped]);
  if (durationMs > 0) await sleepUnless(durationMs, signal.stopped, clock);
  for (let rest = count; rest > 0 && !signal.isStopped; rest = count - (driver.sentCount - sentCount))
    await Promise.race([driver.reachEnded(driver.endedCount + rest), signal.stopped]);
  await sleepUnless(limitMs, Promise.race([firstRound(driver, endedCount), signal.stopped]), clock);
  return { sentCount: driver.endedCount - endedCount, failedCount: driver.ended.failedCount - failedCount };
}

/** Resolves when every request that was sent before the first end has ended. @param endedBefore number of requests that ended earlier */
async function firstRound(driver: Driver, endedBefore: number): Promise<void> {
  await driver.reachEnded(endedBefore + 1);
  const firstEndNs = driver.clock.nowNs();
  const openCount = (): number =>
    driver.client.calls.filter(({ isActive, sendStartNs }) => isActive && sendStartNs < firstEndNs).length;
  for (let open = openCount(); open > 0; open = openCount()) await driver.reachEnded(driver.endedCount + open);
}

function begin({ canceller, policy }: WarmUp): void {
  if (canceller !== undefined) canceller.isEnabled = false;
  policy.isWarmingUp = true;
}
