import { leastAbove } from "../intervals/least-above.ts";
import { meanOfRuns } from "../intervals/over-runs.ts";
import { type Change, isOutside, type Side, welchFreedom } from "./change.ts";

/** More runs than this are not worth planning for. */
export const MOST_RUNS = 1000;

/**
 * Returns how many runs on each side would make the interval of a change reach at most `halfWidth` to each side, if the runs continue to vary
 * as they do. With one run on one side, it is taken to vary like the other side.
 * @param change estimated from these sides
 * @param halfWidth in the unit of the change, above 0
 * @returns undefined when neither side has two runs, the change has no value, or more than 1,000 runs are needed
 */
export function runsNeeded(base: Side, next: Side, change: Change, halfWidth: number): number | undefined {
  const variances = variancesOf(base, next, change);
  if (variances === undefined || !(halfWidth > 0)) return undefined;
  const [vb, vn] = variances;
  if (vb + vn === 0) return runsByWidth(base, next, change, halfWidth);
  const isEnough = (count: number): boolean => {
    const freedom = welchFreedom(vb, count, vn, count);
    return isOutside(halfWidth ** 2 / ((vb + vn) / count), freedom);
  };
  return isEnough(MOST_RUNS) ? leastAbove(1, MOST_RUNS, isEnough) : undefined;
}

/**
 * Returns how many runs on each side would resolve what these do not: those of {@link runsNeeded}, and at least one more than the smaller side
 * has. Intervals of ratios are wider on one side, so the estimate can be too low.
 */
export function moreRunsNeeded(base: Side, next: Side, change: Change, halfWidth: number): number | undefined {
  const needed = runsNeeded(base, next, change, halfWidth);
  return needed && Math.max(needed, Math.min(base.values.length, next.values.length) + 1);
}

/** The same for runs that do not vary. Their interval has no width, or the one of their counts of requests: as the root of these numbers. */
function runsByWidth(base: Side, next: Side, { value, low, high }: Change, halfWidth: number): number | undefined {
  if (value === null || low === null || high === null) return 2;
  const runs = Math.min(base.values.length, next.values.length);
  const needed = Math.max(2, Math.ceil(runs * (Math.max(high - value, value - low) / halfWidth) ** 2));
  return needed > MOST_RUNS ? undefined : needed;
}

/** Returns what a run of each side adds to the variance of the change. */
function variancesOf(base: Side, next: Side, { kind, value }: Change): [base: number, next: number] | undefined {
  const [b, n] = [meanOfRuns(base.values), meanOfRuns(next.values)];
  if (value === null) return undefined;
  if (kind === "difference") {
    const [vb, vn] = [b.variance ?? n.variance, n.variance ?? b.variance];
    return vb === undefined || vn === undefined ? undefined : [vb, vn];
  }
  const relative = ({ variance, mean }: typeof b): number | undefined =>
    variance === undefined || mean === 0 ? undefined : variance / mean ** 2;
  const [rb, rn] = [relative(b) ?? relative(n), relative(n) ?? relative(b)];
  return rb === undefined || rn === undefined ? undefined : [value ** 2 * rb, value ** 2 * rn];
}
