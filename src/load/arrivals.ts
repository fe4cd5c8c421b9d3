import { createRandom } from "../runtime/random.ts";

/** Arrival processes: when requests are due, in nanoseconds since the level began. They know no clock and no socket. */

/** Gives the due times of successive requests, ascending. */
export type Arrivals = () => number;

/** One request every `1 / ratePerSec` seconds, the first after one period, as perf_analyzer schedules them. */
export function constantArrivals(ratePerSec: number): Arrivals {
  const periodNs = 1e9 / ratePerSec;
  let count = 0;
  // Multiplied, not summed: no rounding error builds up over a long run.
  return () => ++count * periodNs;
}

/** A Poisson process: independent exponential gaps with a mean of `1 / ratePerSec` seconds. The same seed gives the same times. */
export function poissonArrivals(ratePerSec: number, seed: number): Arrivals {
  const random = createRandom(seed);
  const meanNs = 1e9 / ratePerSec;
  let dueNs = 0;
  return () => {
    dueNs += -Math.log(1 - random()) * meanNs;
    return dueNs;
  };
}

/** The given gaps, over and over. @param intervalsNs at least one, with a positive sum */
export function intervalArrivals(intervalsNs: readonly number[]): Arrivals {
  let index = 0;
  let dueNs = 0;
  return () => {
    dueNs += intervalsNs[index] as number;
    index = (index + 1) % intervalsNs.length;
    return dueNs;
  };
}

/** Given times, ascending; nothing is due after the last of them. @param timesMs milliseconds since the level began */
export function scheduledArrivals(timesMs: readonly number[]): Arrivals {
  let index = 0;
  return () => (index < timesMs.length ? (timesMs[index++] as number) * 1e6 : Number.POSITIVE_INFINITY);
}

/** The request rate of a list of gaps, in requests per second, truncated to a whole number as perf_analyzer reports it. */
export function intervalsRatePerSec(intervalsNs: readonly number[]): number {
  const totalNs = intervalsNs.reduce((sum, interval) => sum + interval, 0);
  return Math.floor((intervalsNs.length * 1e9) / totalNs);
}
