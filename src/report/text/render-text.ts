import type { VerdictState } from "../../measure/verdict-state.ts";
import { type NameOf, word } from "../../plan/messages.ts";
import { paint } from "../../plan/terminal-text.ts";
import { countOf } from "../../plan/units.ts";
import type { Check, Note, ReportModel, Section, VerdictName } from "../model/report-model.ts";
import { explainMark } from "../model/tables.ts";
import { MARK } from "../model/values.ts";
import type { TextSink } from "../report.ts";
import { detailedBlocks, type Room, tableLines, wrapText } from "./text-table.ts";

/** The report on a terminal: the verdict, the requested result, the checks, and the most important notes; details on request. */

/** Style of a report. */
export interface TextStyle {
  /** Whether to show all sections and notes. Default: the first screen */
  readonly isVerbose?: boolean;
  readonly hasColor?: boolean | undefined;
  /** Whether to show a single level as lines. Default: as a table */
  readonly showsLines?: boolean | undefined;
  /** Columns of the terminal. The first screen uses at most 80, and nothing less than 60. Default: 80 */
  readonly terminalColumns?: number | undefined;
  /** Way to request all notes. Default: the flag of the verbosity */
  readonly moreFlag?: string;
  /** The user's front door's names of settings. Absent: settings keep their paths in the plan. */
  readonly nameOf?: NameOf | undefined;
}

const MAX_COLUMNS = 80;
/** In less, tables lose too many columns. */
const LEAST_COLUMNS = 60;
/** Longer lines of text are hard to read. */
const MOST_WORDS = 110;

/** Returns the style for the destination of a text. */
export function styleOf({ hasColor, nameOf, outColumns }: TextSink): TextStyle {
  return { hasColor, nameOf, terminalColumns: outColumns };
}
const INDENT = "  ";
const GAP = "   ";
/** Maximum number of notes on the first screen. */
const MOST_NOTES = 3;

/** Matches a marked value. */
const MARKED = /\d(?: (?:us|ms|s|min|%))?\*/;

type Paint = (text: string, color: "green" | "red" | "yellow") => string;

/** Formats a report, with a line break at its end. */
export function renderText(model: ReportModel, style: TextStyle = {}): string {
  const { isVerbose = false, hasColor = false, terminalColumns = MAX_COLUMNS } = style;
  const room = Math.max(LEAST_COLUMNS, terminalColumns);
  const tableColumns = isVerbose ? room : Math.min(MAX_COLUMNS, room);
  const maxColumns = Math.min(tableColumns, MOST_WORDS);
  const { moreFlag = word({ setting: "outputs.verbosity" }, style.nameOf) } = style;
  const color: Paint = hasColor ? paint : (text) => text;
  const sections = model.sections.filter(({ isSummary }) => isVerbose || isSummary);
  const single = style.showsLines === true && !isVerbose ? headLines(model, maxColumns, color) : undefined;
  const linesOf = (isSummary: boolean): string[][] =>
    sections
      .filter((section) => section.isSummary === isSummary && (single === undefined || section.id !== "levels"))
      .map((section) => sectionLines(section, { maxColumns, tableColumns }, isVerbose));
  const [results, details] = [linesOf(true), linesOf(false)];
  const head = single ?? verdictLines(model, maxColumns, color, isVerbose);
  const isMarked = [head, ...results, ...details].flat().some((line) => MARKED.test(line));
  const blocks = [
    head,
    ...results,
    checkLines(model.checks, maxColumns, color),
    noteLines(model, { maxColumns, isVerbose, isMarked, moreFlag }),
    ...details,
  ];
  return `${blocks
    .filter(({ length }) => length > 0)
    .map((lines) => lines.join("\n"))
    .join("\n\n")}\n`;
}

const VERDICT_COLORS: Readonly<Record<VerdictName, "green" | "red" | "yellow" | undefined>> = {
  passed: "green",
  failed: "red",
  partial: "yellow",
  unresolved: "yellow",
  measured: undefined,
};

/** Formats a single level as lines, with the verdict if there were assertions; undefined if there are several levels. */
function headLines(model: ReportModel, maxColumns: number, color: Paint): string[] | undefined {
  const { name, headline } = model.verdict;
  const word = name === "measured" ? "" : name.toUpperCase();
  const [first = "", ...rest] = singleLevelLines(model, maxColumns, word) ?? [];
  const chosen = VERDICT_COLORS[name];
  if (first === "") return undefined;
  const painted = chosen === undefined || word === "" ? first : color(word, chosen) + first.slice(word.length);
  const why = headline === "" ? [] : wrapText(headline, maxColumns - INDENT.length);
  return [painted, ...why.map((line) => INDENT + line), ...rest];
}

/** Formats the verdict, the number of measured requests and the time; then the reasons, and the settings of the measurement. */
function verdictLines(
  { verdict, name, subject, setup }: ReportModel,
  maxColumns: number,
  color: Paint,
  isVerbose: boolean,
): string[] {
  const word = verdict.name.toUpperCase();
  const chosen = VERDICT_COLORS[verdict.name];
  const facts = verdict.facts.join("   ");
  // If a scenario is named after its model, the name is shown once.
  const whole = subject === "" ? name : `${name}: ${subject}`;
  const title = subject.startsWith(`${name},`) ? subject : whole;
  const room = maxColumns - word.length - INDENT.length;
  const isOneLine = title.length + 3 + facts.length <= room;
  const [first = "", ...rest] = isOneLine ? [`${title.padEnd(room - facts.length)}${facts}`] : wrapText(title, room);
  const indented = (text: string): string[] => wrapText(text, maxColumns - INDENT.length).map((line) => INDENT + line);
  return [
    `${chosen === undefined ? word : color(word, chosen)}${INDENT}${first}`,
    ...rest.map((line) => `${" ".repeat(word.length)}${INDENT}${line}`),
    ...(isOneLine ? [] : [`${" ".repeat(word.length)}${INDENT}${facts}`]),
    ...(verdict.headline === "" ? [] : indented(verdict.headline)),
    ...(isVerbose ? setup : setup.filter((line) => line.startsWith("parameters:"))).flatMap(indented),
  ];
}

/** Formats a section. Details also have intervals, and more columns if there is room. */
function sectionLines({ title, tables, lines = [], isSummary }: Section, room: Room, isVerbose: boolean): string[] {
  const indent = title === "" ? "" : INDENT;
  const blocks = [
    lines.flatMap((line) => wrapText(line, room.maxColumns - indent.length)),
    ...tables.flatMap((table) =>
      isVerbose
        ? detailedBlocks(table, room, indent.length)
        : [tableLines(table, room.tableColumns - indent.length).lines],
    ),
  ].filter(({ length }) => length > 0);
  const body = blocks.flatMap((block, index) => (index === 0 ? block : ["", ...block]));
  const heading =
    title === "" || (isSummary && !isVerbose && tables.length === 0) ? [] : wrapText(title, room.maxColumns);
  return body.length === 0
    ? []
    : [...heading, ...body.map((line) => (line === "" ? "" : `${heading.length === 0 ? "" : indent}${line}`))];
}

/** Words for results. */
export const CHECK_WORDS: Readonly<Record<VerdictState, string>> = {
  pass: "pass",
  fail: "FAIL",
  unresolved: "unresolved",
};
const CHECK_GAP = 3;
const CHECK_COLORS = { pass: "green", fail: "red", unresolved: "yellow" } as const;

/** Formats the checks: `pass  p99 latency < 50 ms   worst 4.65 ms at concurrency 2`. */
function checkLines(checks: readonly Check[], maxColumns: number, color: Paint): string[] {
  const stateWidth = Math.max(0, ...checks.map(({ state }) => CHECK_WORDS[state].length));
  const room = maxColumns - 2 * INDENT.length - stateWidth;
  const textWidth = columnOfTexts(checks, room);
  return checks.flatMap(({ state, text, measured }) => {
    const word = CHECK_WORDS[state];
    const head = `${INDENT}${color(word, CHECK_COLORS[state])}${" ".repeat(stateWidth - word.length)}${INDENT}`;
    const indent = " ".repeat(maxColumns - room);
    if (Math.max(textWidth, text.length) + CHECK_GAP + measured.length <= room)
      return [`${head}${text.padEnd(textWidth)}   ${measured}`];
    if (text.length + CHECK_GAP + measured.length <= room) return [`${head}${text}   ${measured}`];
    const [first = "", ...rest] = wrapText(text, room);
    return [
      head + first,
      ...[...rest, ...wrapText(measured, room - INDENT.length).map((line) => INDENT + line)].map(
        (line) => indent + line,
      ),
    ];
  });
}

/** Returns the width of the texts of checks that share a line with the measured value. */
function columnOfTexts(checks: readonly Check[], room: number): number {
  const width = Math.max(0, ...checks.map(({ text }) => text.length));
  const fit = checks.filter(({ measured }) => width + CHECK_GAP + measured.length <= room);
  const longest = checks.filter(({ text }) => text.length === width);
  const isWide = checks.length === 0 || fit.length === checks.length || longest.some((check) => fit.includes(check));
  const shorter = checks.filter((check) => !longest.includes(check));
  return isWide ? width : columnOfTexts(shorter, room);
}

/** Returns the notes of the first screen: those without which a number would be misleading. */
export function chooseNotes(notes: readonly Note[]): readonly Note[] {
  return notes.filter(({ severity }) => severity !== "detail").slice(0, MOST_NOTES);
}

function noteLines(
  { notes, sections }: ReportModel,
  {
    maxColumns,
    isVerbose,
    isMarked,
    moreFlag,
  }: Required<Pick<TextStyle, "isVerbose" | "moreFlag">> & {
    readonly maxColumns: number;
    readonly isMarked: boolean;
  },
): string[] {
  const shown = isVerbose ? notes : chooseNotes(notes);
  const lines = shown.flatMap(({ severity, text }) =>
    labelled(severity === "wrong" ? "wrong" : "note", text, maxColumns),
  );
  const more = notes.length - shown.length;
  const explained = shown.flatMap(({ code, metric }) => (code === "short-sample" ? [metric ?? ""] : []));
  const tables = sections.filter(({ isSummary }) => isVerbose || isSummary).flatMap((section) => section.tables);
  const why = explainMark(tables, explained);
  const legend = isMarked && why !== undefined ? labelled(MARK.padEnd(LABEL_WIDTH), why, maxColumns) : [];
  return [...lines, ...legend, ...(more === 0 ? [] : [`${INDENT}… ${countOf(more, "more note")}: ${moreFlag}`])];
}

const LABEL_WIDTH = "note".length;

/** Formats a note, or another text with a label, in lines of at most this many characters. */
export function labelled(label: string, text: string, maxColumns: number): string[] {
  const indent = INDENT.length + label.length + INDENT.length;
  return wrapText(text, maxColumns - indent).map(
    (line, index) => `${index === 0 ? `${INDENT}${label}${INDENT}` : " ".repeat(indent)}${line}`,
  );
}

/**
 * Formats a report on one level as a few lines instead of a table, for commands that measure one request: the subject with its load
 * and rate, the latencies, and the numbers of requests. Undefined unless there is exactly one level.
 * @param word of the verdict; empty if there were no assertions
 */
function singleLevelLines(
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
