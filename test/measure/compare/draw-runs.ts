import type { Random } from "../../../src/runtime/random.ts";

/** Values of runs made at random. */

/** How a metric varies between runs, as a ratio of its mean. */
export interface Distribution {
  readonly name: string;
  readonly deviationRatio: number;
  /** Skewed to the right, like high percentiles. */
  readonly isSkewed: boolean;
}

export const DISTRIBUTIONS: readonly Distribution[] = [
  { name: "runs that differ by 2 %", deviationRatio: 0.02, isSkewed: false },
  { name: "runs that differ by 15 %", deviationRatio: 0.15, isSkewed: false },
  { name: "skewed runs that differ by 20 %", deviationRatio: 0.2, isSkewed: true },
];

/** Draws the values of runs. @param mean their expectation */
export function drawRuns(
  { deviationRatio, isSkewed }: Distribution,
  count: number,
  mean: number,
  random: Random,
): number[] {
  const shape = Math.sqrt(Math.log1p(deviationRatio ** 2));
  return Array.from({ length: count }, () => {
    const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    return isSkewed ? mean * Math.exp(shape * normal - shape ** 2 / 2) : mean * (1 + deviationRatio * normal);
  });
}
