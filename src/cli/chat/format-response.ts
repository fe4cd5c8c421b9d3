import { BUNCH_GAP_NS, BUNCHED_RATIO } from "../../measure/tokens/metrics.ts";
import { defined } from "../../plan/objects.ts";
import { limitMessage } from "../../plan/show-value.ts";
import { escapeControls } from "../../plan/terminal-text.ts";
import { countOf, formatCount, nsToSec, nsToUs } from "../../plan/units.ts";
import { column, makeTable } from "../../report/model/tables.ts";
import { formatTime } from "../../report/model/values.ts";
import { labelled } from "../../report/text/render-text.ts";
import { formatTextTable, valueText } from "../../report/text/text-table.ts";
import type { TextPiece } from "../../service/openai/response-text.ts";
import type { TimedResponse } from "./ask.ts";

const SUMMARY_COLUMNS = 18;
const STYLE = { maxColumns: 80, format: valueText };
/** Maximum number of pieces to show. More are only counted. */
const MOST_PIECES = 10_000;
const MOST_NAME_CHARACTERS = 200;
/** A client that was late by this share of the latency may be why pieces came together. */
const LATE_RATIO = 0.1;

/** Token counts of the client's tokenizer. */
export interface CountedTokens {
  readonly tokenizer: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
}

/** Formats the results of a response's times, and its pieces with their times. @param counted absent without a tokenizer */
export function formatResponse(timed: TimedResponse, counted: CountedTokens | undefined): string {
  const parts = [formatSummary(timed, counted), formatPieces(listPieces(timed.response), timed.offsetsNs)];
  const warnings = findWarnings(timed, counted);
  const notes = warnings.flatMap((text) => labelled("note", text, STYLE.maxColumns)).join("\n");
  return [...parts, ...(notes === "" ? [] : [notes])].join("\n\n");
}

/** Describes a response and its times for programs. @param counted absent without a tokenizer */
export function toResponseJson(timed: TimedResponse, counted: CountedTokens | undefined): object {
  const { response } = timed;
  const { usage, finishReason } = response;
  const times = readTiming(timed, counted);
  const textOf = (pieces: readonly TextPiece[]): string => pieces.map(({ text }) => text).join("");
  return {
    text: textOf(response.output),
    ...(response.reasoning.length === 0 ? {} : { reasoning: textOf(response.reasoning) }),
    ...defined({ finishReason }),
    ...toUs("timeToFirstTokenUs", times.firstNs),
    ...toUs(times.isCounted ? "interTokenLatencyUs" : "betweenPiecesUs", times.gapNs),
    ...toUs("latencyUs", times.latencyNs),
    ...defined({
      outputTokensPerSec: times.tokensPerSec,
      tokenizer: counted?.tokenizer,
      inputTokens: counted?.inputTokens,
      outputTokens: counted?.outputTokens,
      serverInputTokens: usage?.promptTokens,
      serverOutputTokens: usage?.completionTokens,
      serverReasoningTokens: usage?.reasoningTokens,
    }),
    pieces: listPieces(response).map(({ read, text, isReasoning }) => ({
      ...toUs("afterSendUs", timed.offsetsNs[read]),
      text,
      ...(isReasoning ? { isReasoning } : {}),
    })),
    warnings: findWarnings(timed, counted),
  };
}

/** Returns a field with a time; nothing for an unknown one. */
function toUs(name: string, ns: number | undefined): object {
  return ns === undefined ? {} : { [name]: nsToUs(ns) };
}

type Piece = TextPiece & { readonly isReasoning: boolean };

/** Returns all pieces with their times of arrival. */
function listPieces(response: TimedResponse["response"]): Piece[] {
  return [
    ...response.reasoning.map((piece) => ({ ...piece, isReasoning: true })),
    ...response.output.map((piece) => ({ ...piece, isReasoning: false })),
  ].toSorted((a, b) => a.read - b.read);
}

interface PieceRow {
  readonly atNs: number;
  /** Absent for the first piece. */
  readonly gapNs: number | undefined;
  readonly text: string;
}

function formatPieces(pieces: readonly Piece[], offsetsNs: readonly number[]): string {
  if (pieces.length === 0) return "the response has no text";
  const rows = pieces.slice(0, MOST_PIECES).map(({ read, text, isReasoning }, index) => {
    const before = pieces[index - 1];
    const atNs = offsetsNs[read] ?? 0;
    const gapNs = before === undefined ? undefined : atNs - (offsetsNs[before.read] ?? 0);
    return { atNs, gapNs, text: `${isReasoning ? "(reasoning) " : ""}${quote(text)}` };
  });
  const columns = [
    column<PieceRow>("at", "after the send", "time", 0, ({ atNs }) => atNs),
    column<PieceRow>("gap", "after the last", "time", 0, ({ gapNs }) =>
      gapNs === undefined || gapNs >= BUNCH_GAP_NS ? gapNs : "at once",
    ),
    column<PieceRow>("text", "text", "text", 0, ({ text }) => text),
  ];
  const table = formatTextTable(makeTable("", columns, rows), STYLE).lines.join("\n");
  return pieces.length > rows.length
    ? `${table}\n… and ${formatCount(pieces.length - rows.length)} more pieces`
    : table;
}

/** Quotes a text on one line, at most 2,000 characters of it. */
function quote(text: string): string {
  return escapeControls(JSON.stringify(limitMessage(text)));
}

/** Formats the response's row, as in a report's table, and its parts. */
function formatSummary(timed: TimedResponse, counted: CountedTokens | undefined): string {
  const { usage, finishReason } = timed.response;
  const rows = [
    ["output tokens", describeCount(counted?.outputTokens, usage?.completionTokens, counted)],
    ["input tokens", describeCount(counted?.inputTokens, usage?.promptTokens, counted)],
    ["pieces with text", describePieces(timed)],
    ...(finishReason === undefined
      ? []
      : [["finish reason", escapeControls(limitMessage(finishReason, MOST_NAME_CHARACTERS))]]),
  ];
  const lines = rows.map(([name = "", value = ""]) => `${name.padEnd(SUMMARY_COLUMNS)}${value}`);
  return [...formatRow(timed, counted), "", ...lines].join("\n");
}

/** Results of a response's times. Undefined fields cannot be known. */
interface Timing {
  readonly firstNs: number | undefined;
  /** Mean time between tokens, or between pieces if tokens are not counted. */
  readonly gapNs: number | undefined;
  readonly tokensPerSec: number | undefined;
  readonly latencyNs: number | undefined;
  readonly isCounted: boolean;
}

function readTiming(timed: TimedResponse, counted: CountedTokens | undefined): Timing {
  const timesNs = arrivalsOf(timed).map(({ atNs }) => atNs);
  const [firstNs] = timesNs;
  const spanNs = (timesNs.at(-1) ?? Number.NaN) - (firstNs ?? Number.NaN);
  const known = timed.response.usage?.completionTokens ?? counted?.outputTokens;
  const gapCount = (known ?? timesNs.length) - 1;
  const hasGaps = timesNs.length > 1 && gapCount > 0;
  // If tokens arrive together, their times only show how the response was split.
  const isBunched = known !== undefined && known - timesNs.length >= BUNCHED_RATIO * gapCount;
  return {
    firstNs,
    gapNs: hasGaps && !isBunched ? spanNs / gapCount : undefined,
    tokensPerSec: hasGaps && !isBunched && known !== undefined && spanNs > 0 ? gapCount / nsToSec(spanNs) : undefined,
    latencyNs: timed.offsetsNs.at(-1),
    isCounted: known !== undefined,
  };
}

function formatRow(timed: TimedResponse, counted: CountedTokens | undefined): readonly string[] {
  const { firstNs, gapNs, tokensPerSec, latencyNs, isCounted } = readTiming(timed, counted);
  const columns = [
    column("timeToFirstToken", "TTFT", "time", 0, () => firstNs),
    column("interTokenLatency", isCounted ? "ITL mean" : "between pieces", "time", 0, () => gapNs),
    column("tokensPerSec", "tokens/s", "rate", 0, () => tokensPerSec),
    column("latency", "e2e", "time", 0, () => latencyNs),
  ];
  return formatTextTable(makeTable("", columns, [undefined]), STYLE).lines;
}

/** Text that arrived at one time. */
interface Arrival {
  readonly atNs: number;
  readonly pieceCount: number;
  /** Number of events with text; if above 1, the gaps between them are not known. */
  readonly eventCount: number;
}

/** Returns the times at which text arrived, in nanoseconds after the send. Pieces of events that were read together are one arrival. */
function arrivalsOf({ response, offsetsNs }: TimedResponse): Arrival[] {
  const arrivals: Arrival[] = [];
  let beforeNs = Number.NEGATIVE_INFINITY;
  for (const { read, events } of listPieces(response)) {
    const atNs = offsetsNs[read] ?? 0;
    const last = atNs - beforeNs < BUNCH_GAP_NS ? arrivals.pop() : undefined;
    const { pieceCount, eventCount } = last ?? { pieceCount: 0, eventCount: 0 };
    arrivals.push({ atNs: last?.atNs ?? atNs, pieceCount: pieceCount + 1, eventCount: eventCount + events });
    beforeNs = atNs;
  }
  return arrivals;
}

function describePieces(timed: TimedResponse): string {
  const arrivals = arrivalsOf(timed);
  const count = arrivals.reduce((sum, { pieceCount }) => sum + pieceCount, 0);
  return `${formatCount(count)}${arrivals.length === count ? "" : `, which came in ${countOf(arrivals.length, "bunch", "bunches")}`}`;
}

function describeCount(
  clients: number | undefined,
  servers: number | undefined,
  counted: CountedTokens | undefined,
): string {
  const texts = [
    ...(clients === undefined || counted === undefined ? [] : [`${formatCount(clients)} by ${counted.tokenizer}`]),
    ...(servers === undefined ? [] : [`${formatCount(servers)} by the server`]),
  ];
  return texts.length === 0 ? "not counted: the server reports none, and no --tokenizer is given" : texts.join(", ");
}

/** Returns the reasons why a benchmark of this server would be wrong. */
function findWarnings(timed: TimedResponse, counted: CountedTokens | undefined): string[] {
  const warnings: string[] = [];
  const { response } = timed;
  const arrivals = arrivalsOf(timed);
  const eventCount = arrivals.reduce((sum, one) => sum + one.eventCount, 0);
  const together = eventCount - arrivals.length;
  const { clientLateNs, offsetsNs } = timed;
  const isLate = clientLateNs >= LATE_RATIO * (offsetsNs.at(-1) ?? 0);
  const whenLate = `this client looked late, by up to ${formatTime(clientLateNs)}. Ask again.`;
  if (arrivals.length === 1)
    warnings.push(
      `The whole response came at once: ${isLate ? whenLate : "the server, or something before it, does not stream."}`,
    );
  else if (arrivals.length > 1 && together >= BUNCHED_RATIO * (eventCount - 1))
    warnings.push(
      `${formatCount(together)} of ${formatCount(eventCount)} events came together with the one before: ${isLate ? whenLate : "tokens come in bunches, so their gaps are not those of the model."}`,
    );
  const servers = response.usage?.completionTokens;
  if (counted !== undefined && servers !== undefined && response.reasoning.length === 0) {
    const ratio = Math.abs(counted.outputTokens - servers) / Math.max(1, servers);
    if (ratio > 0.1 && Math.abs(counted.outputTokens - servers) > 2)
      warnings.push(
        `${counted.tokenizer} counts ${counted.outputTokens} output tokens and the server ${servers}: is it the model's tokenizer?`,
      );
  }
  return warnings;
}
