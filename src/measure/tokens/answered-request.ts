import type { ServerUsage } from "../../service/openai/response-parts.ts";
import { roundHalfEven } from "../numpy-statistics.ts";
import type { MetricInput } from "./metrics.ts";
import type { PackedFailure, PackedResponse } from "./packed-responses.ts";
import type { Prompt } from "./prompt.ts";
import type { ResponseTimes } from "./response-times.ts";

/** A request with a response. */
export interface AnsweredRequest {
  /** Time of the send, in nanoseconds after an origin that all requests share. */
  readonly sendNs: number;
  /** Time from the due time of the request to the send, in nanoseconds. Default: 0, as without a schedule */
  readonly waitNs?: number | undefined;
  readonly times: ResponseTimes;
  /**
   * Time from the send to the end of the response, in nanoseconds, for goodput and the latency per output token. Default: to the
   * last content
   */
  readonly wholeNs?: number | undefined;
  /** Tokens of the request's text; NaN if not counted. */
  readonly inputTokens: number;
  /** Number of tokens that the request asks for; absent or NaN if the server decides. */
  readonly requestedTokens?: number | undefined;
  readonly usage?: ServerUsage | undefined;
  /** Whether a stream was requested, but the response arrived whole. Then it has no first token. Default: false */
  readonly lacksStream?: boolean | undefined;
  /** Whether the response calls tools outside of its content. Without content, it is only a tool call. Default: false */
  readonly callsTools?: boolean | undefined;
  /** The conversation of the request. */
  readonly session?: string | undefined;
  /** Whether the request has no rate of tokens per user if its tokens arrived together. Default: false, as in GenAI-Perf */
  readonly omitsBunchedRate?: boolean | undefined;
}

/** Converts a request with content to the input of its metrics. */
export function toMetricInput(request: AnsweredRequest): MetricInput {
  const { times, usage, requestedTokens = Number.NaN, lacksStream = false, omitsBunchedRate } = request;
  const { contentNs } = times;
  // Without a tokenizer, only the server's counts exist.
  const inputTokens = Number.isNaN(request.inputTokens) ? (usage?.promptTokens ?? Number.NaN) : request.inputTokens;
  const serverTextTokens = textTokensOf(request);
  const outputTokens = Number.isNaN(times.outputTokens) ? serverTextTokens : times.outputTokens;
  const latencyNs = contentNs.at(-1) ?? Number.NaN;
  const hasIntervals = contentNs.length > 1 && outputTokens > 1;
  const interTokenLatencyNs = hasIntervals
    ? roundHalfEven((latencyNs - (contentNs[0] as number)) / (outputTokens - 1))
    : Number.NaN;
  return {
    latencyNs,
    wholeNs: request.wholeNs ?? latencyNs,
    times,
    inputTokens,
    outputTokens,
    serverTextTokens,
    requestedTokens,
    interTokenLatencyNs,
    usage,
    lacksStream,
    imageCount: 0,
    omitsBunchedRate,
  };
}

/** Returns the server's count of the output's text, comparable to the client's count. NaN if it includes other tokens of unknown number. */
function textTokensOf({ usage, times, callsTools }: Pick<AnsweredRequest, "usage" | "times" | "callsTools">): number {
  // Some servers report 0 for every response.
  const reasoningTokens = usage?.reasoningTokens || times.reasoningTokens;
  return callsTools === true ? Number.NaN : (usage?.completionTokens ?? Number.NaN) - reasoningTokens;
}

/** Metric input of a request whose response is not text. */
export const NO_TEXT: MetricInput = {
  latencyNs: Number.NaN,
  wholeNs: Number.NaN,
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
  serverTextTokens: Number.NaN,
  requestedTokens: Number.NaN,
  interTokenLatencyNs: Number.NaN,
  usage: undefined,
  lacksStream: false,
  imageCount: 0,
};

/** A request with a response. */
export interface AnsweredCall extends Omit<PackedResponse, "step" | "lengths" | "parts"> {
  readonly prompt: Prompt;
  /** The responses as text. For models on Triton, their outputs by name, as JSON text or parsed. */
  readonly responses: readonly (string | Readonly<Record<string, unknown>>)[];
}

/** A request with a response, and its measurements. */
export interface MeasuredRequest
  extends Pick<AnsweredCall, "prompt" | "sequenceId" | "server" | "sendNs" | "offsetsNs"> {
  /** Undefined if the response is not text, or is empty. */
  readonly answered: AnsweredRequest | undefined;
  /** Reason why the server ended its response, in the server's words. */
  readonly finishReason?: string | undefined;
  /** An error that the server reported inside its response. */
  readonly error?: string | undefined;
}

/** A request without a response. */
export interface FailedResponse extends PackedFailure {
  readonly prompt: Prompt | undefined;
  readonly isWarmup: boolean;
}

/** Receives single requests in the order in which they ended. */
export interface MeasuredSink {
  /** Receives a request of the measurement that has a response. */
  onMeasured(request: MeasuredRequest): void;
  /** Receives a request without a response, including warm-up requests. */
  onFailure?(failure: FailedResponse): void;
}
