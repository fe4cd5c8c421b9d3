import type { ReportModel } from "../model/report-model.ts";

/** A report of one level as a few lines instead of a table, for commands that measure one request. */

const INDENT = "  ";
const GAP = "   ";

/**
 * Formats the subject with its load and rate, the latencies, and the numbers of requests. Undefined when there is not exactly one level.
 * @param word of the verdict, empty when nothing was judged
 */
export function singleLevelLines(
  { single, name, subject }: ReportModel,
  maxColumns: number,
  word: string,
): string[] | undefined {
  if (single === undefined) return undefined;
  const right = single.facts.join(GAP);
  const left = [word, name, subject].filter((text) => text !== "").join(INDENT);
  const room = maxColumns - left.length;
  const first = right.length + GAP.length <= room ? [left + right.padStart(room)] : [left, INDENT + right];
  return [...first, ...single.lines.flatMap((texts) => joinLines(texts, maxColumns))];
}

/** Joins texts to indented lines. */
function joinLines(texts: readonly string[], maxColumns: number): string[] {
  const lines: string[] = [];
  for (const text of texts.filter((one) => one !== "")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + GAP.length + text.length <= maxColumns)
      lines[lines.length - 1] = last + GAP + text;
    else lines.push(INDENT + text);
  }
  return lines;
}
