import assert from "node:assert/strict";
import { test } from "node:test";
import { explainShortfall } from "../../src/measure/rate-shortfall.ts";
import { makeWindow, tallyOf } from "./make-window.ts";

/** Schedules that were not kept. */

const rate = { askedPerSec: 100, isSync: false, laneCount: 4, sequenceCount: undefined };
const hundred = (ns: number): number[] => new Array<number>(100).fill(ns);

test("a schedule that was kept needs no word", () => {
  assert.equal(explainShortfall(makeWindow({ latenciesNs: hundred(1e6), scheduledNs: hundred(1e6) }), rate), undefined);
  // Two requests less are the window's edges.
  const edge = makeWindow({ latenciesNs: hundred(1e6).slice(2), scheduledNs: hundred(1e6).slice(2), delayedCount: 0 });
  assert.equal(explainShortfall(edge, rate), undefined);
});

test("it says what was asked for, what was sent, how late, and that lanes waited for answers", () => {
  const window = makeWindow({ latenciesNs: hundred(40e6), scheduledNs: hundred(90e6), delayedCount: 60 });
  const late = { ...window, sendDelay: tallyOf(hundred(50e6)) };
  const shortfall = explainShortfall(late, { ...rate, askedPerSec: 150, isSync: true });
  assert.equal(
    shortfall?.achieved,
    "100.0 requests/s were sent of the 150 asked for; 60.0 % of the requests were more than 1 ms late (p99 50 ms, at most 50 ms)",
  );
  assert.equal(shortfall?.cause, "4 lanes waited for their answers, which took 40 ms on average");
  assert.equal(shortfall?.bound, "lanes");
});

test("a busy client is named before anything else", () => {
  const window = makeWindow({ latenciesNs: hundred(1e6), delayedCount: 50, health: { cpuRatio: 0.99 } });
  assert.match(
    explainShortfall(window, rate)?.cause ?? "",
    /^the client was the limit: the client used 99 % of a core/,
  );
});

test("requests at given times have no rate to miss, but can be late", () => {
  const window = makeWindow({ latenciesNs: hundred(1e6), delayedCount: 5 });
  const shortfall = explainShortfall(window, { ...rate, askedPerSec: undefined });
  assert.match(
    shortfall?.achieved ?? "",
    /^100\.0 requests\/s were sent; 5\.0 % of the requests were more than 1 ms late$/,
  );
  assert.match(shortfall?.cause ?? "", /woken late/);
});

test("a limit of requests outstanding that was used up is named, not the client", () => {
  const window = makeWindow({ latenciesNs: hundred(20e6), delayedCount: 90 });
  const shortfall = explainShortfall(window, { ...rate, askedPerSec: 400, maxOutstanding: 2 });
  assert.equal(
    shortfall?.cause,
    "the 2 requests that may be outstanding waited for their answers, which took 20 ms on average",
  );
  assert.match(explainShortfall(window, { ...rate, askedPerSec: 400, maxOutstanding: 50 })?.cause ?? "", /woken late/);
});

test("sequences that wait for their answers are named, not the client", () => {
  const window = makeWindow({ latenciesNs: hundred(10e6), delayedCount: 90 });
  const shortfall = explainShortfall(window, { ...rate, askedPerSec: 400, sequenceCount: 1 });
  assert.equal(shortfall?.cause, "1 sequences waited for their answers, which took 10 ms on average");
  assert.equal(shortfall?.bound, "sequences");
});
