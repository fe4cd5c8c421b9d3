import { certainEnds, type Interval, scaleInterval, type Uncertain } from "../../measure/intervals/certainty.ts";
import type { MeanEstimate } from "../../measure/intervals/mean-interval.ts";
import type { PercentileEstimate } from "../../measure/intervals/percentile-interval.ts";
import { byPercentile } from "../schema/parts.ts";

/**
 * Converts the percentiles of a metric, and the intervals of its mean and percentiles, to JSON. Ends are null where the number is not certain.
 * @param scale to the unit of the file
 * @param decided percentiles with a certain verdict. Default: none
 */
export function toMetricConfidence<P extends number>(
  mean: MeanEstimate,
  percentiles: readonly P[],
  estimate: (percentile: number) => PercentileEstimate,
  scale: (value: number) => number = (value) => value,
  decided: readonly number[] = [],
) {
  const estimates = byPercentile(percentiles, estimate);
  const ends = (found: Uncertain): Interval => scaleInterval(certainEnds(found), scale);
  return {
    percentiles: byPercentile(percentiles, (percentile) => scale(estimates[`p${percentile}`].value)),
    mean: { ...ends(mean), effectiveCount: mean.effectiveCount },
    intervals: byPercentile(percentiles, (percentile) => {
      const found = estimates[`p${percentile}`];
      const { effectiveCount, isReliable, neededCount } = found;
      const verdict: { readonly isDecided?: boolean } = decided.includes(percentile) ? { isDecided: true } : {};
      return { ...ends(found), effectiveCount, isReliable, ...verdict, neededCount };
    }),
  };
}
