/** Finds the load at which throughput stops growing. */

/** Result at one load. */
export interface LoadPoint {
  readonly load: number;
  /** Throughput, in any unit. */
  readonly perSec: number;
}

/** The knee is the lowest load that reaches this ratio of the highest throughput. */
const KNEE_RATIO = 0.9;

/**
 * The highest load must be at least this many times the knee. Where throughput grows with the load, less than 1.12 times the load brings the
 * missing tenth, so that closer levels would show a knee anywhere.
 */
const CLEAR_FACTOR = 1.25;

/** Number of levels above the knee that end a sweep: a single one may be slow by chance. */
const LEVELS_ABOVE = 2;

/** Returns the lowest load that reaches 90 % of the highest throughput; undefined if nothing finished. */
export function kneeOf(points: readonly LoadPoint[]): number | undefined {
  const highest = Math.max(0, ...points.map(({ perSec }) => perSec));
  const reached = points.filter(({ perSec }) => perSec > 0 && perSec >= KNEE_RATIO * highest);
  return reached.length === 0 ? undefined : Math.min(...reached.map(({ load }) => load));
}

/** Reports whether the loads show that throughput no longer grows with the load at the knee. */
export function isKneeReached(knee: number, points: readonly Pick<LoadPoint, "load">[]): boolean {
  return points.some(({ load }) => load >= CLEAR_FACTOR * knee);
}

/** Reports whether a sweep can end: two loads above the knee have been measured, or two at which nothing finished. */
export function isPastKnee(points: readonly LoadPoint[]): boolean {
  const knee = kneeOf(points) ?? 0;
  return isKneeReached(knee, points) && points.filter(({ load }) => load > knee).length >= LEVELS_ABOVE;
}
