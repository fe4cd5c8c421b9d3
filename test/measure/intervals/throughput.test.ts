import assert from "node:assert/strict";
import { test } from "node:test";
import type { Interval } from "../../../src/measure/intervals/certainty.ts";
import { throughputInterval } from "../../../src/measure/intervals/throughput.ts";
import { addBins, wholeBins } from "../../../src/measure/intervals/time-bins.ts";
import { effectiveCountOf, type Sketch } from "../../../src/measure/sketch.ts";
import { sum } from "../../../src/plan/units.ts";
import { createRandom, type Random } from "../../../src/runtime/random.ts";
import { completionBins, completionsAt, sketchAt, sketchWithoutTimes, tallyOf } from "../make-window.ts";
import { drawLatencies, endsOf, MEAN_NS } from "./simulate.ts";

/** The interval of throughput contains the true rate, and the counts behind it lose no request. */

const MS = 1e6;
const toMs = (ms: number): number => ms * MS;

function intervalOf(times: readonly number[], startNs: number, endNs: number): Interval {
  const perSec = times.length / ((endNs - startNs) / 1e9);
  return throughputInterval({ completions: completionsAt(times, startNs, endNs) }, perSec, 1);
}

/** Poisson arrivals at 500 per second whose rate follows an AR(1) process of steps of 5 ms. @param depth of its variation */
function drawTimes(random: Random, correlation: number, depth: number, startNs: number, endNs: number): number[] {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  const times: number[] = [];
  let state = normal();
  const stepNs = 5 * MS;
  for (let fromNs = startNs; fromNs < endNs; fromNs += stepNs) {
    const perNs = (500 * Math.max(0, 1 + depth * state)) / 1e9;
    let at = fromNs - Math.log(1 - random()) / perNs;
    for (; at < fromNs + stepNs && at < endNs; at -= Math.log(1 - random()) / perNs) times.push(at);
    state = correlation * state + Math.sqrt(1 - correlation ** 2) * normal();
  }
  return times;
}

for (const [name, correlation, depth, seconds] of [
  ["Poisson", 0, 0, 4],
  ["correlated over 50 ms", 0.9, 0.3, 8],
  ["correlated over 250 ms", 0.98, 0.3, 20],
] as const)
  test(`intervals of 95 % contain the true rate, completions ${name}`, () => {
    const random = createRandom(11);
    const [startNs, endNs] = [123_456_789, 123_456_789 + seconds * 1e9];
    let covering = 0;
    let without = 0;
    const runs = 200;
    for (let run = 0; run < runs; run++) {
      const { low, high } = intervalOf(drawTimes(random, correlation, depth, startNs, endNs), startNs, endNs);
      // Without an interval nothing is claimed: the run was too short for its correlation.
      if ((low ?? 0) <= 500 && 500 <= (high ?? 500)) covering++;
      if (low === null) without++;
    }
    assert.ok(covering / runs >= 0.92 && covering / runs <= 0.995, String(covering / runs));
    assert.ok(without / runs < 0.05, `${without} of ${runs} have no interval`);
  });

for (const [name, correlation, batch, count] of [
  ["300 requests whose neighbours correlate by 0.99", 0.99, 1, 300],
  ["300 requests that take equally long in batches of 64", 0, 64, 300],
  ["100 requests whose neighbours correlate by 0.99", 0.99, 1, 100],
] as const)
  test(`a closed loop of ${name}: stretches of few completions hide no slow changes`, () => {
    const random = createRandom(13);
    const runs = 400;
    const covering = Array.from({ length: runs }, () => {
      const latencies = drawLatencies({ name, count, correlation, batch }, random);
      const startNs = 123_456_789;
      const endsNs = endsOf(latencies);
      const endNs = endsNs.at(-1) as number;
      const latency = sketchAt(latencies, endsNs, startNs, endNs);
      const completions = completionsAt(endsNs, startNs, endNs);
      const { low, high } = throughputInterval({ completions, latency }, count / ((endNs - startNs) / 1e9), 1);
      return (low ?? 0) <= 1e9 / MEAN_NS && 1e9 / MEAN_NS <= (high ?? Number.POSITIVE_INFINITY);
    }).filter(Boolean);
    // Before stretches were joined it was 0.67, 0.85 and 0.73.
    assert.ok(covering.length / runs >= 0.88, String(covering.length / runs));
  });

test("with few completions, latencies with an effective size of 1 leave throughput without an interval", () => {
  const counts = Array.from({ length: 32 }, (_, at) => 1 + (at % 2));
  const grown = tallyOf(Array.from({ length: 48 }, (_, at) => 1e6 * 2 ** (at / 4)));
  assert.ok(effectiveCountOf(grown) < 2);
  const few = (latency: Sketch) => throughputInterval({ completions: completionBins(1e6, counts), latency }, 1500, 1);
  assert.deepEqual(few(grown), { low: null, high: null });
  assert.ok(few(sketchWithoutTimes([1e6, 2e6])).low !== null);
  const many = completionBins(
    1e6,
    counts.map((one) => 4 * one),
  );
  assert.ok(throughputInterval({ completions: many, latency: grown }, 6000, 1).low !== null);
});

test("an even rate has a narrow interval around it, in inferences of the batch size", () => {
  const times = Array.from({ length: 4000 }, (_, at) => at * MS + 0.5 * MS);
  const completions = completionsAt(times, 0, 4000 * MS);
  const { low, high } = throughputInterval({ completions }, 8000, 8);
  assert.ok((low as number) <= 8000 && 8000 <= (high as number) && (high as number) - (low as number) < 1, `${low}`);
});

test("counts keep every request of whole stretches, for windows of any length and start", () => {
  for (const [startNs, lengthNs] of [
    [0, 100 * MS],
    [77_777, 20_000 * MS],
    [5e15 + 3, 3_333 * MS],
  ] as const) {
    const times = Array.from({ length: 1000 }, (_, index) => startNs + ((index + 0.5) / 1000) * lengthNs);
    const { binNs, counts } = wholeBins(completionsAt(times, startNs, startNs + lengthNs), MS);
    const fromNs = Math.ceil(startNs / binNs) * binNs;
    const whole = times.filter((atNs) => atNs >= fromNs && atNs < fromNs + counts.length * binNs);
    assert.equal(sum(counts), whole.length);
    assert.ok(counts.length > 60 && counts.length <= 128, String(counts.length));
  }
});

test("time that was not measured is not a stretch without requests", () => {
  const before = completionsAt([10, 20, 30, 40].map(toMs), 5 * MS, 50 * MS);
  const after = completionsAt([1010, 1020, 1030].map(toMs), 1005 * MS, 1040 * MS);
  const both = addBins([before, after], "sum");
  const { counts } = wholeBins(both as typeof before, MS);
  assert.ok(counts.length <= 80 / 8, `${counts.length} stretches of 8 ms`);
  assert.ok(
    throughputInterval({ completions: both }, 7 / 0.08, 1).low === null,
    "80 ms of 8 ms each are too few stretches",
  );
});

test("a short measurement, and one without requests, has no interval", () => {
  const none = { low: null, high: null };
  assert.deepEqual(intervalOf([1, 2, 3], 0, 15 * MS), none);
  assert.deepEqual(intervalOf([], 0, 1e9), none);
  assert.deepEqual(throughputInterval({}, 5, 1), none);
});
