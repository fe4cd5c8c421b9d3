import { meanOf } from "../../measure/statistics.ts";
import { limitMessage } from "../../plan/show-value.ts";
import { escapeControls } from "../../plan/terminal-text.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import { formatTable } from "../../report/rampart/format.ts";
import type { TextPiece } from "../../service/openai/response-text.ts";
import type { TimedAnswer } from "./ask.ts";

const SUMMARY_COLUMNS = 25;
/** More are only counted. */
const MOST_PIECES = 10_000;
const MOST_NAME_CHARACTERS = 200;

/** Token counts of a tokenizer on this side. */
export interface CountedTokens {
  readonly tokenizer: string;
  readonly inputCount: number;
  readonly outputCount: number;
}

/** Formats the pieces of an answer with their times, and what follows from them. @param counted absent without a tokenizer */
export function formatAnswer({ answer, offsetsNs }: TimedAnswer, counted: CountedTokens | undefined): string {
  const pieces = [
    ...answer.reasoning.map((piece) => ({ ...piece, isReasoning: true })),
    ...answer.output.map((piece) => ({ ...piece, isReasoning: false })),
  ].toSorted((a, b) => a.read - b.read);
  const parts = [formatPieces(pieces, offsetsNs), formatSummary({ answer, offsetsNs }, counted)];
  const warnings = findWarnings({ answer, offsetsNs }, counted);
  return [...parts, ...warnings.map((text) => `warning: ${text}`)].join("\n\n");
}

function formatPieces(pieces: readonly (TextPiece & { isReasoning: boolean })[], offsetsNs: readonly number[]): string {
  if (pieces.length === 0) return "the answer has no text";
  const rows = pieces.slice(0, MOST_PIECES).map(({ read, text, isReasoning }, index) => {
    const before = pieces[index - 1];
    const atNs = offsetsNs[read] ?? 0;
    const gap = before === undefined ? "" : formatGap(atNs - (offsetsNs[before.read] ?? 0));
    return [formatDurationNs(atNs), gap, `${isReasoning ? "(reasoning) " : ""}${quote(text)}`];
  });
  const table = formatTable(["after the send", "after the last", "text"], rows);
  return pieces.length > rows.length
    ? `${table}\n… and ${formatCount(pieces.length - rows.length)} more pieces`
    : table;
}

/** Pieces that were read at once have gaps of single nanoseconds, so that their order is kept. */
const SAME_READ_NS = 1000;

function formatGap(gapNs: number): string {
  return gapNs < SAME_READ_NS ? "at once" : `+${formatDurationNs(gapNs)}`;
}

/** Quotes a text on one line, at most 2,000 characters of it. */
function quote(text: string): string {
  return escapeControls(JSON.stringify(limitMessage(text)));
}

function formatSummary({ answer, offsetsNs }: TimedAnswer, counted: CountedTokens | undefined): string {
  const reads = [...new Set([...answer.reasoning, ...answer.output].map(({ read }) => read))].toSorted((a, b) => a - b);
  const timesNs = reads.map((read) => offsetsNs[read] ?? 0);
  const gapsNs = timesNs.slice(1).map((atNs, index) => atNs - (timesNs[index] as number));
  const [firstNs] = timesNs;
  const { usage, finishReason } = answer;
  const rows = [
    ...(firstNs === undefined ? [] : [["time to first token", formatDurationNs(firstNs)]]),
    ...(gapsNs.length === 0
      ? []
      : [
          ["between pieces, average", `${formatDurationNs(meanOf(Float64Array.from(gapsNs)))} (${gapsNs.length} gaps)`],
        ]),
    ["whole answer", formatDurationNs(offsetsNs.at(-1) ?? 0)],
    ["pieces with text", formatCount(timesNs.length)],
    ["output tokens", describeCount(counted?.outputCount, usage?.completionTokens, counted)],
    ["input tokens", describeCount(counted?.inputCount, usage?.promptTokens, counted)],
    ...(finishReason === undefined
      ? []
      : [["finish reason", escapeControls(limitMessage(finishReason, MOST_NAME_CHARACTERS))]]),
  ];
  return rows.map(([name = "", value = ""]) => `${name.padEnd(SUMMARY_COLUMNS)}${value}`).join("\n");
}

function describeCount(
  own: number | undefined,
  servers: number | undefined,
  counted: CountedTokens | undefined,
): string {
  const texts = [
    ...(own === undefined || counted === undefined ? [] : [`${formatCount(own)} by ${counted.tokenizer}`]),
    ...(servers === undefined ? [] : [`${formatCount(servers)} by the server`]),
  ];
  return texts.length === 0 ? "not counted: the server reports none, and no --tokenizer is given" : texts.join(", ");
}

/** Returns what would make a benchmark of this server wrong. */
function findWarnings({ answer }: TimedAnswer, counted: CountedTokens | undefined): string[] {
  const warnings: string[] = [];
  const pieces = [...answer.reasoning, ...answer.output];
  const bunched = answer.output.filter(({ events }) => events > 1).length;
  if (pieces.length === 1)
    warnings.push("the whole answer came at once: the server, or something before it, does not stream");
  else if (bunched > answer.output.length / 2)
    warnings.push(
      `${bunched} of ${answer.output.length} reads had several events: tokens come in bunches, so their gaps are not those of the model`,
    );
  const servers = answer.usage?.completionTokens;
  if (counted !== undefined && servers !== undefined && answer.reasoning.length === 0) {
    const ratio = Math.abs(counted.outputCount - servers) / Math.max(1, servers);
    if (ratio > 0.1 && Math.abs(counted.outputCount - servers) > 2)
      warnings.push(
        `${counted.tokenizer} counts ${counted.outputCount} output tokens and the server ${servers}: is it the model's tokenizer?`,
      );
  }
  return warnings;
}
