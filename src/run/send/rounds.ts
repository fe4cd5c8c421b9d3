import { nsToMs } from "../../plan/units.ts";
import { sleepUnless } from "../../runtime/clock.ts";
import type { Driver } from "./driver.ts";
import { drainLimitNs } from "./end-waits.ts";

/** Waits for the rounds of a closed loop: requests that were sent together end together. */

/** Longest wait for the end of a round, in rounds. A server that stalls must not delay the end of the level for longer than a drain. */
const MOST_ROUNDS = 3;

/** The rounds of a window. */
export interface Rounds {
  /** Number of requests that the loop keeps in flight. Undefined: it has no rounds. */
  readonly size: number | undefined;
  /** Start of the window. */
  readonly startNs: number;
  /** Number of requests that have ended in it. */
  readonly endedCount: number;
}

/**
 * Resolves when every request that was sent before the first end has ended.
 * @param openSentNs returns the send time of each request in flight @param limitNs time from which only the next end is awaited
 */
export async function untilSteady(
  driver: Pick<Driver, "clock" | "endedCount" | "reachEnded">,
  openSentNs: () => readonly number[],
  limitNs: number,
): Promise<void> {
  const { clock } = driver;
  await driver.reachEnded(driver.endedCount + 1);
  const firstEndNs = clock.nowNs();
  const openCount = (): number => openSentNs().filter((sentNs) => sentNs < firstEndNs).length;
  for (let open = openCount(); open > 0 && clock.nowNs() < limitNs; open = openCount())
    await driver.reachEnded(driver.endedCount + open);
}

/**
 * Resolves when the number of requests that ended in the window is a multiple of those that the loop keeps in flight, and after a few rounds
 * in any case. Throughput is then free of the moment at which the time was over.
 */
export async function untilRoundEnds(
  driver: Pick<Driver, "clock" | "endedCount" | "activeLanes" | "reachEnded" | "ended">,
  { size, startNs, endedCount }: Rounds,
): Promise<void> {
  const { clock, activeLanes, ended } = driver;
  if (size === undefined || activeLanes === 0) return;
  const missing = size - (endedCount % size);
  const roundNs = (clock.nowNs() - startNs) / Math.max(1, endedCount / size);
  const limitNs = Math.min(MOST_ROUNDS * roundNs, drainLimitNs(ended.longestNs));
  await sleepUnless(nsToMs(limitNs), driver.reachEnded(driver.endedCount + missing), clock);
}
