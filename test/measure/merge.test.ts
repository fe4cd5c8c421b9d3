import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import type { GpuReading } from "../../src/measure/gpu-tally.ts";
import { addGpuReading, NO_GPU_READINGS } from "../../src/measure/gpu-tally.ts";
import { throughputInterval } from "../../src/measure/intervals/throughput.ts";
import { errorRatioInterval } from "../../src/measure/limits/ratio-interval.ts";
import { latencyOf, type Measurement } from "../../src/measure/measurement.ts";
import { joinParallel, mergeInTime } from "../../src/measure/merge.ts";
import { inferPerSec } from "../../src/measure/metrics.ts";
import { sumOpenRequests } from "../../src/measure/open-requests.ts";
import { RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import {
  countAbove,
  deviationOf,
  effectiveCountAt,
  effectiveCountOf,
  lowestMeanOf,
  percentileUs,
  type Sketch,
} from "../../src/measure/sketch.ts";
import { toMeasurement, WindowTally } from "../../src/measure/tally/window-tally.ts";
import { createRandom } from "../../src/runtime/random.ts";
import { fill, type Row } from "./make-records.ts";
import { makeDelta, makeWindow } from "./make-window.ts";

/** A load that is measured in parts, one after the other or at the same time, and joined gives the numbers of the load that is measured whole. */

interface Request extends Row {
  /** Extracted from its answer. */
  readonly length: number;
}

const START_NS = 1_234_567_891;
const LANES = 1200;

/** Requests of a server that slows down and fails in clusters, in the order of their ends. */
function drawLoad(seed: number, count: number, meanGapNs: number): Request[] {
  const random = createRandom(seed);
  const exponential = (meanNs: number): number => -meanNs * Math.log(1 - random());
  let atNs = START_NS;
  let slow = 1;
  let isFailing = false;
  return Array.from({ length: count }, (): Request => {
    atNs = Math.round(atNs + exponential(meanGapNs));
    if (random() < 0.02) slow = 1 + 3 * random();
    if (random() < 0.05) isFailing = !isFailing && random() < 0.3;
    const tookNs = Math.round(1e6 * slow + exponential(2e6));
    const sendStartNs = atNs - tookNs;
    return {
      ...{ sendStartNs, endNs: atNs, sendEndNs: sendStartNs + 1000, firstByteNs: atNs - Math.round(tookNs / 3) },
      intendedSendNs: sendStartNs - Math.round(exponential(1e5)),
      decodeNs: 500,
      flags: isFailing ? RECORD_FAILED : 0,
      length: Math.round(100 * random()),
    };
  });
}

const watts = (value: number): GpuReading => ({ powerWatts: new Map([["gpu", value]]) });

/** Measures the requests of a load that end in a window. @param lanes those that send them */
function measure(requests: readonly Request[], startNs: number, endNs: number, lanes = LANES): Measurement {
  const options = { isScheduled: true, countsReading: false, isDecoupled: true, extractedNames: ["length"] };
  const tally = new WindowTally(options);
  const records = new RecordColumns((columns, count) => tally.add(columns, count));
  for (const request of requests) {
    if (request.endNs <= startNs || request.endNs > endNs) continue;
    fill(records, request);
    if (request.flags === 0) tally.extracted?.add([request.length], request.endNs);
  }
  records.drain();
  const openAt = (atNs: number) =>
    sumOpenRequests(
      requests.filter((one) => one.sendStartNs <= atNs && one.endNs > atNs).map(({ sendStartNs }) => sendStartNs),
      atNs,
    );
  const health = { cpuRatio: 0.25, loopLagMaxNs: 5, loopLagMeanNs: 1, coreWaitRatio: 0.1 };
  return toMeasurement(tally, {
    ...{ startNs, endNs, laneCount: lanes, canLanesWait: true, health },
    sentCount: requests.filter((one) => one.sendStartNs > startNs && one.sendStartNs <= endNs).length,
    openBefore: openAt(startNs),
    openAfter: openAt(endNs),
    server: makeDelta(requests.length),
    gpu: addGpuReading(NO_GPU_READINGS, watts(100)),
  });
}

/** Divides a load at random, so that parts have very different shares. */
function divide(requests: readonly Request[], parts: number, seed: number): Request[][] {
  const random = createRandom(seed);
  const divided = Array.from({ length: parts }, (): Request[] => []);
  for (const request of requests) divided[Math.floor(parts * random() ** 3)]?.push(request);
  return divided;
}

function assertClose(found: number, expected: number, ratio: number, name: string): void {
  const isEqual = Object.is(found, expected) || Math.abs(found - expected) <= ratio * Math.abs(expected);
  assert.ok(isEqual, `${name}: ${found} instead of ${expected}`);
}

function assertSameSketch(found: Sketch, expected: Sketch, name: string): void {
  assert.deepEqual(
    [found.count, found.min, found.max, found.values, found.upTo, found.bins?.counts, found.bins?.histogram],
    [
      expected.count,
      expected.min,
      expected.max,
      expected.values,
      expected.upTo,
      expected.bins?.counts,
      expected.bins?.histogram,
    ],
    name,
  );
  assertClose(found.mean * found.count, expected.mean * expected.count, 1e-12, `${name}: sum`);
  assertClose(deviationOf(found) ?? 0, deviationOf(expected) ?? 0, 1e-9, `${name}: deviation`);
  for (const percentile of [1, 50, 90, 99]) {
    if (expected.count === 0) continue;
    assert.equal(percentileUs(found, percentile), percentileUs(expected, percentile), `${name}: p${percentile}`);
    const [one, other] = [found, expected].map((sketch) => effectiveCountAt(sketch, percentile));
    assertClose(one as number, other as number, 0.01, `${name}: worth for p${percentile}`);
  }
  assertClose(effectiveCountOf(found), effectiveCountOf(expected), 0.01, `${name}: worth`);
  const [above, all] = [found, expected].map((sketch) => countAbove(sketch, 3e6, true));
  assert.equal(above?.aboveCount, all?.aboveCount);
  assertClose(above?.effectiveCount ?? 0, all?.effectiveCount ?? 0, 0.01, `${name}: worth above`);
  assertClose(lowestMeanOf(found) ?? 0, lowestMeanOf(expected) ?? 0, 1e-6, `${name}: lowest mean`);
}

const COUNTS = [
  ...(["requestCount", "failedCount", "cancelledCount", "delayedCount", "sentCount", "responseCount"] as const),
  ...(["openBeforeCount", "openAfterCount", "sequenceCount", "startNs", "endNs", "durationNs"] as const),
] as const;

/** Asserts that two measurements of the same load are the same. */
function assertSame(found: Measurement, expected: Measurement): void {
  for (const name of COUNTS) assert.equal(found[name], expected[name], name);
  for (const name of ["inFlightSumNs", "sendMeanNs", "receiveMeanNs", "sendingNs", "laneNs"] as const)
    assertClose(found[name], expected[name], 1e-12, name);
  assertClose(found.overheadPct, expected.overheadPct, 1e-4, "overhead");
  for (const of of ["latency", "firstResponse", "scheduledLatency"] as const)
    assertSameSketch(latencyOf(found, of), latencyOf(expected, of), of);
  assertSameSketch(found.sendDelay as Sketch, expected.sendDelay as Sketch, "sendDelay");
  const [numbers, wholeNumbers] = [found, expected].map(({ extracted }) => extracted?.[0]?.numbers as Sketch);
  assertSameSketch(numbers as Sketch, wholeNumbers as Sketch, "extracted");
  assert.deepEqual(found.completions, expected.completions);
  const [rate, wholeRate] = [found, expected].map((one) => throughputInterval(one, inferPerSec(one, 1), 1));
  assert.deepEqual([rate?.low === null, rate?.high === null], [wholeRate?.low === null, wholeRate?.high === null]);
  assertClose(rate?.low ?? 0, wholeRate?.low ?? 0, 0.01, "low throughput");
  assertClose(rate?.high ?? 0, wholeRate?.high ?? 0, 0.01, "high throughput");
  const [errors, wholeErrors] = [found, expected].map((one) => errorRatioInterval(one));
  assertClose(errors?.low ?? 0, wholeErrors?.low ?? 0, 0.01, "low error rate");
  assertClose(errors?.high ?? 1, wholeErrors?.high ?? 1, 0.01, "high error rate");
}

const load = fc.record({
  seed: fc.integer({ min: 1, max: 1e6 }),
  count: fc.oneof(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 31, max: 2000 })),
  meanGapNs: fc.constantFrom(2e4, 1e6, 3e7),
});

describe("a load in parallel parts", () => {
  test("joined is the load as it is measured whole", () => {
    fc.assert(
      fc.property(load, fc.integer({ min: 1, max: 6 }), ({ seed, count, meanGapNs }, parts) => {
        const requests = drawLoad(seed, count, meanGapNs);
        const endNs = (requests.at(-1)?.endNs ?? START_NS) + 1e6;
        const measured = divide(requests, parts, seed).map((part) => measure(part, START_NS, endNs, LANES / parts));
        assertSame(joinParallel(measured), measure(requests, START_NS, endNs));
      }),
      { numRuns: 30 },
    );
  });

  test("may be joined in any order and any grouping, also in windows", () => {
    fc.assert(
      fc.property(load, ({ seed, count, meanGapNs }) => {
        const requests = drawLoad(seed, count, meanGapNs);
        const endNs = (requests.at(-1)?.endNs ?? START_NS) + 1e6;
        const middleNs = Math.round((START_NS + endNs) / 2);
        const windowsOf = (part: readonly Request[]) => [
          measure(part, START_NS, middleNs, LANES / 3),
          measure(part, middleNs, endNs, LANES / 3),
        ];
        const parts = divide(requests, 3, seed).map(windowsOf);
        const [a, b, c] = parts.map(mergeInTime) as [Measurement, Measurement, Measurement];
        const all = joinParallel([a, b, c]);
        assertSame(joinParallel([c, a, b]), all);
        assertSame(joinParallel([joinParallel([a, b]), c]), all);
        assertSame(joinParallel([a, joinParallel([b, c])]), all);
        assertSame(
          mergeInTime([0, 1].map((window) => joinParallel(parts.map((one) => one[window] as Measurement)))),
          all,
        );
        assertSame(all, { ...measure(requests, START_NS, endNs), overheadPct: all.overheadPct });
      }),
      { numRuns: 12 },
    );
  });

  test("with other rates are no load that jumps, and their servers, health and readings are those of all", () => {
    const every = (gapNs: number): Request[] =>
      drawLoad(3, Math.floor(1e10 / gapNs), gapNs).map((request) => ({ ...request, flags: 0 }));
    const endNs = START_NS + 1e10;
    const [slow, fast] = [measure(every(1e8), START_NS, endNs), measure(every(1.1e7), START_NS, endNs)];
    const both = joinParallel([
      { ...slow, health: { cpuRatio: 0.9, loopLagMaxNs: 1, loopLagMeanNs: 2 } },
      { ...fast, memberServers: { b: makeDelta(5) } },
    ]);
    const { low, high } = throughputInterval(both, inferPerSec(both, 1), 1);
    assert.ok(low !== null && high !== null && high - low < 0.25 * inferPerSec(both, 1), `${low} to ${high}`);
    assert.deepEqual(both.health, { cpuRatio: 0.9, loopLagMaxNs: 5, loopLagMeanNs: 2, coreWaitRatio: 0.1 });
    assert.equal(both.server?.successCount, every(1e8).length + every(1.1e7).length);
    assert.deepEqual([both.memberServers?.["b"]?.successCount, both.gpu?.count], [5, 2]);
  });

  test("have the groups of all, by their tags, and the servers of the members that each used", () => {
    const groupOf = (size: string, count: number) => ({
      tags: { target: "m", size },
      window: makeWindow({ latenciesNs: new Array<number>(count).fill(1e6) }),
    });
    const both = joinParallel([
      { ...makeWindow(), groups: [groupOf("a", 2), groupOf("b", 1)], memberServers: { m: makeDelta(3) } },
      { ...makeWindow(), groups: [groupOf("b", 5)], memberServers: { m: makeDelta(5), n: makeDelta(1) } },
    ]);
    assert.deepEqual(
      both.groups?.map(({ tags, window }) => [tags["size"], window.requestCount, window.durationNs]),
      [
        ["a", 2, 1e9],
        ["b", 6, 1e9],
      ],
    );
    const servers = Object.entries(both.memberServers ?? {}).map(([name, server]) => [name, server.successCount]);
    assert.deepEqual(servers, [
      ["m", 8],
      ["n", 1],
    ]);
  });

  test("keep what only some of them have: a schedule, and several responses", () => {
    const [plain, streamed] = [
      makeWindow({ latenciesNs: [2e6] }),
      makeWindow({ latenciesNs: [9e6], firstResponseNs: [1e6], scheduledNs: [10e6] }),
    ];
    const both = joinParallel([plain, streamed]);
    assert.deepEqual([both.isScheduled, both.isDecoupled, both.sendDelay?.count], [true, true, 0]);
    assert.deepEqual([both.firstResponse?.min, both.firstResponse?.max], [1e6, 2e6]);
    assert.deepEqual([both.scheduledLatency?.min, both.scheduledLatency?.max], [2e6, 10e6]);
  });
});

describe("windows one after the other", () => {
  test("merged are the window as it is measured in one, in any grouping", () => {
    fc.assert(
      fc.property(load, fc.integer({ min: 2, max: 7 }), ({ seed, count, meanGapNs }, parts) => {
        const requests = drawLoad(seed, count, meanGapNs);
        const endNs = (requests.at(-1)?.endNs ?? START_NS) + 1e6;
        const cuts = Array.from({ length: parts + 1 }, (_, at) =>
          Math.round(START_NS + ((endNs - START_NS) * at) / parts),
        );
        const windows = cuts.slice(1).map((cutNs, at) => measure(requests, cuts[at] as number, cutNs));
        const whole = measure(requests, START_NS, endNs);
        const merged = mergeInTime(windows);
        assert.equal(merged.windowCount, parts);
        // The overhead is the average of the windows, like perf_analyzer's: idle time of one window is not made up for by another.
        assertSame(merged, { ...whole, overheadPct: merged.overheadPct });
        const [first, ...others] = windows as [Measurement, ...Measurement[]];
        assertSame(mergeInTime([first, mergeInTime(others)]), merged);
        assertSame(mergeInTime([mergeInTime(windows.slice(0, -1)), windows.at(-1) as Measurement]), merged);
      }),
      { numRuns: 30 },
    );
  });

  test("counts add up, rates are over the whole length", () => {
    const windows = [
      makeWindow({ latenciesNs: [1e6], sendMeanNs: 100, overheadPct: 1, server: makeDelta(1) }),
      makeWindow({
        ...{ startNs: 1e9, durationNs: 2e9, latenciesNs: [2e6, 3e6], failedCount: 2 },
        ...{ sendMeanNs: 400, overheadPct: 2, server: makeDelta(2) },
      }),
      makeWindow({
        ...{ startNs: 3e9, latenciesNs: [4e6, 5e6, 6e6], delayedCount: 3, sentCount: 9 },
        ...{ sendMeanNs: 700, overheadPct: 6, server: makeDelta(3) },
      }),
    ];
    const merged = mergeInTime(windows);
    assert.deepEqual([merged.startNs, merged.endNs, merged.durationNs], [0, 4e9, 4e9]);
    assert.deepEqual([merged.requestCount, merged.failedCount, merged.delayedCount, merged.sentCount], [6, 2, 3, 12]);
    assert.deepEqual([merged.latency.count, merged.latency.min, merged.latency.max], [6, 1e6, 6e6]);
    assert.equal("scheduledLatency" in merged, false);
    assert.equal(merged.sendMeanNs, (100 + 2 * 400 + 3 * 700) / 6);
    assert.equal(merged.overheadPct, 3);
    assert.deepEqual(merged.server, makeDelta(6));
    assert.equal(inferPerSec(merged, 1), 1.5);
  });

  test("have no server times when one lacks them, and the average health", () => {
    const merged = mergeInTime([
      makeWindow({ server: makeDelta(1), health: { coreWaitRatio: 0.5 } }),
      makeWindow({ startNs: 1e9, health: { loopLagMaxNs: 5, cpuRatio: 0.5 } }),
    ]);
    assert.equal("server" in merged, false);
    assert.deepEqual(merged.health, { cpuRatio: 0.3, loopLagMaxNs: 5, loopLagMeanNs: 0 });
  });
});

test("there is nothing to merge without a window", () => {
  assert.throws(() => mergeInTime([]), /no windows/);
  assert.throws(() => joinParallel([]), /no windows/);
});

test("what was joined is plain data too", () => {
  const requests = drawLoad(7, 500, 1e6);
  const middleNs = requests[250]?.endNs as number;
  const [window, later] = [measure(requests, START_NS, middleNs), measure(requests, middleNs, middleNs + 1e9)];
  const groups = [{ tags: { size: "a" }, window }];
  const grouped = [
    { ...window, groups },
    { ...later, groups, memberServers: { a: makeDelta(1) } },
  ];
  for (const one of [mergeInTime(grouped), joinParallel(grouped), mergeInTime([later])]) {
    assert.deepEqual(structuredClone(one), one);
    assert.deepEqual(JSON.parse(JSON.stringify(one)), one);
  }
});
