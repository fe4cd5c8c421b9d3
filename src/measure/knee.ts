/** Finds the load at which throughput stops growing. */

/** Result at one load. */
export interface LoadPoint {
  readonly load: number;
  /** Throughput, in any unit. */
  readonly perSec: number;
}

/** The knee is the lowest load that reaches this ratio of the highest throughput. */
const KNEE_RATIO = 0.9;

/** Number of levels above the knee that end a sweep: a single one may be slow by chance. */
const LEVELS_ABOVE = 2;

/** Returns the lowest load that reaches 90 % of the highest throughput; undefined if nothing finished. */
export function kneeOf(points: readonly LoadPoint[]): number | undefined {
  const highest = Math.max(0, ...points.map(({ perSec }) => perSec));
  const reached = points.filter(({ perSec }) => perSec > 0 && perSec >= KNEE_RATIO * highest);
  return reached.length === 0 ? undefined : Math.min(...reached.map(({ load }) => load));
}

/** Reports whether a sweep can end: two loads above the knee have been measured, or two at which nothing finished. */
export function isPastKnee(points: readonly LoadPoint[]): boolean {
  const knee = kneeOf(points) ?? 0;
  return points.filter(({ load }) => load > knee).length >= LEVELS_ABOVE;
}
