import type { RateRampPlan } from "../plan/load-options.ts";
import { msToNs, msToSec, NS_PER_SEC, nsToSec, secToNs, sum } from "../plan/units.ts";
import { createRandom, drawExponential, drawGamma } from "../runtime/random.ts";

/** Returns the due times of successive requests, ascending, in nanoseconds since the level began. */
export type Arrivals = () => number;

/** One request every `1 / ratePerSec` seconds, the first after one period, like perf_analyzer. */
export function constantArrivals(ratePerSec: number): Arrivals {
  const periodNs = 1e9 / ratePerSec;
  let count = 0;
  // Multiply instead of summing, so that rounding errors do not accumulate.
  return () => ++count * periodNs;
}

/**
 * Begins evenly spaced arrivals half a gap earlier, in the middle of their first gap, so that a time of `n` gaps always contains `n`
 * arrivals, wherever it starts and ends within a gap.
 */
export function fromMidGap(arrivals: Arrivals): Arrivals {
  let shiftNs: number | undefined;
  return () => {
    const dueNs = arrivals();
    shiftNs ??= dueNs / 2;
    return dueNs - shiftNs;
  };
}

/** A Poisson process with a mean gap of `1 / ratePerSec` seconds. The same seed gives the same times. */
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
 * Independent gamma-distributed gaps with a mean of `1 / ratePerSec` seconds, like vLLM's `burstiness` and AIPerf's smoothness. The same
 * seed gives the same times.
 * @param smoothness shape of the distribution: 1 is a Poisson process, higher is smoother, lower is burstier
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
 * Transforms arrivals at a constant rate into arrivals whose rate first changes linearly from another rate to `toPerSec`. When `toPerSec`
 * is 0, they end with the ramp.
 * @param makeArrivals returns arrivals at a constant rate
 */
export function rampArrivals(
  makeArrivals: (ratePerSec: number) => Arrivals,
  toPerSec: number,
  { fromPerSec, overMs }: RateRampPlan,
): Arrivals {
  const overSec = msToSec(overMs);
  const slope = (toPerSec - fromPerSec) / overSec;
  const rampCount = ((fromPerSec + toPerSec) / 2) * overSec;
  const ratePerSec = toPerSec === 0 ? fromPerSec : toPerSec;
  const arrivals = makeArrivals(ratePerSec);
  return () => {
    const count = nsToSec(arrivals()) * ratePerSec;
    if (toPerSec === 0 && count > rampCount) return Number.POSITIVE_INFINITY;
    if (toPerSec > 0 && count >= rampCount) return secToNs(overSec + (count - rampCount) / toPerSec);
    // The first gap and the initial rate may both be 0.
    if (count === 0) return 0;
    // Solve for the time at which the area below the rate is `count`, in a form that keeps precision near rate 0.
    const rateAt = Math.sqrt(Math.max(0, fromPerSec * fromPerSec + 2 * slope * count));
    return secToNs((2 * count) / (fromPerSec + rateAt));
  };
}

/** Repeats the given gaps. @param intervalsNs at least one, with a positive sum */
export function intervalArrivals(intervalsNs: readonly number[]): Arrivals {
  let index = 0;
  let dueNs = 0;
  return () => {
    dueNs += intervalsNs[index] as number;
    index = (index + 1) % intervalsNs.length;
    return dueNs;
  };
}

/** Arrivals at given times, ascending; then none. @param timesMs milliseconds since the level began */
export function scheduledArrivals(timesMs: readonly number[]): Arrivals {
  let index = 0;
  return () => (index < timesMs.length ? msToNs(timesMs[index++] as number) : Number.POSITIVE_INFINITY);
}

/** Returns the request rate of repeated gaps. */
export function intervalsRatePerSec(intervalsNs: readonly number[]): number {
  const totalNs = sum(intervalsNs);
  return (intervalsNs.length * NS_PER_SEC) / totalNs;
}
