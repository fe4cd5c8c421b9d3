import { maskText } from "../plan/secrets.ts";
import { limitMessage } from "../plan/show-value.ts";
import { escapeControls, showColors, wrapWords } from "../plan/terminal-text.ts";
import type { CommandIo } from "./execute.ts";

/**
 * Wraps a command's output: masks secrets, and removes control characters in text from servers, models, files and scenarios. Only `draw`,
 * for Rampart's own views, can move the cursor.
 */
export function guardIo(io: CommandIo): CommandIo {
  const clean = (text: string): string => escapeControls(maskText(text));
  return changedIo(io, {
    out: (text: string) => io.out(showColors(clean(text))),
    err: (text: string) => io.err(breakAtWords(clean(text), io)),
    draw: (text: string) => (io.draw ?? io.err)(maskText(text)),
  });
}

/** Start of the lines in Rampart's words. Compatible modes also print lines of their original, which are kept as they are. */
const OWN_WORDS = "rampart: ";
const INDENT = "  ";
const LEAST_COLUMNS = 40;

/** Breaks lines in Rampart's words at spaces, so that a terminal does not break them within a word. */
function breakAtWords(text: string, io: CommandIo): string {
  // Reading the width takes time, so it is read only for such lines.
  if (!text.includes(OWN_WORDS)) return text;
  const lines = text.split("\n").map((line) => (line.startsWith(OWN_WORDS) ? toTerminal(line, io) : line));
  return lines.join("\n");
}

/** Wraps a sentence for the terminal of standard error, if there is one. Lines after the first are indented. */
export function toTerminal(text: string, { errColumns }: CommandIo): string {
  if (errColumns === undefined || errColumns < LEAST_COLUMNS || text.length <= errColumns) return text;
  const [first = "", ...rest] = wrapWords(text, errColumns);
  const others = wrapWords(rest.join(" "), errColumns - INDENT.length);
  return [first, ...others.map((line) => INDENT + line)].join("\n");
}

/** Returns a command's output with some parts changed. All other parts follow `io`, including later changes. */
export function changedIo(io: CommandIo, changes: Partial<CommandIo>): CommandIo {
  // Uses descriptors, because getters of the process's object cannot be assigned.
  return Object.create(io, Object.getOwnPropertyDescriptors(changes)) as CommandIo;
}

/** Prints each warning only once, for runs with the same warnings. */
export function withoutRepeats(io: CommandIo): CommandIo {
  const said = new Set<string>();
  const err = (text: string): void => {
    if (!said.has(text) || !text.startsWith(OWN_WORDS)) io.err(text);
    said.add(text);
  };
  return changedIo(io, { err });
}

/** Drops the text of reports and of progress; errors and files are still written. */
export function silent(io: CommandIo): CommandIo {
  return changedIo(io, { out: () => {}, isQuiet: true });
}

const MAX_CHARACTERS = 10_000;

/** Describes a defect of Rampart, whose text may contain anything. Ends with a line break. */
export function describeDefect(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return escapeControls(maskText(`rampart: internal error: ${limitMessage(text, MAX_CHARACTERS)}\n`));
}
