/**
 * - C0 and C1, which move the cursor, colour and retitle a terminal; not tab and line feed, and not the carriage return before one
 * - marks, embeddings, overrides and isolates of direction, which show a text in another order than it has
 * - line and paragraph separators
 */
const CONTROLS =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)/g;

/** A text of anybody's that a terminal can only show: control characters as in JSON, such as `\u001b`. */
export function escapeControls(text: string): string {
  return text.replace(CONTROLS, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Marks colours in a text until it leaves the program: no server, model or file can know it. */
const COLOR_MARK = `rampart-color-${crypto.randomUUID()}:`;
const MARKED = new RegExp(`${COLOR_MARK}(\\d+);`, "g");
const COLORS = { green: 32, red: 31 } as const;
const RESET = 0;

/** A text in a colour, for a terminal that shows colours; {@link showColors} makes it visible. */
export function paint(text: string, color: keyof typeof COLORS): string {
  return `${COLOR_MARK}${COLORS[color]};${text}${COLOR_MARK}${RESET};`;
}

/** Puts the terminal's codes in place of what {@link paint} marked; for text whose control characters are escaped already. */
export function showColors(text: string): string {
  return text.includes(COLOR_MARK) ? text.replace(MARKED, "\u001b[$1m") : text;
}
