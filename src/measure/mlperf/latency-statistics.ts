/** Statistics of latencies like those of MLPerf's LoadGen. */

/** The percentiles that LoadGen prints. */
const PERCENTILES = [50, 90, 95, 97, 99, 99.9] as const;

/** Statistics in nanoseconds. A percentile is the value at index ⌊n × p⌋ of the sorted latencies, and the mean is rounded down. */
export interface MlperfLatency {
  readonly latencyNs: { readonly minNs: number; readonly maxNs: number; readonly meanNs: number };
  readonly percentilesNs: Readonly<Record<`p${(typeof PERCENTILES)[number]}`, number>>;
}

/** Returns the statistics of latencies. @param sorted in ascending order, at least one */
export function summarizeLatency(sorted: Float64Array): MlperfLatency {
  const percentiles = PERCENTILES.map((percentile) => [`p${percentile}`, nearestRank(sorted, percentile)]);
  return {
    latencyNs: { minNs: sorted[0] as number, maxNs: sorted.at(-1) as number, meanNs: meanOf(sorted) },
    percentilesNs: Object.fromEntries(percentiles) as MlperfLatency["percentilesNs"],
  };
}

/** Returns the mean, rounded down. */
export function meanOf(latenciesNs: Float64Array): number {
  return Math.floor(latenciesNs.reduce((sum, latencyNs) => sum + latencyNs, 0) / latenciesNs.length);
}

/** Returns a percentile. @param sorted in ascending order, at least one @param percentile above 0 and below 100 */
export function nearestRank(sorted: Float64Array, percentile: number): number {
  return sorted[Math.floor(sorted.length * (percentile / 100))] as number;
}
