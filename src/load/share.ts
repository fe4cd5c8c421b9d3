import type { Arrivals } from "./arrivals.ts";
import { type Drive, maxInFlightOf, type ThinkTime } from "./drive.ts";

/**
 * How a load is divided among senders, in closed form: sender `i` of `n` owns what is `i` modulo `n`, so that no sender needs to know what
 * the others do.
 */

/** What a sender owns of a whole. */
export interface Share {
  /** Number of the sender, from 0. */
  readonly index: number;
  /** Number of senders. */
  readonly count: number;
}

/** The share of the only sender. */
export const WHOLE: Share = { index: 0, count: 1 };

/** Returns how many of `total` things a sender owns; infinitely many of infinitely many. */
export function countOf(total: number, { index, count }: Share): number {
  if (index >= count) return 0;
  return total === Number.POSITIVE_INFINITY ? total : Math.max(0, Math.ceil((total - index) / count));
}

/** Returns the number in the whole of a sender's thing. @param own its number among the sender's, from 0 */
export function numberOf(own: number, { index, count }: Share): number {
  return own * count + index;
}

/**
 * Returns a sender's share of a load. Where fewer requests are in flight than there are senders, only as many senders own some; requests
 * that wait for each other in groups are sent by one.
 * @param sequenceCount number of concurrent sequences of a schedule. Absent: requests belong to none
 */
export function shareOfDrive(drive: Drive, { index, count }: Share, sequenceCount = Number.POSITIVE_INFINITY): Share {
  if (drive.kind === "groups" || drive.kind === "periodic") return { index, count: 1 };
  const most =
    drive.kind === "scheduled"
      ? Math.min(drive.maxOutstanding ?? count, sequenceCount)
      : (maxInFlightOf(drive) ?? count);
  return { index, count: Math.max(1, Math.min(count, most)) };
}

/** Returns the part of a load that a sender sends. */
export function divideDrive(drive: Drive, share: Share): Drive {
  if (share.count === 1 && share.index === 0) return drive;
  switch (drive.kind) {
    case "closed":
      return { ...drive, ...divideThinking(drive, share), concurrency: countOf(drive.concurrency, share) };
    case "sessions":
      return { ...drive, concurrency: countOf(drive.concurrency, share) };
    case "ramp": {
      const { concurrencyAt, maxConcurrency } = drive;
      return {
        kind: "ramp",
        ...divideThinking(drive, share),
        maxConcurrency: countOf(maxConcurrency, share),
        concurrencyAt: (elapsedNs) => countOf(concurrencyAt(elapsedNs), share),
      };
    }
    case "session-arrivals":
      return { ...drive, arrivals: divideArrivals(drive.arrivals, share) };
    case "scheduled": {
      const { maxOutstanding } = drive;
      const limit = maxOutstanding === undefined ? {} : { maxOutstanding: countOf(maxOutstanding, share) };
      return { kind: "scheduled", arrivals: divideArrivals(drive.arrivals, share), ...limit };
    }
    default:
      // One sender sends them all.
      return share.index === 0 ? drive : { kind: "closed", concurrency: 0 };
  }
}

function divideThinking({ thinkTime }: { readonly thinkTime?: ThinkTime | undefined }, share: Share) {
  return thinkTime === undefined
    ? {}
    : { thinkTime: { ...thinkTime, userOf: (slot: number) => numberOf(slot, share) } };
}

/** Returns every `count`-th arrival, from that of the sender's index on. */
function divideArrivals(arrivals: Arrivals, { index, count }: Share): Arrivals {
  if (index >= count) return () => Number.POSITIVE_INFINITY;
  let skipped = index;
  return () => {
    for (; skipped > 0; skipped--) arrivals();
    skipped = count - 1;
    return arrivals();
  };
}
