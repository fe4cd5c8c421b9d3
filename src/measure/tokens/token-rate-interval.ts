import { nsToSec } from "../../plan/units.ts";
import { rateInterval, SHORTEST_STRETCH_NS, type ThroughputInterval } from "../intervals/throughput.ts";
import { MOST_BINS } from "../intervals/time-bins.ts";
import type { TokenColumns } from "./token-columns.ts";

/** What a rate is made of. */
export interface RateSource {
  readonly columns: TokenColumns;
  /** What each row adds to the rate, such as its tokens; NaN: nothing. */
  readonly weights: Float64Array;
  /** Length of the window. */
  readonly durationNs: number;
}

/**
 * Returns the interval of a rate of tokens, or of good requests, from how much they vary from one stretch of time to the next. So it contains
 * the variation of arrivals, of latencies and of lengths, whether or not these depend on each other.
 * @param perSec the rate
 */
export function tokenRateInterval(
  { columns, weights, durationNs }: RateSource,
  perSec: number,
  confidence: number,
): ThroughputInterval {
  // The rate at which nothing at all would be too unlikely.
  if (perSec === 0) return { low: 0, high: -Math.log((1 - confidence) / 2) / nsToSec(durationNs) };
  const latencies = columns.metrics.requestLatencyNs.view();
  const endsNs = columns.sendNs.view().map((sendNs, row) => sendNs + (latencies[row] as number));
  const known = endsNs.filter((endNs) => !Number.isNaN(endNs));
  const length = Math.min(MOST_BINS, Math.floor(durationNs / SHORTEST_STRETCH_NS));
  if (known.length === 0 || length < 1) return { low: null, high: null };
  let firstNs = Number.POSITIVE_INFINITY;
  let lastNs = Number.NEGATIVE_INFINITY;
  for (const endNs of known) {
    firstNs = Math.min(firstNs, endNs);
    lastNs = Math.max(lastNs, endNs);
  }
  // Rows and windows count from different origins. The time without an end is at both sides of the window.
  const spanNs = Math.max(durationNs, lastNs - firstNs);
  const startNs = (firstNs + lastNs - spanNs) / 2;
  const counts = new Array<number>(length).fill(0);
  for (const [row, endNs] of endsNs.entries()) {
    const weight = weights[row] as number;
    if (Number.isNaN(endNs) || Number.isNaN(weight)) continue;
    const at = Math.min(length - 1, Math.floor(((endNs - startNs) / spanNs) * length));
    counts[at] = (counts[at] as number) + weight;
  }
  return rateInterval({ binNs: spanNs / length, counts }, known.length, perSec, { confidence });
}
