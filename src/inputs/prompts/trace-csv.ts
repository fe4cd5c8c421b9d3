import { UserError } from "../../plan/problem.ts";
import type { PromptEntry } from "../../service/openai/prompt-entry.ts";
import { type Line, readLines } from "./lines.ts";
import { joinBefore, type PromptMaker } from "./prompt-maker.ts";

/** Traces of real services as CSV: when requests came, and how many tokens they had and got. */

/** Names of a column, in lower case without blanks and underscores; the first is what errors call it. */
const COLUMNS = {
  timestamp: ["TIMESTAMP", "timestamp", "arrivedat", "arrivaltime"],
  input: ["ContextTokens", "contexttokens", "requesttokens", "inputlength", "inputtokens"],
  output: ["GeneratedTokens", "generatedtokens", "responsetokens", "outputlength", "outputtokens"],
} as const;

type Columns = Readonly<Record<keyof typeof COLUMNS, number>>;

/**
 * Requests of a trace: Azure's LLM inference traces (`TIMESTAMP,ContextTokens,GeneratedTokens`, with dates) or BurstGPT's
 * (`Timestamp,Model,Request tokens,Response tokens,…`, in seconds). Times count from the first row; prompts of the given lengths are made
 * up. A request that got no answer in the trace is asked for one token.
 * @param dialect whose columns it must have; left out, anyone's
 * @throws UserError for a missing column or a value that cannot be read
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
  const own = dialect === undefined ? undefined : OWN_COLUMN[dialect];
  if (own !== undefined && !names.includes(own.replace(" ", "").toLowerCase()))
    throw problemAt(path, line, `has no column '${own}'`, line.text, EXPECTED_HEADER);
  return { timestamp: find("timestamp"), input: find("input"), output: find("output") };
}

/** The column that only one of them calls so. */
const OWN_COLUMN = { azure: "ContextTokens", burstgpt: "Request tokens" } as const;

const EXPECTED_HEADER =
  "Begin with TIMESTAMP,ContextTokens,GeneratedTokens (Azure) or Timestamp,Model,Request tokens,Response tokens (BurstGPT).";

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
  throw problemAt(path, line, `'${COLUMNS[column][0]}' is not a whole number`, text, "Write a count of tokens.");
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)[ T](\d\d):(\d\d):(\d\d(?:\.\d+)?)(?:Z|[+-]\d\d:?\d\d)?$/;

/** Seconds, or a date whose zone does not matter: only differences do. In milliseconds. */
function readTime(cells: readonly string[], columns: Columns, path: string, line: Line): number {
  const text = cells[columns.timestamp] ?? "";
  const seconds = text === "" ? Number.NaN : Number(text);
  if (Number.isFinite(seconds)) return seconds * 1000;
  const date = DATE.exec(text);
  if (date === null) {
    const hint = "Write seconds, or a date as 2023-11-16 18:17:03.9799600.";
    throw problemAt(path, line, "'TIMESTAMP' is no time", text, hint);
  }
  const [year, month, day, hour, minute] = date.slice(1, 6).map(Number) as [number, number, number, number, number];
  // Fractions of a millisecond are kept: busy traces have several requests in one.
  return Date.UTC(year, month - 1, day, hour, minute) + Number(date[6]) * 1000;
}

function problemAt(path: string, line: Line, message: string, value: string, hint: string): UserError {
  return new UserError([{ path: `${path}, line ${line.number}`, message, value: value || "nothing", hint }]);
}

/** The cells of one line, quoted or not. */
function splitCells(text: string): string[] {
  const cells = text.match(/("(?:[^"]|"")*"|[^,]*)(?:,|$)/g) ?? [];
  // The pattern also matches the nothing behind the last cell.
  if (!text.endsWith(",")) cells.pop();
  return cells.map((cell) => {
    const bare = cell.replace(/,$/, "").trim();
    return bare.startsWith('"') ? bare.slice(1, -1).replaceAll('""', '"') : bare;
  });
}
