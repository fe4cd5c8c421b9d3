import assert from "node:assert/strict";
import { test } from "node:test";
import { lateCount } from "../../src/measure/derived-values.ts";
import { type AskedRate, explainShortfall, type ScheduledRate } from "../../src/measure/rate-shortfall.ts";
import { makeWindow, type WindowParts } from "./make-window.ts";

/** Schedules that were not kept. */

const constant = (perSec: number): AskedRate => ({ perSec, gapDeviationRatio: 0 });
const poisson = (perSec: number): AskedRate => ({ perSec, gapDeviationRatio: 1 });
const rate = { asked: constant(100), isSync: false, laneCount: 4, sequenceCount: undefined };
const hundred = (ns: number): number[] => new Array<number>(100).fill(ns);
/** Delays of a hundred requests, of which some are 50 ms late. */
const delays = (late: number): number[] => hundred(0).map((_, index) => (index < late ? 50e6 : 20e3));

const KEPT: readonly (readonly [name: string, asked: AskedRate, parts: WindowParts])[] = [
  ["every request in time", constant(100), { latenciesNs: hundred(1e6), sendDelayNs: delays(0) }],
  ["two requests less, which are the window's edges", constant(100), { latenciesNs: hundred(1e6).slice(2) }],
  ["a draw of 7 for 10 by chance", poisson(5), { durationNs: 2e9, latenciesNs: new Array(7).fill(1e6) }],
  ["a draw of 930 for 1,000 by chance", poisson(500), { durationNs: 2e9, latenciesNs: new Array(930).fill(1e6) }],
];
for (const [name, asked, parts] of KEPT) {
  test(`a schedule that was kept needs no word: ${name}`, () => {
    assert.equal(explainShortfall(makeWindow(parts), { ...rate, asked }), undefined);
  });
}

const MISSED: readonly (readonly [name: string, asked: AskedRate | undefined, parts: WindowParts, achieved: string])[] =
  [
    [
      "fewer and late",
      constant(150),
      { latenciesNs: hundred(40e6), sendDelayNs: delays(60) },
      "100.0 requests/s were sent of the requested 150; 60 % of the requests were more than 1 ms late (p99 50 ms, at most 50 ms)",
    ],
    [
      "fewer, of which none was late",
      constant(10),
      { durationNs: 1e9, latenciesNs: new Array(7).fill(1e6), sendDelayNs: new Array(7).fill(900e3) },
      "7.0 requests/s were sent of the requested 10; no request was more than 1 ms late",
    ],
    [
      "fewer than chance explains",
      poisson(100),
      { latenciesNs: new Array(60).fill(1e6), sendDelayNs: delays(0) },
      "60.0 requests/s were sent of the requested 100; no request was more than 1 ms late",
    ],
    [
      "late, at times of the data",
      undefined,
      { latenciesNs: hundred(1e6), sendDelayNs: delays(5) },
      "5 % of the requests were more than 1 ms late (p99 50 ms, at most 50 ms)",
    ],
    [
      "fewer, of which next to none was late",
      constant(5000),
      {
        latenciesNs: new Array<number>(4000).fill(1e6),
        sendDelayNs: [50e6, ...new Array<number>(3999).fill(0)],
      },
      "4000.0 requests/s were sent of the requested 5000; 0.025 % of the requests were more than 1 ms late (p99 0 us, at most 50 ms)",
    ],
  ];
for (const [name, asked, parts, achieved] of MISSED) {
  test(`it reports the requested and the sent rate, and the delay: ${name}`, () => {
    assert.equal(explainShortfall(makeWindow(parts), { ...rate, asked })?.achieved, achieved);
  });
}

test("late is what was sent late, whether or not its lane was there in time, as perf_analyzer's delayed requests ask", () => {
  const window = makeWindow({ latenciesNs: hundred(1e6), delayedCount: 0, sendDelayNs: delays(40) });
  assert.equal(lateCount(window), 40);
  assert.match(
    explainShortfall(window, rate)?.achieved ?? "",
    /40 % of the requests were more than 1 ms late \(p99 50/,
  );
});

const late = (count: number, parts: WindowParts) => makeWindow({ ...parts, sendDelayNs: delays(count) });
const CAUSES: readonly (readonly [cause: RegExp, bound: string, parts: WindowParts, change: Partial<ScheduledRate>])[] =
  [
    [
      /^4 lanes waited for their responses, which took 40 ms on average$/,
      "lanes",
      { latenciesNs: hundred(40e6) },
      { asked: constant(150), isSync: true },
    ],
    [
      /^the client was the limit: the client used 99 % of a core/,
      "client",
      { latenciesNs: hundred(1e6), health: { cpuRatio: 0.99 } },
      {},
    ],
    [/woke up late/, "client", { latenciesNs: hundred(1e6) }, { asked: undefined }],
    [
      /^the maximum of 2 outstanding requests waited for their responses, which took 20 ms on average$/,
      "outstanding",
      { latenciesNs: hundred(20e6) },
      { asked: constant(400), maxOutstanding: 2 },
    ],
    [/woke up late/, "client", { latenciesNs: hundred(20e6) }, { asked: constant(400), maxOutstanding: 50 }],
    [
      /^1 sequence waited for their responses, which took 10 ms on average$/,
      "sequences",
      { latenciesNs: hundred(10e6) },
      { asked: constant(400), sequenceCount: 1 },
    ],
  ];
for (const [cause, bound, parts, change] of CAUSES) {
  test(`the cause of late requests is named: ${cause.source}`, () => {
    const shortfall = explainShortfall(late(90, parts), { ...rate, ...change });
    assert.match(shortfall?.cause ?? "", cause);
    assert.equal(shortfall?.bound, bound);
  });
}
