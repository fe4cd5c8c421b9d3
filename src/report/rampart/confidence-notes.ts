/** Marks a percentile with too few samples. */
export const MARK = "*";

/** Formats an interval: `1.1 to 1.3 ms`, with the unit once when both ends have it. */
export function formatRange(low: string, high: string): string {
  const unit = high.includes(" ") ? high.slice(high.indexOf(" ")) : "";
  return `${unit !== "" && low.endsWith(unit) ? low.slice(0, -unit.length) : low} to ${high}`;
}
