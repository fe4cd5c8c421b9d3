/** Wraps a text at spaces. A word longer than the width gets a separate line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Formats a row of help: the indented term, with the text beside it, or below it if the term is too long. */
export function formatRow(left: string, text: string, column: number, width: number): string[] {
  const lines = wrap(text, width - column);
  const head = `  ${left}`;
  const first = head.length <= column - 2 ? `${head.padEnd(column)}${lines.shift() ?? ""}` : head;
  return [first, ...lines.map((line) => " ".repeat(column) + line)];
}
