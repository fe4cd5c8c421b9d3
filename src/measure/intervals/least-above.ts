/**
 * Returns the least whole number at which a statement holds, which then holds at all higher ones.
 * @param low a number at which it does not hold @param high one at which it does, or is taken to
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
