import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  type ClientLag,
  clientLagOf,
  explainLag,
  lagWarnings,
  type ReportedTime,
  reportedTimes,
} from "../../src/measure/client-lag.ts";
import { mergeInTime } from "../../src/measure/merge.ts";
import { TokenTally } from "../../src/measure/tokens/token-tally.ts";
import { makeWindow } from "./make-window.ts";

const MS = 1e6;
const time = (figure: ReportedTime["figure"], meanMs: number, p99Ms: number, gaps?: number): ReportedTime => ({
  figure,
  meanNs: meanMs * MS,
  p99Ns: p99Ms * MS,
  ...(gaps === undefined ? {} : { gaps }),
});
const lagOf = (meanMs: number, p99Ms?: number, sendMs = 0): ClientLag => ({
  cpuRatio: 0.02,
  loopLagMeanNs: meanMs * MS,
  ...(p99Ms === undefined ? {} : { loopLagP99Ns: p99Ms * MS }),
  sendMeanNs: sendMs * MS,
});
/** Streams of llama.cpp beside two busy processes, about as they were found. */
const STREAMS = [time("latency", 40, 100), time("timeToFirstToken", 20, 60), time("interTokenLatency", 2, 4, 10)];
const STEADY = [time("latency", 40, 42)];

const CASES: readonly (readonly [name: string, lag: ClientLag, times: readonly ReportedTime[], isSaid: boolean])[] = [
  ["no lag", lagOf(0, 0), STREAMS, false],
  ["a lag of 5 % of all means and of less", lagOf(0.1, 2), STREAMS, false],
  ["a lag of more than 5 % of the tokens' gaps", lagOf(0.2), STREAMS, true],
  ["requests that leave late", lagOf(0, 0, 3), STREAMS, true],
  ["both, which only together are too much", lagOf(1, undefined, 1.2), STEADY, true],
  ["less than a timer can tell, beside short latencies", lagOf(0.09, 0.09, 0.09), [time("latency", 0.2, 0.3)], false],
  ["a rare lag that a wide distribution hides", lagOf(0.5, 6), [time("latency", 40, 100)], false],
  ["the same lag beside steady latencies, whose p99 it makes", lagOf(0.5, 6), STEADY, true],
  [
    "a long stall that delays only the few requests in flight",
    { ...lagOf(35, 36), coreWaitRatio: 0.02 },
    [time("latency", 40, 100)],
    false,
  ],
  [
    "the same stall, when the client waits a quarter of the time",
    { ...lagOf(35, 36), coreWaitRatio: 0.26 },
    [time("latency", 40, 100)],
    true,
  ],
  ["long requests that wait until the server takes them", { ...lagOf(0, 0, 20), coreWaitRatio: 0.02 }, STEADY, false],
  [
    "the same, of a client that works half of the time",
    { ...lagOf(0, 0, 20), cpuRatio: 0.5, coreWaitRatio: 0 },
    STEADY,
    true,
  ],
  ["waiting that delays no response", { ...lagOf(0), coreWaitRatio: 0.4 }, STREAMS, false],
];

describe("the client's lag is reported when its times may show it", () => {
  for (const [name, lag, times, isSaid] of CASES)
    test(name, () => assert.equal(explainLag(lag, times) !== undefined, isSaid));
});

test("the warning is about the client: how late, why, and what to do; and claims nothing of a latency", () => {
  const text = explainLag({ ...lagOf(1.5, 12, 0.3), coreWaitRatio: 0.23 }, STREAMS) ?? "";
  assert.equal(
    text,
    "the client waited for a core 23 % of the time, while other processes used it, and woke up about 1.5 ms (p99 12 ms) late, " +
      "and took 300 us to send a request, including new connections and waits for the server: its times may include that; " +
      "stop other processes, give the client its own core, or lower the load",
  );
  const few = explainLag(lagOf(3), STREAMS) ?? "";
  assert.match(few, /^the client woke up about 3 ms late: its times may include that; stop other processes, /);
});

test("a window's times are those that its report shows", () => {
  const window = makeWindow({ latenciesNs: [10 * MS, 20 * MS], firstResponseNs: [4 * MS, 6 * MS], sendMeanNs: 5 });
  assert.deepEqual(reportedTimes(window), [time("latency", 15, 20), time("firstResponse", 5, 6)]);
  assert.deepEqual(reportedTimes(makeWindow({ latenciesNs: [] })), []);
  const tally = new TokenTally();
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
    tally.add({ sendNs: 0, times, inputTokens: 1 });
  }
  const tokens = tally.cut();
  const [latency, first, gap] = reportedTimes({ ...window, tokens });
  assert.equal(latency?.figure, "latency");
  assert.deepEqual([first?.figure, first?.meanNs, Math.round(first?.p99Ns ?? 0)], ["timeToFirstToken", 5 * MS, 6 * MS]);
  assert.deepEqual([gap?.figure, gap?.meanNs, gap?.gaps], ["interTokenLatency", 2 * MS, 2]);
  assert.deepEqual(
    reportedTimes({ ...window, tokens, isStreamed: false }).map(({ figure }) => figure),
    ["latency"],
  );
  assert.equal(clientLagOf(window).sendMeanNs, 5);
});

test("each window of a run is judged separately", () => {
  const late = makeWindow({ latenciesNs: [10 * MS], health: { loopLagMeanNs: MS } });
  assert.match(lagWarnings([late]).join(), /^the client woke up about 1 ms late/);
  assert.deepEqual(lagWarnings([makeWindow()]), []);
  const [only = "", ...rest] = lagWarnings([late, makeWindow()]);
  assert.match(only, /woke up about 1 ms late/);
  assert.deepEqual(rest, []);
});

test("merged windows have the worst p99, and the mean over their time", () => {
  const windows = [
    makeWindow({ health: { loopLagMeanNs: MS, loopLagP99Ns: 2 * MS, coreWaitRatio: 0.1 } }),
    makeWindow({ health: { loopLagMeanNs: 3 * MS, loopLagP99Ns: 9 * MS, coreWaitRatio: 0.3 } }),
  ];
  const { loopLagMeanNs, loopLagP99Ns, coreWaitRatio } = mergeInTime(windows).health;
  assert.deepEqual([loopLagMeanNs, loopLagP99Ns, coreWaitRatio], [2 * MS, 9 * MS, 0.2]);
  const { health } = mergeInTime([makeWindow(), makeWindow()]);
  assert.deepEqual([health.loopLagP99Ns, health.coreWaitRatio], [undefined, undefined]);
});
