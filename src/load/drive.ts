import type { ThinkTimePlan } from "../plan/load-options.ts";
import type { Arrivals } from "./arrivals.ts";
import { countOf, numberOf, type Share } from "./share.ts";

/** The time between a response and the user's next request. */
export interface ThinkTime extends ThinkTimePlan {
  readonly seed: number;
  /** Converts the number of a slot to the number of its user among those of all senders. */
  readonly userOf: (slot: number) => number;
}

/** Due times of the first and the last request of a load, in nanoseconds since the level began. */
export interface DueSpan {
  readonly firstNs: number;
  /** Absent: the load does not end by itself. */
  readonly lastNs?: number;
}

/** The way to send requests at one level. */
export type Drive =
  /** A fixed number of outstanding requests; with `thinkTime`, of users who each have one request or think. */
  | { readonly kind: "closed"; readonly concurrency: number; readonly thinkTime?: ThinkTime | undefined }
  /** A changing number of outstanding requests: `concurrencyAt(elapsedNs)`, with the maximum `maxConcurrency`. */
  | {
      readonly kind: "ramp";
      readonly maxConcurrency: number;
      readonly concurrencyAt: (elapsedNs: number) => number;
      readonly thinkTime?: ThinkTime | undefined;
    }
  /** Requests at due times. Requests wait while `maxOutstanding` requests are outstanding. */
  | {
      readonly kind: "scheduled";
      readonly arrivals: Arrivals;
      readonly maxOutstanding?: number;
      /** Due times of a load that begins with a request. Absent: the load begins with a gap like those between requests. */
      readonly due?: DueSpan;
    }
  /**
   * `start` requests, then groups of `step` up to a total of `end`. Each group starts when every request before it has `periodResponses`
   * responses.
   */
  | {
      readonly kind: "periodic";
      readonly start: number;
      readonly end: number;
      readonly step: number;
      readonly periodResponses: number;
    }
  /** Groups of `size` requests, sent together. The next group is sent when every request of the previous one has ended. */
  | { readonly kind: "groups"; readonly size: number }
  /** A fixed number of concurrent sessions, each with one outstanding request or waiting for its next turn. */
  | { readonly kind: "sessions"; readonly concurrency: number; readonly repeats?: true }
  /** Sessions that begin at due times. */
  | { readonly kind: "session-arrivals"; readonly arrivals: Arrivals; readonly repeats?: true };

export type DriveOf<K extends Drive["kind"]> = Extract<Drive, { kind: K }>;

/** Returns the maximum number of requests in flight; undefined when due times decide it. */
export function maxInFlightOf(drive: Drive): number | undefined {
  switch (drive.kind) {
    case "ramp":
      return drive.maxConcurrency;
    case "periodic":
      return drive.end;
    case "groups":
      return drive.size;
    case "scheduled":
    case "session-arrivals":
      return undefined;
    default:
      return drive.concurrency;
  }
}

/** Returns the number of requests in flight that a load reaches in any case. A ramp may end before its highest level. */
export function leastInFlightOf(drive: Drive): number {
  return drive.kind === "ramp" ? 1 : (maxInFlightOf(drive) ?? 1);
}

/** Whether requests are sent at due times. */
export function isScheduled(drive: Drive): boolean {
  return drive.kind === "scheduled" || drive.kind === "session-arrivals";
}

/** Whether a lane may be idle for other reasons than the client's own work. */
export function canLanesWait(drive: Drive): boolean {
  return roundSizeOf(drive) === undefined;
}

/** Returns the number of lanes of a closed loop; undefined for other loads. */
export function closedConcurrencyOf(drive: Drive): number | undefined {
  return drive.kind === "closed" ? drive.concurrency : undefined;
}

/** Returns the number of requests that a closed loop keeps in flight all the time; undefined for other loads. */
export function roundSizeOf(drive: Drive): number | undefined {
  return drive.kind === "closed" && drive.thinkTime === undefined ? drive.concurrency : undefined;
}

/** Limits a drive to a number of requests: with fewer requests than the concurrency, not all can be in flight. */
export function limitConcurrency(drive: Drive, requestCount: number): Drive {
  return drive.kind === "closed" ? { ...drive, concurrency: Math.min(drive.concurrency, requestCount) } : drive;
}

/**
 * Returns a sender's share of a load. When there are fewer requests in flight than senders, some senders have no share. Groups of
 * requests that wait for each other are sent by one sender.
 * @param sequenceCount number of concurrent sequences of a schedule. Absent: the requests have no sequences
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
      // One sender sends all requests.
      return share.index === 0 ? drive : { kind: "closed", concurrency: 0 };
  }
}

function divideThinking({ thinkTime }: { readonly thinkTime?: ThinkTime | undefined }, share: Share) {
  return thinkTime === undefined
    ? {}
    : { thinkTime: { ...thinkTime, userOf: (slot: number) => numberOf(slot, share) } };
}

/** Returns every `count`-th arrival, starting with the one at the sender's index. */
function divideArrivals(arrivals: Arrivals, { index, count }: Share): Arrivals {
  if (index >= count) return () => Number.POSITIVE_INFINITY;
  let skipped = index;
  return () => {
    for (; skipped > 0; skipped--) arrivals();
    skipped = count - 1;
    return arrivals();
  };
}
