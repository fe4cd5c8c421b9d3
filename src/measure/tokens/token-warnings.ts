import { meanOf, sumOf } from "../statistics.ts";
import { BUNCHED_RATIO } from "./metrics.ts";
import type { TokenColumns } from "./token-columns.ts";

/** Warnings about token metrics that can mislead. */

const DIFFERENT_RATIO = 0.02;

/** A warning with a code for programs. */
export interface TokenWarning {
  readonly code: string;
  /** A sentence without a full stop. */
  readonly text: string;
}

/** Returns one sentence for each warning. */
export function tokenWarnings(columns: TokenColumns): string[] {
  return findTokenWarnings(columns).map(({ text }) => text);
}

/** Returns the warnings. */
export function findTokenWarnings(columns: TokenColumns): TokenWarning[] {
  const found: readonly (readonly [code: string, text: string | undefined])[] = [
    ["not-streamed", explainUnstreamed(columns)],
    ["bunched-tokens", explainBunching(columns)],
    ["other-token-count", explainUsage(columns, "output", "outputTokens", "serverOutputTokens")],
    ["other-token-count", explainUsage(columns, "input", "inputTokens", "serverInputTokens")],
    ["other-length", explainLength(columns)],
    ["reasoning", explainReasoning(columns)],
    ["cut-streams", explainUnmarkedEnds(columns)],
    ["answers-left-out", explainMissing(columns)],
  ];
  return found.flatMap(([code, text]) => (text === undefined ? [] : [{ code, text }]));
}

/** Explains why answers have no token times although streams were requested; undefined if all were streamed. */
export function explainUnstreamed({ unstreamedCount, count }: TokenColumns): string | undefined {
  if (unstreamedCount === 0) return undefined;
  return `${unstreamedCount} of ${count} answers were not streamed although streams were expected, so they have no time to first token: do the requests have "stream": true, and does the server stream?`;
}

/** Explains why there are no rates of tokens per user although answers were streamed; undefined if there are. */
export function explainNoRates(columns: TokenColumns): string | undefined {
  if (!columns.lacksRates || columns.metrics.outputTokensPerSecPerUser.measured().length > 0) return undefined;
  return `${percent(meanOf(columns.metrics.bunchedRatio.measured()))} of the tokens came together with the one before, so there are no output tokens/s per user`;
}

function explainBunching(columns: TokenColumns): string | undefined {
  const noRates = explainNoRates(columns);
  if (noRates !== undefined)
    return `${noRates}, and inter-token latency shows how the answers were cut, not how fast tokens were made; see the latency per output token`;
  const ratios = columns.metrics.bunchedRatio.measured();
  const ratio = ratios.length === 0 ? 0 : meanOf(ratios);
  if (ratio < BUNCHED_RATIO) return undefined;
  return `${percent(ratio)} of the tokens came together with the one before: inter-token latency and throughput per user show how the answers were cut, not how fast tokens were made; see the normalized time per output token`;
}

/** Reports whether the server's token counts differ from the client's enough for a warning above. */
export function isCountedOtherwise(columns: TokenColumns): boolean {
  return (
    compareUsage(columns, "outputTokens", "serverOutputTokens") !== undefined ||
    compareUsage(columns, "inputTokens", "serverInputTokens") !== undefined
  );
}

function explainUsage(columns: TokenColumns, what: string, ours: OwnCount, servers: ServerCount): string | undefined {
  const sums = compareUsage(columns, ours, servers);
  if (sums === undefined) return undefined;
  const { client, server } = columns.tokenizers;
  if (client !== undefined && server !== undefined && client !== server)
    return `the server counts ${sums.server} ${what} tokens with ${server}, and the client ${sums.own} with ${client}: give both the same tokenizer`;
  const cause = [
    ...(what === "input" && sums.server > sums.own ? ["its chat template adds tokens"] : []),
    ...(server === undefined ? [`it uses another tokenizer${client === undefined ? "" : ` than ${client}`}`] : []),
    ...(what === "output" && sums.server > sums.own ? ["the answers have tokens without text"] : []),
  ].join(", or ");
  const found = `the server counts ${sums.server} ${what} tokens where the client counts ${sums.own}`;
  return cause === "" ? found : `${found}: ${cause}`;
}

type OwnCount = "outputTokens" | "inputTokens";
type ServerCount = "serverOutputTokens" | "serverInputTokens";

/** Compares sums over requests that have both counts; undefined when they agree. */
function compareUsage(
  columns: TokenColumns,
  ours: OwnCount,
  servers: ServerCount,
): { readonly own: number; readonly server: number } | undefined {
  const { reasoningTokens } = columns.metrics;
  // Servers count reasoning as output.
  const isOutput = ours === "outputTokens";
  const own = columns.metrics[ours].view().map((count, row) => count + (isOutput ? reasoningTokens.at(row) || 0 : 0));
  const server = columns.metrics[servers].view();
  const has = (_: number, row: number): boolean => !Number.isNaN(own[row]) && !Number.isNaN(server[row]);
  const ownSum = sumOf(own.filter(has));
  const serverSum = sumOf(server.filter(has));
  const isSame = serverSum === 0 || Math.abs(ownSum - serverSum) <= DIFFERENT_RATIO * serverSum;
  return isSame ? undefined : { own: ownSum, server: serverSum };
}

/**
 * Explains answers whose length differs from the requested one. Uses the server's count if available, because a limit is in the server's
 * tokens.
 */
function explainLength({ metrics }: TokenColumns): string | undefined {
  const { requestedOutputTokens, serverOutputTokens, outputTokens, reasoningTokens } = metrics;
  const asked: number[] = [];
  const got: number[] = [];
  let otherCount = 0;
  for (const [row, wanted] of requestedOutputTokens.view().entries()) {
    const servers = serverOutputTokens.at(row);
    const tokens = Number.isNaN(servers) ? outputTokens.at(row) + (reasoningTokens.at(row) || 0) : servers;
    if (Number.isNaN(wanted) || Number.isNaN(tokens)) continue;
    asked.push(wanted);
    got.push(tokens);
    // Tokenizing the text again can give one token more or less than was generated.
    const tolerance = Number.isNaN(servers) ? Math.max(1, DIFFERENT_RATIO * wanted) : 0;
    if (Math.abs(tokens - wanted) > tolerance) otherCount++;
  }
  if (otherCount === 0) return undefined;
  const [askedMean, gotMean] = [asked, got].map((counts) => meanOf(Float64Array.from(counts))) as [number, number];
  const cause =
    gotMean < askedMean
      ? "the model ended them before; ignore_eos or min_tokens in the body prevent that, where the server knows them"
      : "the server does not keep to the limit, or counts tokens differently";
  return `${otherCount} of ${asked.length} answers do not have the requested length, with ${gotMean.toFixed(1)} tokens on average instead of ${askedMean.toFixed(1)}: ${cause}`;
}

function explainReasoning(columns: TokenColumns): string | undefined {
  const { timeToFirstReasoningTokenNs, timeToFirstTokenNs } = columns.metrics;
  const thinking = timeToFirstReasoningTokenNs.view();
  const first = timeToFirstTokenNs.view();
  const count = thinking.filter((timeNs, row) => timeNs < (first[row] as number)).length;
  if (count === 0) return undefined;
  return `${count} of ${columns.count} answers began with reasoning, which the times and lengths leave out: the first token of any kind came earlier than the time to first token says`;
}

/** Describes streams that ended without the end mark of their protocol; undefined without such streams. */
export function countUnmarkedEnds({ streamEnds: { unmarkedCount, mark } }: TokenColumns): number | undefined {
  return mark === undefined ? undefined : unmarkedCount;
}

function explainUnmarkedEnds({ streamEnds: { markedCount, unmarkedCount, mark } }: TokenColumns): string | undefined {
  if (unmarkedCount === 0) return undefined;
  const meaning =
    markedCount > 0
      ? "their answers were cut short, and they count as failed"
      : "their answers may be cut short; no stream of this server had one, so they are still in the statistics";
  return `${unmarkedCount} of ${markedCount + unmarkedCount} streams ended without their end mark (${mark}): ${meaning}`;
}

function explainMissing(columns: TokenColumns): string | undefined {
  const { failedCount, emptyCount, toolCallCount, count, failureExample } = columns;
  const total = failedCount + emptyCount + count;
  if (failedCount + emptyCount === 0) return undefined;
  const calls = toolCallCount === 0 ? "" : `, ${toolCallCount} of which only call tools`;
  const example = failureExample === undefined ? "" : `; the first that is not valid: ${failureExample}`;
  return `of ${total} answers, ${failedCount} are not valid and ${emptyCount} have no content${calls}; only ${count} are in the statistics${example}`;
}

/** Explains why there is nothing to measure when all answers are valid but have no text; otherwise undefined. */
export function explainNoText({ count, failedCount, emptyCount, toolCallCount }: TokenColumns): string | undefined {
  if (count + failedCount > 0 || toolCallCount === 0 || toolCallCount < emptyCount) return undefined;
  return `all ${emptyCount} answers only call tools, so there is no text to measure: leave the tools out of the requests`;
}

function percent(ratio: number): string {
  return `${Math.round(100 * ratio)} %`;
}
