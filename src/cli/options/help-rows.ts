import { wrapWords } from "../../plan/terminal-text.ts";

/** Place of the texts in rows of help, in characters. */
interface RowLayout {
  readonly column: number;
  readonly width: number;
  /** Least distance of a text from its term. Default: 2 */
  readonly gap?: number;
}

/** Formats a row of help: the indented term, with the text beside it, or below it if the term is too long. */
export function formatRow(left: string, text: string, { column, width, gap = 2 }: RowLayout): string[] {
  const lines = wrapWords(text, width - column);
  const head = `  ${left}`;
  const first = head.length <= column - gap ? `${head.padEnd(column)}${lines.shift() ?? ""}` : head;
  return [first, ...lines.map((line) => " ".repeat(column) + line)];
}
