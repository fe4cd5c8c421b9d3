import { defined } from "../../plan/objects.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";
import type { StreamEnd } from "../../service/openai/stream-end.ts";
import type { AnsweredRequest } from "./answered-request.ts";
import { NO_TEXT, toMetricInput } from "./answered-request.ts";
import { METRICS, type MetricInput, TOKEN_METRICS } from "./metrics.ts";

/** Names of the tokenizers that count; absent if unknown or not used. */
interface Tokenizers {
  readonly client?: string | undefined;
  readonly server?: string | undefined;
}

/** Number of streams with and without the end mark of their protocol. Streams that failed for another reason are not counted. */
interface StreamEnds {
  readonly markedCount: number;
  readonly unmarkedCount: number;
  /** The end mark, in words; absent if there are no such streams. */
  readonly mark?: string | undefined;
}

export interface ResponseCounts {
  readonly count: number;
  /** Number of responses without content. */
  readonly emptyCount: number;
  readonly toolCallCount: number;
  readonly failedCount: number;
  /** Error of the first failure; absent if unknown. */
  readonly failureExample?: string | undefined;
  /** If any stream had an end mark, streams without it are also failures. If none had one, they are measured. */
  readonly streamEnds: StreamEnds;
  /** Responses with content that arrived whole although a stream was requested. They have no token times. */
  readonly unstreamedCount: number;
  /** Kind of the responses, if detected from the first ones. */
  readonly responseKind?: ResponseKind | undefined;
  readonly tokenizers: Tokenizers;
}

/** Returns the metrics of a request in the order of their table; NaN for a missing value. */
export function metricsOf(input: MetricInput): Float64Array {
  return Float64Array.from(TOKEN_METRICS, (metric) => METRICS[metric].value(input));
}

/** Counts responses, and passes on the metrics of responses with content. */
export abstract class ResponseCounter implements ResponseCounts {
  emptyCount = 0;
  toolCallCount = 0;
  failedCount = 0;
  failureExample: string | undefined;
  streamEnds: StreamEnds = { markedCount: 0, unmarkedCount: 0 };
  unstreamedCount = 0;
  responseKind: ResponseKind | undefined;
  tokenizers: Tokenizers = {};

  abstract get count(): number;

  /** @param values in the order of the table of metrics */
  protected abstract push(request: Omit<AnsweredRequest, "times" | "inputTokens">, values: Float64Array): void;

  /**
   * Adds a request with a response. A response without content is only counted. @param values from {@link metricsOf}, if
   * already computed
   */
  add(request: AnsweredRequest, values?: Float64Array): void {
    const { contentNs } = request.times;
    if (contentNs.length === 0) {
      this.emptyCount++;
      if (request.callsTools === true) this.toolCallCount++;
      return;
    }
    this.push(request, values ?? metricsOf(toMetricInput(request)));
    if (request.lacksStream === true) this.unstreamedCount++;
    if (request.usage?.tokenizer !== undefined) this.nameTokenizers({ server: request.usage.tokenizer });
  }

  /** Adds a request whose response is not text. @param imageCount images in the request */
  addPlain(sendNs: number, requestLatencyNs: number, imageCount = 0): void {
    this.push({ sendNs }, metricsOf({ ...NO_TEXT, latencyNs: requestLatencyNs, imageCount }));
  }

  /** Adds names that are not known yet. */
  nameTokenizers({ client, server }: Tokenizers): void {
    this.tokenizers = joinNames(this.tokenizers, { client, server });
  }

  /** Counts failed requests. @param example error of the first one, if known */
  addFailures(count: number, example?: string): void {
    this.failedCount += count;
    this.failureExample ??= example;
  }

  addEnd({ isMarked, mark }: Pick<StreamEnd, "isMarked" | "mark">): void {
    const { markedCount, unmarkedCount } = this.streamEnds;
    this.streamEnds = isMarked
      ? { markedCount: markedCount + 1, unmarkedCount, mark }
      : { markedCount, unmarkedCount: unmarkedCount + 1, mark };
  }

  /** Adds other counts, without metrics. */
  addCounts(added: Omit<ResponseCounts, "count">): void {
    const { failureExample, responseKind, ...sums } = joinCounts([this.counts(), added]);
    Object.assign(this, sums, { failureExample, responseKind });
  }

  /** Returns the counts as plain data. */
  counts(): Omit<ResponseCounts, "count"> {
    const { emptyCount, toolCallCount, failedCount, failureExample, streamEnds, unstreamedCount } = this;
    const { responseKind, tokenizers } = this;
    const counts = { emptyCount, toolCallCount, failedCount, streamEnds, unstreamedCount, tokenizers };
    return defined({ ...counts, failureExample, responseKind });
  }
}

/** Adds counts. A field that cannot be added is taken from the first part that has it. */
export function joinCounts(parts: readonly Omit<ResponseCounts, "count">[]): Omit<ResponseCounts, "count"> {
  const sumOf = (pick: (part: Omit<ResponseCounts, "count">) => number): number =>
    parts.reduce((sum, part) => sum + pick(part), 0);
  const firstOf = <V>(pick: (part: Omit<ResponseCounts, "count">) => V | undefined): V | undefined =>
    parts.map(pick).find((value) => value !== undefined);
  return defined({
    emptyCount: sumOf((part) => part.emptyCount),
    toolCallCount: sumOf((part) => part.toolCallCount),
    failedCount: sumOf((part) => part.failedCount),
    unstreamedCount: sumOf((part) => part.unstreamedCount),
    streamEnds: defined({
      markedCount: sumOf(({ streamEnds }) => streamEnds.markedCount),
      unmarkedCount: sumOf(({ streamEnds }) => streamEnds.unmarkedCount),
      mark: firstOf(({ streamEnds }) => streamEnds.mark),
    }),
    tokenizers: parts.reduce<Tokenizers>((names, { tokenizers }) => joinNames(names, tokenizers), {}),
    failureExample: firstOf((part) => part.failureExample),
    responseKind: firstOf((part) => part.responseKind),
  });
}

function joinNames(known: Tokenizers, added: Tokenizers): Tokenizers {
  const { client = added.client, server = added.server } = known;
  return defined({ client, server });
}
