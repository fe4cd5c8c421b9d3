/** What the values of `--input-data` ask for: a list of paths, and the word `zero`. */

/** The value that asks for zeros instead of random data. */
export const ZEROS = "zero";

/** Reports whether the values ask for zeros. */
export function asksZeros(values: readonly string[]): boolean {
  return values.includes(ZEROS);
}

/** Returns the paths among the values; empty: data is generated. */
export function pathsOf(values: readonly string[]): string[] {
  return values.filter((value) => value !== ZEROS);
}

/** Reports whether the values name files or directories and nothing else. */
export function isPathsOnly(values: readonly string[]): boolean {
  return values.length > 0 && !asksZeros(values);
}
