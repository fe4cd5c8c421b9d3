/** Text in lines of a width, for help and for comments. */

/** Breaks a text between words. A word longer than the width has a line of its own. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** A row of help: what is explained, indented, and beside it the text; or below it, where it is too long for that. */
export function formatRow(left: string, text: string, column: number, width: number): string[] {
  const lines = wrap(text, width - column);
  const head = `  ${left}`;
  const first = head.length <= column - 2 ? `${head.padEnd(column)}${lines.shift() ?? ""}` : head;
  return [first, ...lines.map((line) => " ".repeat(column) + line)];
}
