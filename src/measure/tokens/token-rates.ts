import type { GoodputPlan } from "../../plan/tokens.ts";
import { nsToSec } from "../../plan/units.ts";
import { type Interval, UNKNOWN } from "../intervals/certainty.ts";
import { rateInterval, SHORTEST_STRETCH_NS } from "../intervals/throughput.ts";
import { addBins, type CompletionBins, wholeBins } from "../intervals/time-bins.ts";
import type { Measurement } from "../measurement.ts";
import { type Sketch, sumOfValues } from "../sketch.ts";
import { findGood, goodCountOf, type TokenMeasurement } from "./token-measurement.ts";

/**
 * Token rates over the same windows and requests as the level's throughput. GenAI-Perf's files use its formula, from the first send to the
 * last content: see `systemMetrics`.
 */

type Span = Pick<Measurement, "durationNs">;

/** Returns the sum of these values per second of the measured time; undefined without any value. */
export function sumPerSec(samples: readonly (Sketch | undefined)[], { durationNs }: Span): number | undefined {
  const known = samples.filter((sample) => sample !== undefined && sample.count > 0) as Sketch[];
  if (known.length === 0 || durationNs <= 0) return undefined;
  return known.reduce((sum, sample) => sum + sumOfValues(sample), 0) / nsToSec(durationNs);
}

/**
 * Returns the requests per second that meet all limits; undefined when no request ended, or the plan does not judge these limits.
 * @param limits Default: the only ones that it judges
 */
export function goodPerSec(tokens: TokenMeasurement, { durationNs }: Span, limits?: GoodputPlan): number | undefined {
  if (tokens.count + tokens.emptyCount + tokens.failedCount === 0 || durationNs <= 0) return undefined;
  const good = findGood(tokens, limits);
  return good && goodCountOf(good) / nsToSec(durationNs);
}

/**
 * Returns the interval of a rate of tokens, or of good requests, from how much they vary from one stretch of time to the next. So it contains
 * the variation of arrivals, of latencies and of lengths, whether or not these depend on each other.
 * @param samples what the requests add to the rate @param perSec the rate
 */
export function tokenRateInterval(
  samples: readonly (Sketch | undefined)[],
  { durationNs, completions }: Pick<Measurement, "durationNs" | "completions">,
  perSec: number,
  confidence: number,
): Interval {
  // The rate at which nothing at all would be too unlikely.
  if (perSec === 0) return { low: 0, high: -Math.log((1 - confidence) / 2) / nsToSec(durationNs) };
  const bins = samples.flatMap((sample) => sample?.bins ?? []);
  if (bins.length === 0 || completions === undefined) return UNKNOWN;
  const none = (length: number): number[] => new Array<number>(length).fill(0);
  const sums = bins.map(
    ({ binNs, first, sums: counts }): CompletionBins => ({ binNs, first, counts, coveredNs: none(counts.length) }),
  );
  const measured: CompletionBins = { ...completions, counts: none(completions.counts.length) };
  const together = addBins([...sums, measured], "sum") as CompletionBins;
  const total = Math.max(...samples.map((sample) => sample?.count ?? 0));
  return rateInterval(wholeBins(together, SHORTEST_STRETCH_NS), total, perSec, { confidence });
}
