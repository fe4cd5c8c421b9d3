import { wrapWords } from "../../plan/terminal-text.ts";
import type { TextSink } from "../../report/report.ts";
import { defaultNote, endNotes, type Flag, type FlagValues, HELP_ALL_FLAG } from "../flags.ts";
import { formatRow } from "../options/help-rows.ts";

/** The help of one of Rampart's own commands: one screen with `--help`, everything with `--help-all`. */

/** Content of a command's help. */
export interface HelpPage {
  /** The command with its arguments, one line for each form. */
  readonly usage: readonly string[];
  /** Description: paragraphs, which are wrapped. */
  readonly about: readonly string[];
  /** Lists before the options. */
  readonly lists?: readonly HelpList[];
  readonly flags: readonly Flag[];
  /** Note that applies to all options. */
  readonly flagsNote?: string;
  /** Command lines, which are not wrapped. A long one has further lines, which begin with two spaces. */
  readonly examples?: readonly string[];
  /** Paragraphs that only `--help-all` shows. */
  readonly details?: readonly string[];
  /** Meaning of the exit codes: a paragraph. */
  readonly exitCodes?: string;
}

/** Names with their meanings. */
export interface HelpList {
  readonly title: string;
  readonly rows: readonly HelpRow[];
}

type HelpRow = readonly [name: string, meaning: string];

/** Width of help, and maximum number of lines without `--help-all`. */
export const HELP_COLUMNS = 80;
const SCREEN_LINES = 40;
const MEANING_COLUMN = 26;

/** Note in help about the values of options. */
export const DURATIONS_NOTE = "durations have a unit, such as 10s or 2min";

/** Prints the help of a command if it was requested. Returns whether it was. */
export function printsHelp(flags: FlagValues, page: HelpPage, io: TextSink): boolean {
  if (!asksHelp(flags)) return false;
  io.out(formatHelpPage(page, flags.has(HELP_ALL_FLAG.name)));
  return true;
}

/** Reports whether help was requested. */
export function asksHelp(flags: FlagValues): boolean {
  return flags.has("help") || flags.has(HELP_ALL_FLAG.name);
}

/** Formats the help. @param isAll whether to show every option with its whole text, even if that takes more than a screen */
export function formatHelpPage(page: HelpPage, isAll: boolean): string {
  const whole = formatLines(page, page.flags.map(rowOf), page.details ?? []);
  if (isAll || whole.length <= SCREEN_LINES) return whole.join("\n");
  const shown = page.flags.filter(({ isCommon }) => isCommon === true);
  const more: HelpRow = ["--help-all", `Print all ${page.flags.length} options, with their whole texts.`];
  return formatLines(page, [...shown.map(shortRowOf), more], []).join("\n");
}

function formatLines(page: HelpPage, options: readonly HelpRow[], details: readonly string[]): string[] {
  const { usage, about, lists = [], flagsNote, examples = [], exitCodes } = page;
  const note = flagsNote === undefined ? "" : ` (${flagsNote})`;
  const lines = examples.map((example) => `  ${example}`);
  return [
    ...usage.map((form, index) => `${index === 0 ? "Usage: " : "       "}${form}`),
    "",
    ...about.flatMap(paragraph),
    ...lists.flatMap(({ title, rows }) => [`${title}:`, ...rows.flatMap(toLines), ""]),
    `Options${note}:`,
    ...options.flatMap(toLines),
    "",
    ...details.flatMap(paragraph),
    ...(examples.length === 0 ? [] : [examples.length === 1 ? "Example:" : "Examples:", ...lines, ""]),
    ...(exitCodes === undefined ? [] : paragraph(`Exit codes: ${exitCodes}`)),
  ];
}

function toLines(row: HelpRow): string[] {
  return formatHelpRow(row, MEANING_COLUMN);
}

function paragraph(text: string): string[] {
  return [...wrapWords(text, HELP_COLUMNS), ""];
}

/** Formats a name and its meaning, wrapped beside it. @param column where the meaning begins */
export function formatHelpRow([name, meaning]: HelpRow, column: number): string[] {
  return formatRow(name, meaning, { column, width: HELP_COLUMNS, gap: 1 });
}

/** Returns a flag with its whole text. */
function rowOf(flag: Flag): HelpRow {
  const choices = flag.choices === undefined ? "" : ` One of ${flag.choices.join(", ")}.`;
  return [namesOf(flag), `${flag.help}${choices}${endNotes(flag)}`];
}

/** Returns a flag with its first sentence, or as much of it as fits on a line. */
function shortRowOf(flag: Flag): HelpRow {
  const [sentence = ""] = flag.help.split(/[.;](?= |$)/, 1);
  const room = HELP_COLUMNS - MEANING_COLUMN - 1;
  const [beginning = ""] = sentence.split(": ", 1);
  const ends = [...beginning.matchAll(/, /g)].map(({ index }) => index).filter((end) => end <= room);
  const short = beginning.length <= room ? beginning : beginning.slice(0, ends.at(-1));
  const text = sentence.length <= room ? sentence : short;
  const note = flag.default === undefined ? "" : defaultNote(flag);
  return [namesOf(flag), `${text}.${text.length + note.length > room ? "" : note}`];
}

function namesOf({ name, short, value }: Flag): string {
  return `${short === undefined ? "" : `-${short}, `}--${name}${value === undefined ? "" : ` ${value}`}`;
}

/** Returns the first sentence of a help text, without its end. */
export function firstSentence(help: string): string {
  const sentence = /^.*?[.:;](?= |$)/s.exec(help)?.[0] ?? help;
  return sentence.replace(/[.:;]$/, "").replaceAll("\n", " ");
}
