import type { Sketch } from "../../../src/measure/sketch.ts";
import { createRandom, type Random } from "../../../src/runtime/random.ts";
import { sketchAt } from "../make-window.ts";

/** Latencies made at random, whose percentiles and mean are known. */

/** How latencies follow each other. */
export interface Process {
  readonly name: string;
  readonly count: number;
  /** Correlation of neighbours (AR(1)); 0: independent. */
  readonly correlation: number;
  /** Number of requests that end together with the same latency, as with dynamic batching. */
  readonly batch: number;
}

/** Quantiles of the standard normal distribution. */
const NORMAL: Readonly<Record<number, number>> = { 50: 0, 90: 1.281551566, 99: 2.326347874, 99.9: 3.090232306 };
const FLOOR_NS = 5e6;
const SCALE_NS = 1e6;
const SHAPE = 0.5;

function toNs(normal: number): number {
  return FLOOR_NS + SCALE_NS * Math.exp(SHAPE * normal);
}

/** The true percentile. */
export function percentileNs(percentile: number): number {
  return toNs(NORMAL[percentile] as number);
}

/** The true mean. */
export const MEAN_NS = FLOOR_NS + SCALE_NS * Math.exp(SHAPE ** 2 / 2);

/** Draws from the standard normal distribution. */
export function drawNormal(random: Random): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Draws latencies in nanoseconds, in their order. */
export function drawLatencies({ count, correlation, batch }: Process, random: Random): Float64Array {
  const latencies = new Float64Array(count);
  let state = drawNormal(random);
  for (let at = 0; at < count; at++) {
    if (at > 0 && at % batch === 0) state = correlation * state + Math.sqrt(1 - correlation ** 2) * drawNormal(random);
    latencies[at] = toNs(state);
  }
  return latencies;
}

/** Returns when latencies end that follow each other, with a batch at a time. */
export function endsOf(latencies: Float64Array, batch = 1): Float64Array {
  let atNs = 123_456_789;
  return latencies.map((latencyNs, at) => {
    if (at % batch === 0) atNs += latencyNs;
    return atNs;
  });
}

/** Draws sketches, always the same. */
export function drawTallies(process: Process, count: number): Sketch[] {
  const random = createRandom(7);
  return Array.from({ length: count }, () => {
    const latencies = drawLatencies(process, random);
    const endsNs = endsOf(latencies, process.batch);
    return sketchAt(latencies, endsNs, 123_456_789, endsNs.at(-1) as number);
  });
}
