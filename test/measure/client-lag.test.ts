import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type ClientLag,
  clientLagOf,
  explainLag,
  judgeLag,
  type LagBias,
  lagWarnings,
  type ReportedTime,
  reportedTimes,
} from "../../src/measure/client-lag.ts";
import { mergeWindows } from "../../src/measure/merge.ts";
import { TokenColumns } from "../../src/measure/tokens/token-columns.ts";
import { makeWindow } from "./make-window.ts";

const MS = 1e6;
const time = (figure: ReportedTime["figure"], meanMs: number, p99Ms: number, gaps?: number): ReportedTime => ({
  figure,
  meanNs: meanMs * MS,
  p99Ns: p99Ms * MS,
  ...(gaps === undefined ? {} : { gaps }),
});
const lagOf = (meanMs: number, p99Ms?: number, sendMs = 0): ClientLag => ({
  loopLagMeanNs: meanMs * MS,
  ...(p99Ms === undefined ? {} : { loopLagP99Ns: p99Ms * MS }),
  sendMeanNs: sendMs * MS,
});
const bias = (
  figure: LagBias["figure"],
  statistic: LagBias["statistic"],
  reportedMs: number,
  biasMs: number,
): LagBias => ({
  figure,
  statistic,
  reportedNs: reportedMs * MS,
  biasNs: biasMs * MS,
});

/** Streams of llama.cpp beside two busy processes, about as they were found. */
const STREAMS = [time("latency", 40, 100), time("timeToFirstToken", 20, 60), time("interTokenLatency", 2, 4, 10)];

const CASES: readonly (readonly [name: string, lag: ClientLag, times: readonly ReportedTime[], biases: LagBias[]])[] = [
  ["no lag", lagOf(0, 0), STREAMS, []],
  ["a lag of 5 % of all figures and of less", lagOf(0.1, 2), STREAMS, []],
  [
    "a lag of more than 5 % of the tokens' gaps alone",
    lagOf(0.2),
    STREAMS,
    [bias("interTokenLatency", "mean", 2, 0.2)],
  ],
  [
    "a lag of more than 5 % of the time to first token too",
    lagOf(1.5),
    STREAMS,
    [bias("timeToFirstToken", "mean", 20, 1.5), bias("interTokenLatency", "mean", 2, 1.5)],
  ],
  [
    "a lag that is rare: p99 is held against p99, and of a mean of gaps each has its share",
    lagOf(0, 6),
    STREAMS,
    [bias("latency", "p99", 100, 6), bias("timeToFirstToken", "p99", 60, 6), bias("interTokenLatency", "p99", 4, 0.6)],
  ],
  [
    "requests that leave late: what counts from the send is too long by that, gaps are not",
    lagOf(0, 0, 3),
    STREAMS,
    [bias("latency", "mean", 40, 3), bias("timeToFirstToken", "mean", 20, 3)],
  ],
  [
    "both, which only together are too much",
    lagOf(0.09 + 1, undefined, 1.2),
    [time("latency", 40, 100)],
    [bias("latency", "mean", 40, 2.29)],
  ],
  [
    "less than a timer can tell, beside answers that take no longer",
    lagOf(0.09, 0.09, 0.09),
    [time("latency", 0.2, 0.3)],
    [],
  ],
  [
    "stalls longer than the time itself",
    lagOf(120),
    [time("timeToFirstToken", 60, 900)],
    [bias("timeToFirstToken", "mean", 60, 60)],
  ],
  ["the first response of several", lagOf(1), [time("firstResponse", 10, 20)], [bias("firstResponse", "mean", 10, 1)]],
];

describe("the client's lag is compared with its measurements", () => {
  for (const [name, lag, times, expected] of CASES)
    test(name, () => {
      const biases = judgeLag(lag, times);
      assert.deepEqual(
        biases.map((one) => ({ ...one, biasNs: Math.round(one.biasNs) })),
        expected.map((one) => ({ ...one, biasNs: Math.round(one.biasNs) })),
      );
      assert.equal(explainLag(lag, times) === undefined, expected.length === 0);
    });
});

test("the warning says how late, which figures, by how much, and who had the core", () => {
  const lag = { ...lagOf(1.5, 12, 0.3), coreWaitRatio: 0.23 };
  const text = explainLag(lag, STREAMS) ?? "";
  assert.match(
    text,
    /^the client read responses about 1\.5 ms \(p99 12 ms\) after they arrived, and sent requests 300 us after they began/,
  );
  assert.match(
    text,
    /: p99 of latency, 100 ms, is likely too long by 12 ms \(12 %\), time to first token, 20 ms, is likely too long by 1\.8 ms \(9 %\)/,
  );
  assert.match(text, /inter-token latency, 2 ms, is an average of gaps that are off by 1\.5 ms \(75 %\) each/);
  assert.match(
    text,
    /; it waited for a core 23 % of the time, while other processes used it; lower the load, .* core$/,
  );
  assert.match(explainLag(lagOf(3), STREAMS) ?? "", /gaps that are off by 3 ms \(more than 100 %\) each/);
  assert.doesNotMatch(explainLag(lagOf(3), STREAMS) ?? "", /p99|left|waited/);
});

test("a time that is shorter than the lag is not said to be wrong by all of itself", () => {
  const text = explainLag(lagOf(120), [time("latency", 60, 900)]) ?? "";
  assert.match(text, /: latency, 60 ms, is not longer than this delay and may show the client, not the server; /);
  assert.doesNotMatch(text, /100 %/);
});

test("a window's times are those that its report shows", () => {
  const window = makeWindow({ latenciesNs: [10 * MS, 20 * MS], firstResponseNs: [4 * MS, 6 * MS], sendMeanNs: 5 });
  assert.deepEqual(reportedTimes(window), [time("latency", 15, 20), time("firstResponse", 5, 6)]);
  assert.deepEqual(reportedTimes(makeWindow({ latenciesNs: [] })), []);
  const tokens = new TokenColumns();
  for (const firstNs of [4 * MS, 6 * MS]) {
    const contentNs = [firstNs, firstNs + 2 * MS, firstNs + 4 * MS];
    const times = {
      contentNs,
      eventCount: 3,
      firstOutputNs: firstNs,
      firstReasoningNs: Number.NaN,
      outputTokens: 3,
      reasoningTokens: 0,
    };
    tokens.add({ sendNs: 0, times, inputTokens: 1 });
  }
  const [latency, first, gap] = reportedTimes(window, tokens, true);
  assert.equal(latency?.figure, "latency");
  assert.deepEqual(
    [first?.figure, first?.meanNs, Math.round(first?.p99Ns ?? 0)],
    ["timeToFirstToken", 5 * MS, 5.98 * MS],
  );
  assert.deepEqual([gap?.figure, gap?.meanNs, gap?.gaps], ["interTokenLatency", 2 * MS, 2]);
  assert.deepEqual(
    reportedTimes(window, tokens, false).map(({ figure }) => figure),
    ["latency"],
  );
  assert.equal(clientLagOf(window).sendMeanNs, 5);
});

test("each window of a run is judged separately, with its tokens when it is the only one", () => {
  const late = makeWindow({ latenciesNs: [10 * MS], health: { loopLagMeanNs: MS } });
  const tokens = new TokenColumns();
  const times = {
    contentNs: [4 * MS],
    eventCount: 1,
    firstOutputNs: 4 * MS,
    firstReasoningNs: Number.NaN,
    outputTokens: 1,
    reasoningTokens: 0,
  };
  tokens.add({ sendNs: 0, times, inputTokens: 1 });
  assert.match(
    lagWarnings([late], tokens, true).join(),
    /latency, 10 ms, .* time to first token, 4 ms, is likely too long by 1 ms \(25 %\)/,
  );
  assert.deepEqual(lagWarnings([makeWindow()], tokens, true), []);
  const [only = "", ...rest] = lagWarnings([late, makeWindow()], tokens, true);
  assert.match(only, /latency, 10 ms/);
  assert.doesNotMatch(only, /first token/);
  assert.deepEqual(rest, []);
});

test("merged windows have the worst p99, and the mean over their time", () => {
  const windows = [
    makeWindow({ health: { loopLagMeanNs: MS, loopLagP99Ns: 2 * MS, coreWaitRatio: 0.1 } }),
    makeWindow({ health: { loopLagMeanNs: 3 * MS, loopLagP99Ns: 9 * MS, coreWaitRatio: 0.3 } }),
  ];
  const { loopLagMeanNs, loopLagP99Ns, coreWaitRatio } = mergeWindows(windows).health;
  assert.deepEqual([loopLagMeanNs, loopLagP99Ns, coreWaitRatio], [2 * MS, 9 * MS, 0.2]);
  const { health } = mergeWindows([makeWindow(), makeWindow()]);
  assert.deepEqual([health.loopLagP99Ns, health.coreWaitRatio], [undefined, undefined]);
});
