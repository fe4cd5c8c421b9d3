import { wrapWords } from "../../plan/terminal-text.ts";

/** Formats a row of help: the indented term, with the text beside it, or below it if the term is too long. */
export function formatRow(left: string, text: string, column: number, width: number): string[] {
  const lines = wrapWords(text, width - column);
  const head = `  ${left}`;
  const first = head.length <= column - 2 ? `${head.padEnd(column)}${lines.shift() ?? ""}` : head;
  return [first, ...lines.map((line) => " ".repeat(column) + line)];
}
