import { type UserError, userError } from "../../plan/problem.ts";
import { secToMs } from "../../plan/units.ts";
import type { PromptEntry } from "../../service/openai/prompt-entry.ts";
import { type Line, readLines } from "./lines.ts";
import { joinBefore, type PromptMaker } from "./prompt-maker.ts";

/** Accepted names of each column, in lower case without whitespace and underscores. The first one is used in error messages. */
const COLUMNS = {
  timestamp: ["TIMESTAMP", "timestamp", "arrivedat", "arrivaltime"],
  input: ["ContextTokens", "contexttokens", "requesttokens", "inputlength", "inputtokens"],
  output: ["GeneratedTokens", "generatedtokens", "responsetokens", "outputlength", "outputtokens"],
} as const;

type Columns = Readonly<Record<keyof typeof COLUMNS, number>>;

/**
 * Reads the requests of a CSV trace: Azure's LLM inference traces (`TIMESTAMP,ContextTokens,GeneratedTokens`, with dates) or BurstGPT's
 * (`Timestamp,Model,Request tokens,Response tokens,…`, in seconds). Times are relative to the first row. Prompts of the given lengths are
 * generated. A request without a response in the trace gets a maximum output length of one token.
 * @param dialect required columns; absent: either
 * @throws UserError for a missing column or a value that is not valid
 */
export async function* readTraceCsv(
  path: string,
  maker: PromptMaker,
  dialect?: "azure" | "burstgpt",
): AsyncGenerator<PromptEntry> {
  let columns: Columns | undefined;
  let startMs: number | undefined;
  let position = 0;
  for await (const line of readLines(path)) {
    const cells = splitCells(line.text);
    if (columns === undefined) {
      columns = findColumns(cells, path, line, dialect);
      continue;
    }
    const timeMs = readTime(cells, columns, path, line);
    startMs ??= timeMs;
    const slot = { list: path, position: position++ };
    const { frame, prefix, before } = maker.opening(slot);
    const input = Math.max(1, readCount(cells, columns, "input", path, line));
    yield {
      texts: [joinBefore(prefix, maker.text(input, slot, 0, before))],
      ...frame,
      maxTokens: Math.max(1, readCount(cells, columns, "output", path, line)),
      timestampMs: Math.max(0, timeMs - startMs),
    };
  }
}

function findColumns(
  header: readonly string[],
  path: string,
  line: Line,
  dialect: "azure" | "burstgpt" | undefined,
): Columns {
  const names = header.map((name) => name.toLowerCase().replaceAll(/[\s_]/g, ""));
  const find = (column: keyof typeof COLUMNS): number => {
    const index = names.findIndex((name) => (COLUMNS[column] as readonly string[]).includes(name));
    if (index >= 0) return index;
    throw problemAt(path, line, `has no column '${COLUMNS[column][0]}'`, line.text, EXPECTED_HEADER);
  };
  const column = dialect === undefined ? undefined : OWN_COLUMN[dialect];
  if (column !== undefined && !names.includes(column.replace(" ", "").toLowerCase()))
    throw problemAt(path, line, `has no column '${column}'`, line.text, EXPECTED_HEADER);
  return { timestamp: find("timestamp"), input: find("input"), output: find("output") };
}

/** The column name that only the dialect has. */
const OWN_COLUMN = { azure: "ContextTokens", burstgpt: "Request tokens" } as const;

const EXPECTED_HEADER =
  "Start with TIMESTAMP,ContextTokens,GeneratedTokens (Azure) or Timestamp,Model,Request tokens,Response tokens (BurstGPT).";

function readCount(
  cells: readonly string[],
  columns: Columns,
  column: "input" | "output",
  path: string,
  line: Line,
): number {
  const text = cells[columns[column]] ?? "";
  const value = Number(text);
  if (text !== "" && Number.isInteger(value) && value >= 0) return value;
  throw problemAt(path, line, `'${COLUMNS[column][0]}' is not a whole number`, text, "Write a number of tokens.");
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d(?:\.\d+)?)(?:Z|[+-]\d\d:?\d\d)?$/;

/** Reads a time in milliseconds, from seconds or a date. The time zone is ignored, because only differences matter. */
function readTime(cells: readonly string[], columns: Columns, path: string, line: Line): number {
  const text = cells[columns.timestamp] ?? "";
  const seconds = text === "" ? Number.NaN : Number(text);
  if (Number.isFinite(seconds)) return secToMs(seconds);
  const date = DATE.exec(text);
  if (date === null) {
    const hint = "Write seconds, or a date such as 2023-11-16 18:17:03.9799600.";
    throw problemAt(path, line, "'TIMESTAMP' is not a time", text, hint);
  }
  const [year, month, day, hour, minute] = date.slice(1, 6).map(Number) as [number, number, number, number, number];
  // Keep fractions of a millisecond: busy traces have several requests per millisecond.
  return Date.UTC(year, month - 1, day, hour, minute) + secToMs(Number(date[6]));
}

function problemAt(path: string, line: Line, message: string, value: string, hint: string): UserError {
  return userError("invalid-value", `${path}, line ${line.number}`, message, hint, value || "nothing");
}

/** Splits a line into cells, quoted or not. */
function splitCells(text: string): string[] {
  const cells = text.match(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g) ?? [];
  // The pattern also matches the empty string after the last cell.
  if (!text.endsWith(",")) cells.pop();
  return cells.map((cell) => {
    const bare = cell.replace(/,$/, "").trim();
    return bare.startsWith('"') ? bare.slice(1, -1).replaceAll('""', '"') : bare;
  });
}
