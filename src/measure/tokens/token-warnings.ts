import { countOf, formatCount, formatPct, plural } from "../../plan/units.ts";
import { BUNCHED_RATIO, nameOfMetric, type TokenMetric } from "./metrics.ts";
import type { ResponseCounts } from "./response-counts.ts";
import {
  type CountedTwice,
  DIFFERENT_RATIO,
  lacksRates,
  ratedStreams,
  type TokenMeasurement,
} from "./token-measurement.ts";

/** Warnings about token metrics that can mislead. */

/** A warning with a code for programs. */
interface TokenWarning {
  readonly code: string;
  /** `caution`: without it, a number of the first screen is misleading. */
  readonly severity: "caution" | "detail";
  /** Catalogue key of the metric that the warning is mainly about. */
  readonly metric: string;
  /** A sentence without a full stop. */
  readonly text: string;
}

/** Returns one sentence for each warning. */
export function tokenWarnings(tokens: TokenMeasurement): string[] {
  return findTokenWarnings(tokens).map(({ text }) => text);
}

export function findTokenWarnings(tokens: TokenMeasurement): TokenWarning[] {
  const found: readonly (readonly [
    code: string,
    severity: TokenWarning["severity"],
    metric: TokenMetric | "outputTokensPerSec",
    text: string | undefined,
  ])[] = [
    ["not-streamed", "caution", "timeToFirstTokenNs", explainUnstreamed(tokens)],
    ["bunched-tokens", "caution", "interTokenLatencyNs", explainBunching(tokens)],
    [
      "other-token-count",
      isDifferent(tokens.outputTwice, BIASED_RATIO) ? "caution" : "detail",
      "outputTokens",
      explainUsage(tokens, "output"),
    ],
    ["other-token-count", "detail", "inputTokens", explainUsage(tokens, "input")],
    ["other-length", "detail", "outputTokens", explainLength(tokens)],
    ["reasoning", "detail", "timeToFirstTokenNs", explainReasoning(tokens)],
    ["cut-streams", "caution", "outputTokens", explainUnmarkedEnds(tokens)],
    ["responses-left-out", "caution", "outputTokensPerSec", explainMissing(tokens)],
  ];
  return found.flatMap(([code, severity, metric, text]) =>
    text === undefined
      ? []
      : [{ code, severity, metric: metric === "outputTokensPerSec" ? metric : nameOfMetric(metric), text }],
  );
}

/** If the client's count differs by more than this ratio, the tokens per second are biased. */
const BIASED_RATIO = 0.05;

/** Explains why responses have no token times although streams were requested; undefined if all were streamed. */
export function explainUnstreamed({ unstreamedCount, count }: ResponseCounts): string | undefined {
  if (unstreamedCount === 0) return undefined;
  const check = 'check that the requests have "stream": true, and that the server streams';
  if (unstreamedCount === count)
    return `no response was streamed although streams were expected, so there is no time to first token: ${check}`;
  return `${formatCount(unstreamedCount)} of ${countOf(count, "response")} ${plural(unstreamedCount, "was", "were")} not streamed although streams were expected, so ${plural(unstreamedCount, "it has", "they have")} no time to first token: ${check}`;
}

/** Explains why there are no rates of tokens per user although responses were streamed; undefined if there are some. */
export function explainNoRates(tokens: TokenMeasurement): string | undefined {
  if (!lacksRates(tokens)) return undefined;
  const { all, rated } = ratedStreams(tokens);
  const where = 2 * rated < all ? "" : `, in ${formatCount(all - rated)} of ${countOf(all, "stream")}`;
  return `${describeBunched(tokens)}${where}, so there are no output tokens/s per user`;
}

function describeBunched({ metrics }: TokenMeasurement): string {
  return `${formatPct(metrics.bunchedRatio?.mean ?? 0, 2)} of the tokens came together with the one before`;
}

function explainBunching(tokens: TokenMeasurement): string | undefined {
  const { all, rated } = ratedStreams(tokens);
  if (2 * rated >= all && (tokens.metrics.bunchedRatio?.mean ?? 0) < BUNCHED_RATIO) return undefined;
  return `${describeBunched(tokens)}: use the latency per output token, not the inter-token latency`;
}

/** Reports whether the server's and the client's token counts differ enough for a warning above. */
export function isCountedOtherwise({ inputTwice, outputTwice }: TokenMeasurement): boolean {
  return isDifferent(inputTwice) || isDifferent(outputTwice);
}

function isDifferent({ client, server }: CountedTwice, ratio = DIFFERENT_RATIO): boolean {
  return server !== 0 && Math.abs(client - server) > ratio * server;
}

function explainUsage(tokens: TokenMeasurement, what: "input" | "output"): string | undefined {
  const sums = tokens[`${what}Twice`];
  if (!isDifferent(sums)) return undefined;
  const { client, server } = tokens.tokenizers;
  const [clientCount, counted] = [formatCount(sums.client), formatCount(sums.server)];
  if (client !== undefined && server !== undefined && client !== server)
    return `the server counts ${counted} ${what} tokens with ${server}, and the client ${clientCount} with ${client}: give both the same tokenizer`;
  const cause = [
    ...(what === "input" && sums.server > sums.client ? ["its chat template adds tokens"] : []),
    ...(server === undefined ? [`it uses another tokenizer${client === undefined ? "" : ` than ${client}`}`] : []),
    ...(what === "output" && sums.server > sums.client ? ["the responses have tokens without text"] : []),
  ].join(", or ");
  const found = `the server counts ${counted} ${what} tokens where the client counts ${clientCount}`;
  return cause === "" ? found : `${found}: ${cause}`;
}

/** Explains responses whose length differs from the requested one. */
function explainLength({ lengths: { count, asked, got, otherCount } }: TokenMeasurement): string | undefined {
  if (otherCount === 0) return undefined;
  const cause =
    got < asked
      ? "the model ended them before; ignore_eos or min_tokens in the body prevent that, where the server knows them"
      : "the server does not keep to the limit, or counts tokens differently";
  return `${formatCount(otherCount)} of ${countOf(count, "response")} ${plural(otherCount, "does", "do")} not have the requested length, with ${(got / count).toFixed(1)} tokens on average instead of ${(asked / count).toFixed(1)}: ${cause}`;
}

function explainReasoning({ reasoningFirstCount, count }: TokenMeasurement): string | undefined {
  if (reasoningFirstCount === 0) return undefined;
  return `${formatCount(reasoningFirstCount)} of ${countOf(count, "response")} began with reasoning, which the times and lengths leave out: the first token of any kind came earlier than the time to first token says`;
}

/** Describes streams that ended without the end mark of their protocol; undefined if there are none. */
export function countUnmarkedEnds({ streamEnds: { unmarkedCount, mark } }: ResponseCounts): number | undefined {
  return mark === undefined ? undefined : unmarkedCount;
}

function explainUnmarkedEnds({ streamEnds: { markedCount, unmarkedCount, mark } }: ResponseCounts): string | undefined {
  if (unmarkedCount === 0) return undefined;
  // A server that never sends one may still send whole responses.
  if (markedCount === 0)
    return `no stream ended with its end mark (${mark}), so the responses may be cut short; they are still in the statistics`;
  return `${formatCount(unmarkedCount)} of ${countOf(markedCount + unmarkedCount, "stream")} ended without their end mark (${mark}): their responses were cut short, and they count as failed`;
}

function explainMissing(counts: ResponseCounts): string | undefined {
  const { failedCount, emptyCount, toolCallCount, count, failureExample } = counts;
  const total = failedCount + emptyCount + count;
  if (failedCount + emptyCount === 0) return undefined;
  const calls = toolCallCount === 0 ? "" : `, ${formatCount(toolCallCount)} of which only call tools`;
  const example = failureExample === undefined ? "" : `; the first that is not valid: ${failureExample}`;
  return `of ${countOf(total, "response")}, ${countOf(failedCount, "is", "are")} not valid and ${countOf(emptyCount, "has", "have")} no content${calls}; only ${countOf(count, "is", "are")} in the statistics${example}`;
}

/** Explains why there is nothing to measure if all responses are valid but have no text; otherwise undefined. */
export function explainNoText({ count, failedCount, emptyCount, toolCallCount }: ResponseCounts): string | undefined {
  if (count + failedCount > 0 || toolCallCount === 0 || toolCallCount < emptyCount) return undefined;
  return `${plural(emptyCount, "the only response calls tools alone", `all ${formatCount(emptyCount)} responses only call tools`)}, so there is no text to measure: leave the tools out of the requests`;
}
