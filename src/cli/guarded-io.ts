import { maskText } from "../plan/secrets.ts";
import { escapeControls, showColors } from "../plan/terminal-text.ts";
import type { CommandIo } from "./execute.ts";

/**
 * Where a command's text leaves the program: without secrets, and without control characters of servers, models, files and scenarios.
 * Only `draw`, which Rampart's own views use, moves the cursor.
 */
export function guardIo(io: CommandIo): CommandIo {
  const clean = (text: string): string => escapeControls(maskText(text));
  return Object.assign(Object.create(io) as CommandIo, {
    out: (text: string) => io.out(showColors(clean(text))),
    err: (text: string) => io.err(clean(text)),
    draw: (text: string) => (io.draw ?? io.err)(maskText(text)),
  });
}

/** What is said of a defect of Rampart's own, whose text may hold anything. Ends in a line break. */
export function describeDefect(error: unknown): string {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return escapeControls(maskText(`rampart: internal error: ${text}\n`));
}
