/**
 * Returns the least whole number for which a condition holds, if it also holds for all higher ones.
 * @param low a number for which it does not hold @param high a number for which it holds, or is assumed to
 */
export function leastAbove(low: number, high: number, holds: (value: number) => boolean): number {
  let [out, within] = [low, high];
  while (within - out > 1) {
    const middle = Math.floor((out + within) / 2);
    if (holds(middle)) within = middle;
    else out = middle;
  }
  return within;
}
