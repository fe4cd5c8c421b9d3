import type { Extracted } from "../../measure/extracted-tally.ts";

/** Values that a target extracts from its answers. */

/** Returns the texts of a name, the most frequent first. */
export function sortTexts({ texts }: Extracted): (readonly [text: string, count: number])[] {
  return [...texts].sort(([, a], [, b]) => b - a);
}

/** Formats an extracted number, or a statistic of several, with up to six digits. */
export function formatNumber(value: number): string {
  return String(Number(value.toPrecision(6)));
}
