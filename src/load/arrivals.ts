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

/** Uniform numbers in [0, 1) with 53 random bits (xoshiro128**, seeded by splitmix32). */
export function createRandom(seed: number): () => number {
  const state = seedState(seed);
  const next = (): number => {
    const [a, b, c, d] = state as unknown as [number, number, number, number];
    const result = Math.imul(rotateLeft(Math.imul(b, 5), 7), 9) >>> 0;
    const shifted = b << 9;
    state[2] = c ^ a;
    state[3] = d ^ b;
    state[1] = b ^ (state[2] as number);
    state[0] = a ^ (state[3] as number);
    state[2] = (state[2] as number) ^ shifted;
    state[3] = rotateLeft(state[3] as number, 11);
    return result;
  };
  return () => (next() * 2 ** 21 + (next() >>> 11)) / 2 ** 53;
}

function seedState(seed: number): Int32Array {
  const state = new Int32Array(4);
  let mixer = seed >>> 0;
  for (let i = 0; i < 4; i++) {
    mixer = (mixer + 0x9e3779b9) >>> 0;
    let mixed = mixer;
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    state[i] = mixed ^ (mixed >>> 15);
  }
  return state;
}

function rotateLeft(value: number, bits: number): number {
  return (value << bits) | (value >>> (32 - bits));
}
