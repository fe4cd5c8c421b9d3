import { msToNs, nsToMs } from "../../plan/units.ts";
import { nowNs, sleepMs, timeOriginMs } from "../../runtime/clock.ts";

/** A comparison with another clock. */
export interface ClockReading {
  /** The other clock's time in milliseconds since the Unix epoch, and this thread's at the same moment. */
  readonly wallMs: number;
  readonly nowNs: number;
  /** Half of the shortest round trip, in nanoseconds: the uncertainty of the other clock's time. */
  readonly errorNs: number;
  /** Long round trip, in nanoseconds: 9 of 10 took less. */
  readonly roundTripNs: number;
}

const QUESTIONS = 15;
/** Pause between two queries: without it, all of them may meet the same delay. */
const PAUSE_MS = 4;
/** Share of the round trips below the long one. */
const LONG_SHARE = 0.9;

/**
 * Number of clocks that are compared at once. With more, the queries would wait for each other, and the comparison would be less
 * exact.
 */
const MOST_AT_ONCE = 50;

/** Minimum delay of messages: a message is handled late when a core is busy. */
const LEAST_DELAY_NS = msToNs(15);
const MOST_DELAY_NS = msToNs(2000);

/**
 * Compares the clock of another thread or host with this one, in both directions: the other clock was read at some moment between the query
 * and the reply. The shortest round trip is the most exact.
 * @param ask returns the other clock's time
 */
export async function readClock(ask: () => Promise<number>): Promise<ClockReading> {
  const trips: { readonly tripNs: number; readonly wallMs: number; readonly middleNs: number }[] = [];
  for (let count = 0; count < QUESTIONS; count++) {
    const askedNs = nowNs();
    const wallMs = await ask();
    const repliedNs = nowNs();
    trips.push({ tripNs: repliedNs - askedNs, wallMs, middleNs: (askedNs + repliedNs) / 2 });
    await sleepMs(PAUSE_MS);
  }
  trips.sort((a, b) => a.tripNs - b.tripNs);
  const [shortest] = trips;
  const long = trips[Math.floor(LONG_SHARE * (trips.length - 1))];
  if (shortest === undefined || long === undefined) throw new Error("the clock was not asked");
  const { wallMs, middleNs, tripNs } = shortest;
  return { wallMs, nowNs: middleNs, errorNs: tripNs / 2, roundTripNs: long.tripNs };
}

/** Compares the clocks of many, some at once. @param read compares a single clock @returns the results in the order of `all` */
export async function readClocks<Owner, Result>(
  all: readonly Owner[],
  read: (one: Owner) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const waiting = all.entries();
  const readNext = async (): Promise<void> => {
    for (const [index, one] of waiting) results[index] = await read(one);
  };
  await Promise.all(Array.from({ length: Math.min(MOST_AT_ONCE, all.length) }, readNext));
  return results;
}

/** Returns the time on the other clock, in milliseconds since the Unix epoch, at which this thread's was 0. */
export function originMsOf({ wallMs, nowNs: atNs }: ClockReading): number {
  return wallMs - nsToMs(atNs);
}

/**
 * Returns the time by which the other clock is ahead of this host's, in nanoseconds; negative if it is late. The uncertainty is
 * `errorNs`.
 */
export function offsetNs(reading: ClockReading): number {
  return msToNs(originMsOf(reading) - timeOriginMs());
}

/** Returns the time that the other clock gained on this one between two comparisons, in nanoseconds; below 0: it lost time. */
export function driftNs(first: ClockReading, last: ClockReading): number {
  return msToNs(originMsOf(last) - originMsOf(first));
}

/**
 * Returns the time by which the clocks of senders on other hosts are set back. A sender handles a message when its clock shows the time at
 * which the message was sent. So each message is handled at the same moment everywhere, after it has arrived everywhere.
 */
export function messageDelayNs(readings: readonly ClockReading[]): number {
  const longest = Math.max(...readings.map(({ roundTripNs }) => roundTripNs));
  return Math.min(MOST_DELAY_NS, LEAST_DELAY_NS + longest);
}
