/**
 * Characters that can change what a terminal shows:
 *
 * - C0 and C1 control characters, which can move the cursor or change colours and the title; except tab, line feed and CRLF
 * - bidirectional marks, embeddings, overrides and isolates, which change the displayed order
 * - line and paragraph separators
 */
const CONTROLS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)/g;

/** Escapes control characters of untrusted text for a terminal, as in JSON: `\u001b`. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Wraps a text at spaces into lines of at most this number of characters. A longer word gets a separate line. */
export function wrapWords(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last === undefined || last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}

/** Mark of colours in a text until it is printed. It is random, so that no server, model or file can produce it. */
const COLOR_MARK = `rampart-color-${crypto.randomUUID()}:`;
const MARKED = new RegExp(`${COLOR_MARK}(\\d+);`, "g");
const COLORS = { green: 32, red: 31, yellow: 33 } as const;
const RESET = 0;

/** Marks a text with a colour, for terminals with colours; {@link showColors} converts the marks. */
export function paint(text: string, color: keyof typeof COLORS): string {
  return `${COLOR_MARK}${COLORS[color]};${text}${COLOR_MARK}${RESET};`;
}

/** Converts the marks of {@link paint} to terminal codes. Other control characters must have been escaped. */
export function showColors(text: string): string {
  return text.includes(COLOR_MARK) ? text.replace(MARKED, "\u001b[$1m") : text;
}
