/** Meaning of the values of `--input-data`: a list of paths, and the word `zero`. */

/** The value that requests zeros instead of random data. */
export const ZEROS = "zero";

/** Reports whether the values request zeros. */
export function asksZeros(values: readonly string[]): boolean {
  return values.includes(ZEROS);
}

/** Returns the paths among the values; empty: data is generated. */
export function pathsOf(values: readonly string[]): string[] {
  return values.filter((value) => value !== ZEROS);
}

/** Reports whether all values name files or directories. */
export function isPathsOnly(values: readonly string[]): boolean {
  return values.length > 0 && !asksZeros(values);
}
