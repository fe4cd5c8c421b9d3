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
  /** When it was sent, in nanoseconds after an origin that all requests share. */
  readonly sendNs: number;
  /** From the time when it was due to the send, in nanoseconds. Default: 0, as without a schedule. */
  readonly waitNs?: number | undefined;
  readonly times: AnswerTimes;
  /** Tokens of the request's text; NaN when not counted. */
  readonly inputTokens: number;
  /** Number of tokens that the request asks for; absent or NaN if it leaves that to the server. */
  readonly requestedTokens?: number | undefined;
  readonly usage?: ServerUsage | undefined;
  /** A stream was requested, but the answer arrived whole. It has no first token. Default: false. */
  readonly lacksStream?: boolean | undefined;
  /** Whether the answer calls tools. Without content, it is only a tool call. Default: false. */
  readonly callsTools?: boolean | undefined;
  /** The conversation to which it belongs. */
  readonly session?: string | undefined;
  /** Whether it has no rate of tokens per user if its tokens arrived together. Default: false, as in GenAI-Perf. */
  readonly omitsBunchedRate?: boolean | undefined;
}

const NO_SESSION = -1;

/** Names of the tokenizers that count; undefined where unknown or without one. */
export interface Tokenizers {
  readonly client: string | undefined;
  readonly server: string | undefined;
}

/** The rows of {@link TokenColumns} as plain data. */
export interface TokenRows {
  readonly sendNs: Float64Array;
  readonly waitNs: Float64Array;
  readonly metrics: Readonly<Record<TokenMetric, Float64Array>>;
  readonly emptyCount: number;
  readonly toolCallCount: number;
  readonly failedCount: number;
  readonly failureExample: string | undefined;
  /** Names of sessions, and for each row the index of its session; -1 for none. */
  readonly sessionNames: readonly string[];
  readonly sessionOf: Float64Array;
  readonly streamEnds: StreamEnds;
  readonly unstreamedCount: number;
  readonly answerKind: AnswerKind | undefined;
  readonly gaps: GapSummary | undefined;
  readonly tokenizers: Tokenizers;
  readonly lacksRates: boolean;
}

/** Number of streams with and without the end mark of their protocol. Streams that failed for another reason are in neither count. */
export interface StreamEnds {
  readonly markedCount: number;
  readonly unmarkedCount: number;
  /** The end mark, in words; undefined without such streams. */
  readonly mark: string | undefined;
}

/** Measured requests as columns. */
export class TokenColumns {
  readonly sendNs = new Column();
  /** From the time when each request was due to its send; 0 without a schedule. */
  readonly waitNs = new Column();
  readonly metrics: Readonly<Record<TokenMetric, Column>> = Object.fromEntries(
    TOKEN_METRICS.map((name) => [name, new Column()]),
  ) as Record<TokenMetric, Column>;
  /** Answered without content. */
  emptyCount = 0;
  /** Those of them that only call tools. */
  toolCallCount = 0;
  failedCount = 0;
  /** Error of the first failure; undefined if unknown. */
  failureExample: string | undefined;
  /** If any stream had its end mark, those without are also failures. If none had it, they are measured. */
  streamEnds: StreamEnds = { markedCount: 0, unmarkedCount: 0, mark: undefined };
  /** Rows whose answer arrived whole although a stream was requested. They have no token times. */
  unstreamedCount = 0;
  /** The kind of the answers, if detected from the first ones. */
  answerKind: AnswerKind | undefined;
  /** Gaps between tokens, if they are plotted. */
  gaps: GapSummary | undefined;
  tokenizers: Tokenizers = { client: undefined, server: undefined };
  /** Whether the rates of tokens per user were forgotten, because too few requests had one. */
  lacksRates = false;
  private readonly sessionNames = new Map<string, number>();
  private readonly sessionOf = new Column();

  /** Number of requests with content. */
  get count(): number {
    return this.sendNs.length;
  }

  /** Adds an answered request. A request without content is only counted. */
  add(request: AnsweredRequest): void {
    const { contentNs } = request.times;
    if (contentNs.length === 0) {
      this.emptyCount++;
      if (request.callsTools === true) this.toolCallCount++;
      return;
    }
    this.push(request, toMetricInput(request));
    if (request.lacksStream === true) this.unstreamedCount++;
    if (request.usage?.tokenizer !== undefined) this.nameTokenizers({ server: request.usage.tokenizer });
  }

  /** Adds names that are not known yet. */
  nameTokenizers({ client, server }: Partial<Tokenizers>): void {
    const known = this.tokenizers;
    this.tokenizers = { client: known.client ?? client, server: known.server ?? server };
  }

  /**
   * Adds a request whose answer is not text.
   *
   * @param imageCount images in the request; 0 without images
   */
  addPlain(sendNs: number, requestLatencyNs: number, imageCount = 0): void {
    this.push({ sendNs }, { ...NO_TEXT, latencyNs: requestLatencyNs, imageCount });
  }

  /** Returns the rows of each session, by name, in the order of their first answers; empty without sessions. */
  sessions(): Map<string, number[]> {
    const names = [...this.sessionNames.keys()];
    const rows = new Map<string, number[]>(names.map((name) => [name, []]));
    for (const [row, session] of this.sessionOf.view().entries())
      if (session !== NO_SESSION) rows.get(names[session] as string)?.push(row);
    return rows;
  }

  /** Returns a copy of all rows, to merge or to send to another thread. @param without rows to leave out, ascending */
  rows(without: readonly number[] = []): TokenRows {
    const left = new Set(without);
    const copy = (column: Column): Float64Array =>
      left.size === 0 ? column.view().slice() : column.view().filter((_, row) => !left.has(row));
    const metrics = Object.fromEntries(TOKEN_METRICS.map((name) => [name, copy(this.metrics[name])]));
    const { emptyCount, toolCallCount, failedCount, failureExample, streamEnds, unstreamedCount, answerKind, gaps } =
      this;
    const { tokenizers, lacksRates } = this;
    return {
      sendNs: copy(this.sendNs),
      waitNs: copy(this.waitNs),
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
      tokenizers,
      lacksRates,
    };
  }

  /** Adds the rows of other columns. */
  addRows({ sendNs, waitNs, metrics, sessionNames, sessionOf, ...counts }: TokenRows): void {
    const sessions = sessionNames.map((name) => this.sessionIndex(name));
    this.sendNs.append(sendNs);
    this.waitNs.append(waitNs);
    this.sessionOf.append(sessionOf.map((session) => sessions[session] ?? NO_SESSION));
    for (const name of TOKEN_METRICS) this.metrics[name].append(metrics[name]);
    this.emptyCount += counts.emptyCount;
    this.unstreamedCount += counts.unstreamedCount;
    this.toolCallCount += counts.toolCallCount;
    this.answerKind ??= counts.answerKind;
    this.gaps ??= counts.gaps;
    this.nameTokenizers(counts.tokenizers);
    this.lacksRates ||= counts.lacksRates;
    this.addFailures(counts.failedCount, counts.failureExample);
    const { markedCount, unmarkedCount, mark } = this.streamEnds;
    this.streamEnds = {
      markedCount: markedCount + counts.streamEnds.markedCount,
      unmarkedCount: unmarkedCount + counts.streamEnds.unmarkedCount,
      mark: mark ?? counts.streamEnds.mark,
    };
  }

  /** Forgets the rates of tokens per user if fewer than half of the streams have one: the rest is not a fair sample. */
  forgetFewRates(): void {
    const { outputTokensPerSecPerUser: rates, bunchedRatio } = this.metrics;
    if (2 * rates.measured().length >= bunchedRatio.measured().length) return;
    rates.forget();
    this.lacksRates = true;
  }

  /** Counts failed requests. @param example error of the first one, if known */
  addFailures(count: number, example?: string): void {
    this.failedCount += count;
    this.failureExample ??= example;
  }

  /** Counts a stream by its end. */
  addEnd({ isMarked, mark }: StreamEnd): void {
    const { markedCount, unmarkedCount } = this.streamEnds;
    this.streamEnds = isMarked
      ? { markedCount: markedCount + 1, unmarkedCount, mark }
      : { markedCount, unmarkedCount: unmarkedCount + 1, mark };
  }

  private push(
    { sendNs, waitNs = 0, session }: Pick<AnsweredRequest, "sendNs" | "waitNs" | "session">,
    input: MetricInput,
  ): void {
    this.sendNs.push(sendNs);
    this.waitNs.push(waitNs);
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

/** Converts a request with content to the input of its metrics. */
export function toMetricInput(request: AnsweredRequest): MetricInput {
  const { times, usage, requestedTokens = Number.NaN, lacksStream = false, omitsBunchedRate } = request;
  const { contentNs } = times;
  // Without a tokenizer, only the server's counts exist.
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
    omitsBunchedRate,
  };
}

/** Returns the server's count of output without reasoning, like the client's count. */
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
