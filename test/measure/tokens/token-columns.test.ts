import assert from "node:assert/strict";
import { test } from "node:test";
import { meanInFlight } from "../../../src/measure/in-flight.ts";
import { type AnsweredRequest, toMetricInput } from "../../../src/measure/tokens/answered-request.ts";
import { GOODPUT_NAMES } from "../../../src/measure/tokens/goodput.ts";
import { METRICS, type TokenMetric } from "../../../src/measure/tokens/metrics.ts";
import { type ResponseTimes, timeResponse } from "../../../src/measure/tokens/response-times.ts";
import { systemMetrics } from "../../../src/measure/tokens/row-measurement.ts";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { sketchOf } from "../../../src/measure/tokens/token-measurement.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";
import { explainNoRates, tokenWarnings } from "../../../src/measure/tokens/token-warnings.ts";
import { readResponse } from "../../../src/service/openai/response-text.ts";
import { countGood, measureAll, rateOf } from "./make-columns.ts";

const MS = 1e6;
const countWords = (text: string): number => text.split(" ").filter((word) => word !== "").length;

function makeTimes(
  contentMs: readonly number[],
  outputTokens: number,
  others: Partial<ResponseTimes> = {},
): ResponseTimes {
  return {
    contentNs: contentMs.map((ms) => ms * MS),
    eventCount: contentMs.length,
    firstOutputNs: (contentMs[0] ?? Number.NaN) * MS,
    firstReasoningNs: Number.NaN,
    outputTokens,
    reasoningTokens: 0,
    ...others,
  };
}

function measure(...responses: readonly (readonly [sendMs: number, times: ResponseTimes])[]): TokenColumns {
  const columns = new TokenColumns();
  for (const [sendMs, times] of responses) columns.add({ sendNs: sendMs * MS, times, inputTokens: 7 });
  return columns;
}

/** Asserts what the first row has of these metrics. */
function assertRow(columns: TokenColumns, expected: Readonly<Partial<Record<TokenMetric, number>>>): void {
  const names = Object.keys(expected) as TokenMetric[];
  assert.deepEqual(Object.fromEntries(names.map((name) => [name, columns.metrics[name].at(0)])), expected);
}

test("a streamed response's metrics", () => {
  const columns = measure([0, makeTimes([50, 60, 71, 80], 7)]);
  assertRow(columns, {
    requestLatencyNs: 80 * MS,
    timeToFirstTokenNs: 50 * MS,
    timeToSecondTokenNs: 10 * MS,
    interTokenLatencyNs: 5 * MS,
    outputTokensPerSecPerUser: 200,
    outputTokens: 7,
    inputTokens: 7,
    normalizedTimePerOutputTokenNs: (80 * MS) / 7,
    bunchedRatio: 0.5,
  });
});

test("intervals between tokens are whole nanoseconds, halves to even", () => {
  const times = { ...makeTimes([], 3), contentNs: [100, 105] };
  assert.equal(measure([0, times]).metrics.interTokenLatencyNs.at(0), 2);
});

test("missing values are not a number", () => {
  const columns = measure([0, makeTimes([50], 1)], [0, makeTimes([50, 60], 1)], [0, makeTimes([50], 9)]);
  const intervals = [0, 1, 2].map((row) => columns.metrics.interTokenLatencyNs.at(row));
  assert.deepEqual(intervals, [Number.NaN, Number.NaN, Number.NaN]);
  assert.deepEqual([...columns.metrics.timeToSecondTokenNs.measured()], [10 * MS]);
});

test("tokens that arrived at once have no rate, instead of a division by zero", () => {
  const columns = measure([0, makeTimes([50, 50], 20, { eventCount: 20 })]);
  assert.equal(columns.metrics.interTokenLatencyNs.at(0), 0);
  assert.equal(columns.metrics.outputTokensPerSecPerUser.at(0), Number.NaN);
  assert.equal(columns.metrics.bunchedRatio.at(0), 1);
  assert.match(tokenWarnings(measureColumns(columns))[0] ?? "", /^100 % of the tokens came together/);
});

test("a request whose tokens arrived together has no rate where that is omitted, and the others are not a fair sample", () => {
  const single = makeTimes([10, 20, 30, 40, 50, 60], 6);
  const paired = makeTimes([10, 20, 30], 6, { eventCount: 6 });
  const columnsOf = (...all: readonly ResponseTimes[]): TokenColumns => {
    const columns = new TokenColumns();
    for (const times of all) columns.add({ sendNs: 0, times, inputTokens: 7, omitsBunchedRate: true });
    return columns;
  };
  const columns = columnsOf(paired, single, paired);
  assert.deepEqual(
    [0, 1, 2].map((row) => columns.metrics.outputTokensPerSecPerUser.at(row)),
    [Number.NaN, 100, Number.NaN],
  );
  const rates = (of: TokenColumns) => sketchOf(measureColumns(of), "outputTokensPerSecPerUser")?.count;
  assert.equal(rates(columnsOf(single, paired)), undefined);
  const mostly = (bunched: number) => columnsOf(...new Array(40).fill(single).fill(paired, 0, bunched));
  assert.equal(rates(mostly(2)), 38);
  assert.equal(rates(mostly(3)), undefined);
  assert.match(
    explainNoRates(measureColumns(mostly(13))) ?? "",
    /^19 % of the tokens .* 13 of 40 streams, so there are no output tokens\/s per user/,
  );
  assert.deepEqual([...measure([0, paired]).metrics.outputTokensPerSecPerUser.measured()], [250]);
});

const bunches: readonly (readonly [
  name: string,
  times: ResponseTimes,
  serverTokens: number | undefined,
  ratio: number,
])[] = [
  ["a token per read", makeTimes([10, 20, 30], 3), undefined, 0],
  ["three events in two reads", makeTimes([10, 20], 3, { eventCount: 3 }), undefined, 0.5],
  ["many tokens in an event", makeTimes([10, 20], 11), undefined, 0.9],
  ["reads right after each other", makeTimes([10, 10.05, 20], 3), undefined, 0.5],
  ["a tokenizer that finds more tokens than the server", makeTimes([10, 20, 30], 9), 3, 0],
  ["server tokens that have no text", makeTimes([10, 20, 30], 3), 50, 0],
  ["tokens that were not counted", makeTimes([10, 20, 30], Number.NaN), undefined, 0],
  ["one event", makeTimes([10], 50), undefined, Number.NaN],
];

for (const [name, times, serverTokens, ratio] of bunches) {
  test(`bunched: ${name}`, () => {
    const columns = new TokenColumns();
    const usage = { promptTokens: undefined, completionTokens: serverTokens, reasoningTokens: undefined };
    columns.add({ sendNs: 0, times, inputTokens: 1, usage });
    assert.equal(columns.metrics.bunchedRatio.at(0), ratio);
  });
}

/** Four tokens of text and eight others, which only the server counts. */
const MORE: readonly (readonly [
  name: string,
  reasoning: number | undefined,
  text: number,
  more: Partial<AnsweredRequest>,
])[] = [
  ["reasoning that is counted apart", 8, 4, {}],
  ["reasoning that is not", undefined, Number.NaN, {}],
  ["reasoning, although the server says 0", 0, Number.NaN, {}],
  ["calls of tools", undefined, Number.NaN, { callsTools: true }],
];

for (const [name, reasoningTokens, text, more] of MORE)
  test(`a server's count with ${name} says nothing of tokens that came together`, () => {
    const columns = new TokenColumns();
    const uncounted = { outputTokens: Number.NaN, reasoningTokens: more.callsTools === true ? 0 : Number.NaN };
    const times = { ...makeTimes([10, 20, 30, 40], 0), ...uncounted };
    const usage = { promptTokens: 7, completionTokens: 12, reasoningTokens };
    columns.add({ sendNs: 0, times, inputTokens: Number.NaN, usage, ...more });
    const { bunchedRatio, outputTokens, interTokenLatencyNs, serverOutputTokens } = columns.metrics;
    assert.deepEqual([bunchedRatio.at(0), outputTokens.at(0), serverOutputTokens.at(0)], [0, text, 12]);
    assert.equal(interTokenLatencyNs.at(0), Number.isNaN(text) ? Number.NaN : 10 * MS);
    assert.doesNotMatch(tokenWarnings(measureColumns(columns)).join(), /came together|the server counts/);
    assert.equal(rateOf(columns, "outputTokensPerSec"), Number.isNaN(text) ? undefined : 100);
  });

test("tokens of both ways over the run's time, as either side counts them; none where a request lacks a count", () => {
  const columns = new TokenColumns();
  const usage = { promptTokens: 30, completionTokens: 20, reasoningTokens: undefined };
  columns.add({ sendNs: 0, times: makeTimes([50, 100], 10), inputTokens: 7, usage });
  columns.add({ sendNs: 100 * MS, times: makeTimes([50, 150], 12), inputTokens: 8, usage });
  const { durationNs } = systemMetrics(columns);
  const [total, server] = [rateOf(columns, "totalTokensPerSec"), rateOf(columns, "serverTokensPerSec")];
  // 7 + 8 + 10 + 12 tokens, and 2 × (30 + 20), in a quarter of a second; requests were in flight for 100 and 150 ms.
  assert.deepEqual([durationNs, total, server, meanInFlight(measureAll(columns))], [250 * MS, 148, 400, 1]);
  columns.add({ sendNs: 0, times: makeTimes([50], Number.NaN), inputTokens: 7 });
  const some = [rateOf(columns, "totalTokensPerSec"), rateOf(columns, "serverTokensPerSec")];
  assert.deepEqual(some, [undefined, undefined]);
});

test("answers without content and failed requests are counted, and are in no statistics", () => {
  const columns = measure([0, makeTimes([50, 100], 10)], [10, makeTimes([], 0)]);
  columns.failedCount = 2;
  assert.equal(columns.count, 1);
  const system = systemMetrics(columns);
  assert.deepEqual(system, {
    startNs: 0,
    durationNs: 100 * MS,
    requestCount: 1,
    requestsPerSec: 20,
    outputTokensPerSec: 100,
  });
  assert.match(
    tokenWarnings(measureColumns(columns)).join("\n"),
    /of 4 responses, 2 are not valid and 1 has no content/,
  );
});

test("concurrency is the mean number in flight", () => {
  const columns = measure([0, makeTimes([50, 100], 4)], [0, makeTimes([50, 100], 4)], [100, makeTimes([60, 100], 4)]);
  assert.equal(meanInFlight(measureAll(columns)), 1.5);
});

test("a session has its own duration", () => {
  const columns = new TokenColumns();
  for (const [sendMs, session] of [
    [0, "b"],
    [10, "a"],
    [100, "b"],
  ] as const)
    columns.add({ sendNs: sendMs * MS, times: makeTimes([20, 50], 5), inputTokens: 1, session });
  const sessions = columns.sessions();
  assert.deepEqual(
    [...sessions],
    [
      ["b", [0, 2]],
      ["a", [1]],
    ],
  );
  assert.equal(systemMetrics(columns, sessions.get("b")).durationNs, 150 * MS);
  assert.equal(systemMetrics(columns, sessions.get("a")).requestsPerSec, 20);
});

test("each request is judged by its own values, also when some have no intervals", () => {
  // GenAI-Perf pairs the first interval with the first request, which has none, and drops the last request.
  const columns = measure(
    [0, makeTimes([10], 1)],
    [0, makeTimes([90, 100], 2)],
    [0, makeTimes([10, 50], 2)],
    [0, makeTimes([10, 20], 2)],
  );
  assert.equal(countGood(columns, "text", { time_to_first_token: 50, inter_token_latency: 15 }), 2);
  assert.equal(countGood(columns, "text", { output_token_throughput_per_user: 100 }), 3);
  assert.equal(countGood(columns, "text", { request_latency: 1000 }), 4);
});

test("unknown limits differ from limits that no request keeps", () => {
  const columns = measure([0, makeTimes([10, 20], 2)]);
  assert.equal(countGood(columns, "text", { nonsense: 1 }), undefined);
  assert.equal(countGood(columns, "plain", { time_to_first_token: 1 }), undefined);
  assert.equal(countGood(columns, "text", { time_to_first_token: 1 }), 0);
  // Each name can be limited with some kind of responses.
  const families = ["text", "images", "plain"] as const;
  for (const name of GOODPUT_NAMES)
    assert.ok(
      families.some((family) => countGood(columns, family, { [name]: 1 }) !== undefined),
      name,
    );
  assert.equal(GOODPUT_NAMES.length, 7);
});

const reasoned = readResponse("chat", [
  'data: {"choices":[{"delta":{"reasoning_content":" let me"}}]}\n\n',
  'data: {"choices":[{"delta":{"reasoning_content":" think"}}]}\n\n',
  'data: {"choices":[{"delta":{"content":" four words"}}]}\n\n',
  'data: {"choices":[{"delta":{"content":" it is"}}]}\n\n',
]);
const reasonedNs = [10 * MS, 20 * MS, 50 * MS, 60 * MS];

test("reasoning is as if nothing came by GenAI-Perf's rule, but is measured beside", () => {
  const columns = measure([0, timeResponse(reasoned, reasonedNs, { countTokens: countWords })]);
  assertRow(columns, {
    timeToFirstTokenNs: 50 * MS,
    timeToFirstOutputTokenNs: 50 * MS,
    timeToFirstReasoningTokenNs: 10 * MS,
    outputTokens: 4,
    reasoningTokens: 3,
  });
  assert.match(tokenWarnings(measureColumns(columns)).join("\n"), /1 of 1 response began with reasoning/);
});

test("without a tokenizer, the server's counts replace the client's", () => {
  const answer = readResponse("chat", [
    '{"object":"chat.completion","choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":9,"completion_tokens":3}}',
  ]);
  const columns = new TokenColumns();
  columns.add({ sendNs: 0, times: timeResponse(answer, [5], {}), inputTokens: Number.NaN, usage: answer.usage });
  assertRow(columns, {
    outputTokens: 3,
    inputTokens: 9,
    serverOutputTokens: 3,
    serverInputTokens: 9,
  });
  assert.deepEqual(tokenWarnings(measureColumns(columns)), []);
});

test("values from the server's counts are consistent: output is everything except reasoning", () => {
  const columns = new TokenColumns();
  const uncounted = { outputTokens: Number.NaN, reasoningTokens: Number.NaN };
  const usage = { promptTokens: 7, completionTokens: 12, reasoningTokens: 2 };
  const times = { ...makeTimes([1000, 2000, 4600], 0), ...uncounted };
  columns.add({ sendNs: 0, times, inputTokens: Number.NaN, usage });
  columns.add({ sendNs: 0, times, inputTokens: Number.NaN });
  const input = toMetricInput({ sendNs: 0, times, inputTokens: Number.NaN, usage });
  const row = Object.fromEntries(Object.entries(METRICS).map(([name, { value }]) => [name, value(input)]));
  assert.equal((row.outputTokens ?? 0) + (row.reasoningTokens ?? 0), row.serverOutputTokens);
  assert.equal(row.interTokenLatencyNs, (3600 * MS) / ((row.outputTokens ?? 0) - 1));
  assert.equal(row.normalizedTimePerOutputTokenNs, (4600 * MS) / (row.outputTokens ?? 0));
  // Of two responses one was counted: there is a count, and no throughput over both.
  assert.equal(columns.metrics.outputTokens.measured().length, 1);
  assert.equal(rateOf(columns, "totalTokensPerSec"), undefined);
});

test("responses of another length than requested are reported, by the server's count if there is one", () => {
  const counted = (tokens: number) => ({ promptTokens: 7, completionTokens: tokens, reasoningTokens: undefined });
  const warn = (...rows: readonly (readonly [asked: number | undefined, own: number, servers?: number])[]): string => {
    const columns = new TokenColumns();
    for (const [requestedTokens, own, servers] of rows) {
      const times = makeTimes([1, 2], own);
      const usage = servers === undefined ? undefined : counted(servers);
      columns.add({ sendNs: 0, times, inputTokens: 7, requestedTokens, usage });
    }
    return tokenWarnings(measureColumns(columns))
      .filter((text) => text.includes("length"))
      .join();
  };
  assert.equal(warn([undefined, 100], [Number.NaN, 5]), "");
  assert.equal(warn([100, 101], [100, 99], [200, 204]), "", "a text that is counted anew");
  assert.equal(warn([100, 99, 100]), "", "the server's count is the one that the limit is in");
  assert.match(
    warn([100, 60], [100, 100]),
    /^1 of 2 responses does not have the requested length, .* 80\.0 tokens on average instead of 100\.0: .*ignore_eos/,
  );
  assert.match(warn([100, 100, 99]), /^1 of 1 response .* 99\.0 tokens on average instead of 100\.0/);
  assert.match(warn([10, 30, 30]), /30\.0 tokens on average instead of 10\.0: the server does not keep to the limit/);
});

test("the client's counts are compared with the server's", () => {
  const columns = new TokenColumns();
  const usage = { promptTokens: 7, completionTokens: 12, reasoningTokens: undefined };
  columns.add({ sendNs: 0, times: makeTimes([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 10), inputTokens: 7, usage });
  assert.deepEqual(tokenWarnings(measureColumns(columns)), [
    "the server counts 12 output tokens where the client counts 10: it uses another tokenizer, or the responses have tokens without text",
  ]);
});
