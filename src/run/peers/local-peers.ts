import { sleepMs } from "../../runtime/clock.ts";
import type { Peers, Stoppable } from "./peers.ts";

/** Interval between checks of the other runs. */

const POLL_MS = 1;

/** Creates the peers of a number of runs, one for each. */
export function joinLocally(count: number): Peers[] {
  const members: LocalPeers[] = [];
  for (let rank = 0; rank < count; rank++) members.push(new LocalPeers(members, rank, count));
  return members;
}

/**
 * One of several runs in this process that measure at the same time. Load continues during a wait, and runs that have
 * ended are not awaited.
 */
class LocalPeers implements Peers {
  readonly count: number;
  readonly rank: number;
  private readonly members: readonly LocalPeers[];
  /** Number of levels that this run has reached. */
  private level = 0;
  private hasEnded = false;
  /** Whether each of this run's windows at the level was stable. */
  private verdicts: boolean[] = [];

  constructor(members: readonly LocalPeers[], rank: number, count: number) {
    this.members = members;
    this.rank = rank;
    this.count = count;
  }

  waitForAll(signal: Stoppable): Promise<void> {
    this.level++;
    this.verdicts = [];
    return this.waitUntil((other) => other.level >= this.level, signal);
  }

  async areAllStable(isStable: boolean, signal: Stoppable): Promise<boolean> {
    const { level } = this;
    const window = this.verdicts.push(isStable) - 1;
    const isAhead = (other: LocalPeers): boolean => other.level > level || other.verdicts.length > window;
    await this.waitUntil(isAhead, signal);
    return this.members.every((other) => other.hasEnded || other.level !== level || other.verdicts[window] !== false);
  }

  waitForEnd(signal: Stoppable): Promise<void> {
    this.hasEnded = true;
    return this.waitUntil(() => false, signal);
  }

  async close(): Promise<void> {
    this.hasEnded = true;
  }

  private async waitUntil(isThere: (other: LocalPeers) => boolean, signal: Stoppable): Promise<void> {
    const isMissing = (other: LocalPeers): boolean => other !== this && !other.hasEnded && !isThere(other);
    while (!signal.isStopped && (this.members.length < this.count || this.members.some(isMissing)))
      await sleepMs(POLL_MS);
  }
}
