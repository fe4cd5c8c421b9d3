import type { AnswerKind } from "../../service/openai/answer-kind.ts";
import type { ServerUsage } from "../../service/openai/answer-parts.ts";
import type { StreamEnd } from "../../service/openai/stream-end.ts";
import { Column } from "../column.ts";
import { roundHalfEven } from "../statistics.ts";
import type { AnswerTimes } from "./answer-times.ts";
import { METRICS, type MetricInput, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import type { GapSummary } from "./token-gaps.ts";

/** One answered request. */
export interface AnsweredRequest {
  /** When it was sent, in nanoseconds after any origin that all requests share. */
  readonly sendNs: number;
  readonly times: AnswerTimes;
  /** Tokens of the request's text; NaN when they were not counted. */
  readonly inputTokens: number;
  /** Tokens that the load asked for; absent or NaN where it left them to the server. */
  readonly requestedTokens?: number | undefined;
  readonly usage?: ServerUsage | undefined;
  /** A stream was asked for, and the answer came whole: it has no first token. Default false. */
  readonly lacksStream?: boolean | undefined;
  /** The answer calls tools; without content it is nothing else. Default false. */
  readonly callsTools?: boolean | undefined;
  /** The conversation it is part of. */
  readonly session?: string | undefined;
}

const NO_SESSION = -1;

/** The rows of {@link TokenColumns} as plain data. */
export interface TokenRows {
  readonly sendNs: Float64Array;
  readonly metrics: Readonly<Record<TokenMetric, Float64Array>>;
  readonly emptyCount: number;
  readonly toolCallCount: number;
  readonly failedCount: number;
  readonly failureExample: string | undefined;
  /** Names of sessions, and for each row the index of its session's; -1 for none. */
  readonly sessionNames: readonly string[];
  readonly sessionOf: Float64Array;
  readonly streamEnds: StreamEnds;
  readonly unstreamedCount: number;
  readonly answerKind: AnswerKind | undefined;
  readonly gaps: GapSummary | undefined;
}

/** Streams whose protocol marks their end, by whether they had the mark; those that failed otherwise are in neither. */
export interface StreamEnds {
  readonly markedCount: number;
  readonly unmarkedCount: number;
  /** What the mark is, in words; undefined without such streams. */
  readonly mark: string | undefined;
}

/** Measured requests as columns. */
export class TokenColumns {
  readonly sendNs = new Column();
  readonly metrics: Readonly<Record<TokenMetric, Column>> = Object.fromEntries(
    TOKEN_METRICS.map((name) => [name, new Column()]),
  ) as Record<TokenMetric, Column>;
  /** Answered, but without content. */
  emptyCount = 0;
  /** Those of them that are tool calls and nothing else. */
  toolCallCount = 0;
  failedCount = 0;
  /** What was wrong with the first of them; undefined where nobody said. */
  failureExample: string | undefined;
  /** Where some streams had their end mark, those without are failures too; where none had it they are measured. */
  streamEnds: StreamEnds = { markedCount: 0, unmarkedCount: 0, mark: undefined };
  /** Rows whose answer came whole although a stream was asked for: they have no times of tokens. */
  unstreamedCount = 0;
  /** What the answers are, where their first ones had to show it. */
  answerKind: AnswerKind | undefined;
  /** Gaps between tokens, where they are drawn. */
  gaps: GapSummary | undefined;
  private readonly sessionNames = new Map<string, number>();
  private readonly sessionOf = new Column();

  /** Requests with content. */
  get count(): number {
    return this.sendNs.length;
  }

  /** Adds an answered request; one without content is only counted. */
  add(request: AnsweredRequest): void {
    const { contentNs } = request.times;
    if (contentNs.length === 0) {
      this.emptyCount++;
      if (request.callsTools === true) this.toolCallCount++;
      return;
    }
    this.push(request, toMetricInput(request));
    if (request.lacksStream === true) this.unstreamedCount++;
  }

  /**
   * Adds a request whose answer is no text.
   *
   * @param imageCount images it sent; 0 where there are none
   */
  addPlain(sendNs: number, requestLatencyNs: number, imageCount = 0): void {
    this.push({ sendNs }, { ...NO_TEXT, latencyNs: requestLatencyNs, imageCount });
  }

  /** Rows of each session, by its name, in the order of their first answers; empty without sessions. */
  sessions(): Map<string, number[]> {
    const names = [...this.sessionNames.keys()];
    const rows = new Map<string, number[]>(names.map((name) => [name, []]));
    for (const [row, session] of this.sessionOf.view().entries())
      if (session !== NO_SESSION) rows.get(names[session] as string)?.push(row);
    return rows;
  }

  /** Copies of all rows, to be merged or sent to another thread. @param without rows to leave out, ascending */
  rows(without: readonly number[] = []): TokenRows {
    const left = new Set(without);
    const copy = (column: Column): Float64Array =>
      left.size === 0 ? column.view().slice() : column.view().filter((_, row) => !left.has(row));
    const metrics = Object.fromEntries(TOKEN_METRICS.map((name) => [name, copy(this.metrics[name])]));
    const { emptyCount, toolCallCount, failedCount, failureExample, streamEnds, unstreamedCount, answerKind, gaps } =
      this;
    return {
      sendNs: copy(this.sendNs),
      metrics: metrics as TokenRows["metrics"],
      emptyCount,
      toolCallCount,
      failedCount,
      failureExample,
      sessionNames: [...this.sessionNames.keys()],
      sessionOf: copy(this.sessionOf),
      streamEnds,
      unstreamedCount,
      answerKind,
      gaps,
    };
  }

  /** Adds the rows of others. */
  addRows({ sendNs, metrics, sessionNames, sessionOf, ...counts }: TokenRows): void {
    const sessions = sessionNames.map((name) => this.sessionIndex(name));
    this.sendNs.append(sendNs);
    this.sessionOf.append(sessionOf.map((session) => sessions[session] ?? NO_SESSION));
    for (const name of TOKEN_METRICS) this.metrics[name].append(metrics[name]);
    this.emptyCount += counts.emptyCount;
    this.unstreamedCount += counts.unstreamedCount;
    this.toolCallCount += counts.toolCallCount;
    this.answerKind ??= counts.answerKind;
    this.gaps ??= counts.gaps;
    this.addFailures(counts.failedCount, counts.failureExample);
    const { markedCount, unmarkedCount, mark } = this.streamEnds;
    this.streamEnds = {
      markedCount: markedCount + counts.streamEnds.markedCount,
      unmarkedCount: unmarkedCount + counts.streamEnds.unmarkedCount,
      mark: mark ?? counts.streamEnds.mark,
    };
  }

  /** Counts requests that failed. @param example what was wrong with the first of them, where it is known */
  addFailures(count: number, example?: string): void {
    this.failedCount += count;
    this.failureExample ??= example;
  }

  /** Counts a stream by how it ended. */
  addEnd({ isMarked, mark }: StreamEnd): void {
    const { markedCount, unmarkedCount } = this.streamEnds;
    this.streamEnds = isMarked
      ? { markedCount: markedCount + 1, unmarkedCount, mark }
      : { markedCount, unmarkedCount: unmarkedCount + 1, mark };
  }

  private push({ sendNs, session }: Pick<AnsweredRequest, "sendNs" | "session">, input: MetricInput): void {
    this.sendNs.push(sendNs);
    this.sessionOf.push(this.sessionIndex(session));
    for (const metric of TOKEN_METRICS) this.metrics[metric].push(METRICS[metric].value(input));
  }

  private sessionIndex(name: string | undefined): number {
    if (name === undefined) return NO_SESSION;
    const known = this.sessionNames.get(name);
    if (known !== undefined) return known;
    this.sessionNames.set(name, this.sessionNames.size);
    return this.sessionNames.size - 1;
  }
}

/** What the metrics of a request with content are computed from. */
export function toMetricInput(request: AnsweredRequest): MetricInput {
  const { times, usage, requestedTokens = Number.NaN, lacksStream = false } = request;
  const { contentNs } = times;
  // Without a tokenizer the server's counts are all there is.
  const inputTokens = Number.isNaN(request.inputTokens) ? (usage?.promptTokens ?? Number.NaN) : request.inputTokens;
  const outputTokens = Number.isNaN(times.outputTokens) ? outputOf(usage) : times.outputTokens;
  const latencyNs = contentNs.at(-1) ?? Number.NaN;
  const hasIntervals = contentNs.length > 1 && outputTokens > 1;
  const interTokenLatencyNs = hasIntervals
    ? roundHalfEven((latencyNs - (contentNs[0] as number)) / (outputTokens - 1))
    : Number.NaN;
  return {
    latencyNs,
    times,
    inputTokens,
    outputTokens,
    requestedTokens,
    interTokenLatencyNs,
    usage,
    lacksStream,
    imageCount: 0,
  };
}

/** The server's count of output without reasoning, as the client counts. */
function outputOf(usage: ServerUsage | undefined): number {
  return (usage?.completionTokens ?? Number.NaN) - (usage?.reasoningTokens ?? 0);
}

const NO_TEXT: MetricInput = {
  latencyNs: Number.NaN,
  times: {
    contentNs: [],
    eventCount: 0,
    firstOutputNs: Number.NaN,
    firstReasoningNs: Number.NaN,
    outputTokens: Number.NaN,
    reasoningTokens: Number.NaN,
  },
  inputTokens: Number.NaN,
  outputTokens: Number.NaN,
  requestedTokens: Number.NaN,
  interTokenLatencyNs: Number.NaN,
  usage: undefined,
  lacksStream: false,
  imageCount: 0,
};
