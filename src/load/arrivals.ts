import type { RateRampPlan } from "../plan/load-options.ts";
import { createRandom, drawExponential, drawGamma } from "../runtime/random.ts";

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
    dueNs += drawExponential(random) * meanNs;
    return dueNs;
  };
}

/**
 * Independent gaps of the gamma distribution with a mean of `1 / ratePerSec` seconds, as vLLM's `burstiness` and AIPerf's smoothness have
 * them. The same seed gives the same times.
 * @param smoothness the distribution's shape: 1 is a Poisson process, more is smoother, less is burstier
 */
export function gammaArrivals(ratePerSec: number, smoothness: number, seed: number): Arrivals {
  const random = createRandom(seed);
  const meanNs = 1e9 / ratePerSec;
  let dueNs = 0;
  return () => {
    dueNs += drawGamma(random, smoothness) * meanNs;
    return dueNs;
  };
}

/**
 * Arrivals at a steady rate, moved so that the rate changes evenly from another one to that one and stays there: as many are due until a
 * moment as the changing rate has asked for by then.
 * @param ratePerSec of `arrivals`
 */
export function rampArrivals(arrivals: Arrivals, ratePerSec: number, { fromPerSec, overMs }: RateRampPlan): Arrivals {
  const overSec = overMs / 1e3;
  const slope = (ratePerSec - fromPerSec) / overSec;
  const rampCount = ((fromPerSec + ratePerSec) / 2) * overSec;
  return () => {
    const count = (arrivals() / 1e9) * ratePerSec;
    if (count >= rampCount) return (overSec + (count - rampCount) / ratePerSec) * 1e9;
    // Gaps may be 0, and the rate at the beginning too.
    if (count === 0) return 0;
    // Where the area below the rate's line is `count`; so written that nothing is lost while the rate is near 0.
    const rateAt = Math.sqrt(Math.max(0, fromPerSec * fromPerSec + 2 * slope * count));
    return ((2 * count) / (fromPerSec + rateAt)) * 1e9;
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
