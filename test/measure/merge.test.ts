import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import * as fc from "fast-check";
import { inferPerSec } from "../../src/measure/derived-values.ts";
import { addReading, type GaugeReading, NO_READINGS } from "../../src/measure/gauge-readings.ts";
import { errorRatioInterval } from "../../src/measure/intervals/ratio-interval.ts";
import { throughputInterval } from "../../src/measure/intervals/throughput.ts";
import type { Measurement } from "../../src/measure/measurement.ts";
import { joinParallel, mergeInTime } from "../../src/measure/merge.ts";
import {
  RECORD_CANCELLED,
  RECORD_DELAYED,
  RECORD_FAILED,
  RECORD_RESENT,
  RECORD_SEQUENCE_END,
  RecordColumns,
} from "../../src/measure/records.ts";
import {
  countAbove,
  deviationOf,
  EMPTY_SKETCH,
  effectiveCountAt,
  effectiveCountOf,
  lowestMeanOf,
  type Sketch,
} from "../../src/measure/sketch.ts";
import { sumOpenRequests, toMeasurement, WindowTally } from "../../src/measure/tally/window-tally.ts";
import type { TokenMetric } from "../../src/measure/tokens/metrics.ts";
import { TokenTally } from "../../src/measure/tokens/token-tally.ts";
import { createRandom } from "../../src/runtime/random.ts";
import { fill, type Row } from "./make-records.ts";
import { makeDelta, makeWindow } from "./make-window.ts";

/** A load that is measured in parts, one after the other or at the same time, and joined gives the numbers of the load that is measured whole. */

interface Request extends Row {
  /** Extracted from its response. */
  readonly length: number;
  readonly flags: number;
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
    const more = (random() < 0.1 ? RECORD_RESENT : 0) | (random() < 0.1 ? RECORD_DELAYED : 0);
    const good = random() < 0.1 ? RECORD_SEQUENCE_END : 0;
    const bad = RECORD_FAILED | (random() < 0.1 ? RECORD_CANCELLED : 0);
    const tookNs = Math.round(1e6 * slow + exponential(2e6));
    const sendStartNs = atNs - tookNs;
    return {
      ...{ sendStartNs, endNs: atNs, sendEndNs: sendStartNs + 1000, firstByteNs: atNs - Math.round(tookNs / 3) },
      intendedSendNs: sendStartNs - Math.round(exponential(1e5)),
      decodeNs: 500,
      flags: more | (isFailing ? bad : good),
      length: Math.round(100 * random()),
    };
  });
}

const watts = (value: number): GaugeReading => ({ gpuPowerWatts: new Map([["gpu", value]]) });

/** What a part of a load sees. */
interface Sight {
  /** Lanes that send its requests. Default: those of the load. */
  readonly lanes?: number;
  /** What the server got, whoever sent it. Default: the requests of the part. */
  readonly served?: readonly Request[];
  /** Default: 1 */
  readonly windowNumber?: number;
  /** Default: both are read. */
  readonly readsServer?: boolean;
  readonly readsGpu?: boolean;
  /** Default: by size. */
  readonly hasGroups?: boolean;
}

/** Measures the requests of a load that end in a window. */
function measure(requests: readonly Request[], startNs: number, endNs: number, sight: Sight = {}): Measurement {
  const {
    lanes = LANES,
    served = requests,
    windowNumber = 1,
    readsServer = true,
    readsGpu = true,
    hasGroups = true,
  } = sight;
  const options = { isScheduled: true, countsReading: false, isDecoupled: true, isStreamed: true };
  const extracted = [{ name: "length" }, { name: "text" }];
  const tally = new WindowTally({ ...options, extracted, goodputs: [{ latency: 3e6 }, { scheduledLatency: 5e6 }] });
  const tokens = new TokenTally([{ latency: 3e6 }]);
  const records = new RecordColumns((columns, count) => tally.add(columns, count));
  const isEnded = ({ endNs: atNs }: Request): boolean => atNs > startNs && atNs <= endNs;
  for (const request of requests.filter(isEnded)) {
    fill(records, request);
    if ((request.flags & RECORD_FAILED) !== 0) {
      tokens.addFailures(1);
      continue;
    }
    tally.extracted?.add([request.length, `text ${request.length}`], request.endNs);
    tokens.addPlain(request.sendStartNs, request.endNs - request.sendStartNs);
  }
  records.drain();
  const openAt = (atNs: number) =>
    sumOpenRequests(
      requests.filter((one) => one.sendStartNs <= atNs && one.endNs > atNs).map(({ sendStartNs }) => sendStartNs),
      atNs,
    );
  const health = { cpuRatio: 0.25, loopLagMaxNs: 5, loopLagMeanNs: 1, loopLagP99Ns: 3, coreWaitRatio: 0.1 };
  const servedCount = served.filter(isEnded).length;
  const delta = makeDelta(servedCount, { composing: [makeDelta(2 * servedCount, { name: "called" })] });
  const readings = served.filter((one, at) => at % 100 === 0 && isEnded(one));
  const window = toMeasurement(tally, {
    ...{ startNs, endNs, laneCount: lanes, canLanesWait: true, health },
    sentCount: requests.filter((one) => one.sendStartNs > startNs && one.sendStartNs <= endNs).length,
    openBefore: openAt(startNs),
    openAfter: openAt(endNs),
    ...(readsServer ? { server: delta } : {}),
    ...(readsGpu
      ? { gauges: readings.reduce((all, { length, endNs: atNs }) => addReading(all, watts(length), atNs), NO_READINGS) }
      : {}),
  });
  const groups = (hasGroups ? [0, 1] : []).map((parity) => ({
    tags: { parity: String(parity) },
    window: measure(
      requests.filter(({ length }) => length % 2 === parity),
      ...([startNs, endNs] as const),
      { ...sight, served, hasGroups: false },
    ),
  }));
  return {
    ...window,
    numbers: { first: windowNumber, last: windowNumber },
    tokens: tokens.cut({ startNs, endNs }),
    ...(readsServer ? { memberServers: { m: delta } } : {}),
    ...(hasGroups ? { groups } : {}),
  };
}

/** Measures parts of a load that run at the same time. They load one server; the second part does not read it, and only the last reads the GPU. */
function measureParts(
  parts: readonly (readonly Request[])[],
  served: readonly Request[],
  startNs: number,
  endNs: number,
): Measurement[] {
  return parts.map((part, at) =>
    measure(part, startNs, endNs, {
      ...{ lanes: LANES / parts.length, served },
      ...{ readsServer: at !== 1, readsGpu: at === parts.length - 1 },
    }),
  );
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

function assertSameValues(found: Sketch, expected: Sketch, name: string): void {
  for (const field of ["count", "min", "max", "step", "digits", "values", "upTo"] as const)
    assert.deepEqual(found[field], expected[field], `${name}: ${field}`);
  assertClose(found.mean * found.count, expected.mean * expected.count, 1e-12, `${name}: sum`);
  assertClose(deviationOf(found) ?? 0, deviationOf(expected) ?? 0, 1e-9, `${name}: deviation`);
}

function assertSameSketch(found: Sketch, expected: Sketch, name: string): void {
  assertSameValues(found, expected, name);
  assert.deepEqual(found.bins?.counts, expected.bins?.counts, name);
  assert.deepEqual(found.bins?.histogram, expected.bins?.histogram, name);
  for (const percentile of [1, 50, 90, 99]) {
    if (expected.count === 0) continue;
    const [one, other] = [found, expected].map((sketch) => effectiveCountAt(sketch, percentile));
    assertClose(one as number, other as number, 0.01, `${name}: worth for p${percentile}`);
  }
  assertClose(effectiveCountOf(found), effectiveCountOf(expected), 0.01, `${name}: worth`);
  const [above, all] = [found, expected].map((sketch) => countAbove(sketch, 3e6, true));
  assert.equal(above?.aboveCount, all?.aboveCount);
  assertClose(above?.effectiveCount ?? 0, all?.effectiveCount ?? 0, 0.01, `${name}: worth above`);
  assertClose(lowestMeanOf(found) ?? 0, lowestMeanOf(expected) ?? 0, 1e-6, `${name}: lowest mean`);
}

/** Asserts that plain data is the same, numbers to 1e-12. */
function assertNear(found: unknown, expected: unknown, name: string): void {
  if (typeof found === "number" && typeof expected === "number") assertClose(found, expected, 1e-12, name);
  else if (typeof found === "object" && typeof expected === "object" && found !== null && expected !== null) {
    assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort(), name);
    for (const [key, value] of Object.entries(expected))
      assertNear((found as Readonly<Record<string, unknown>>)[key], value, `${name}.${key}`);
  } else assert.equal(found, expected, name);
}

/** How fields are compared that are not the same to 1e-12. */
const COMPARE: { readonly [K in keyof Measurement]?: (found: Measurement, expected: Measurement) => void } = {
  overheadPct: (found, expected) => assertClose(found.overheadPct, expected.overheadPct, 1e-4, "overhead"),
  completions: (found, expected) => assert.deepEqual(found.completions, expected.completions),
  extracted: ({ extracted: found = [] }, { extracted: expected = [] }) => {
    for (const [at, { numbers, ...rest }] of expected.entries()) {
      const { numbers: foundNumbers, ...foundRest } = found[at] ?? assert.fail();
      assertSameSketch(foundNumbers, numbers, "extracted");
      assert.deepEqual(foundRest, rest);
    }
  },
  tokens: (found, expected) => {
    const { metrics, good, ...rest } = expected.tokens ?? assert.fail();
    const { metrics: foundMetrics, good: foundGood, ...foundRest } = found.tokens ?? assert.fail();
    assert.deepEqual(foundRest, rest);
    // A window without a value of a metric has no bins for it, so those of the joined windows may begin later or end earlier.
    for (const [metric, sketch] of Object.entries(metrics))
      assertSameValues(foundMetrics[metric as TokenMetric] ?? EMPTY_SKETCH, sketch, metric);
    for (const [at, { limits, sample }] of good.entries()) {
      assert.deepEqual(foundGood[at]?.limits, limits);
      assertSameValues(foundGood[at]?.sample ?? EMPTY_SKETCH, sample, "good");
    }
  },
  good: ({ good: found = [] }, { good: expected = [] }) => {
    for (const [at, { limits, sample }] of expected.entries()) {
      assert.deepEqual(found[at]?.limits, limits);
      assertSameSketch(found[at]?.sample ?? EMPTY_SKETCH, sample, "good");
    }
  },
  groups: ({ groups: found = [] }, { groups: expected = [] }) => {
    assert.equal(found.length, expected.length);
    for (const { tags, window } of expected) {
      const same = found.find((one) => isDeepStrictEqual(one.tags, tags));
      assertSame(same?.window ?? assert.fail(), window);
    }
  },
};

/** Asserts that two measurements of the same load are the same, in every field. */
function assertSame(found: Measurement, expected: Measurement): void {
  assert.deepEqual(Object.keys(found).sort(), Object.keys(expected).sort());
  for (const name of Object.keys(expected) as (keyof Measurement)[]) {
    const [one, other] = [found[name], expected[name]];
    const compare = COMPARE[name];
    if (compare !== undefined) compare(found, expected);
    else if (isSketch(one) && isSketch(other)) assertSameSketch(one, other, name);
    else assertNear(one, other, name);
  }
  const [rate, wholeRate] = [found, expected].map((one) => throughputInterval(one, inferPerSec(one, 1), 1));
  assert.deepEqual([rate?.low === null, rate?.high === null], [wholeRate?.low === null, wholeRate?.high === null]);
  assertClose(rate?.low ?? 0, wholeRate?.low ?? 0, 0.01, "low throughput");
  assertClose(rate?.high ?? 0, wholeRate?.high ?? 0, 0.01, "high throughput");
  const [errors, wholeErrors] = [found, expected].map((one) => errorRatioInterval(one));
  assertClose(errors?.low ?? 0, wholeErrors?.low ?? 0, 0.01, "low error rate");
  assertClose(errors?.high ?? 1, wholeErrors?.high ?? 1, 0.01, "high error rate");
}

/** Asserts that a measurement comes back equal from another thread, and from JSON. */
function assertPlain(measurement: Measurement): void {
  assert.deepEqual(structuredClone(measurement), measurement);
  assert.deepEqual(JSON.parse(JSON.stringify(measurement)), measurement);
}

function isSketch(value: unknown): value is Sketch {
  return typeof value === "object" && value !== null && "upTo" in value;
}

/**
 * Returns a whole as merged windows have it: with their number, and with the mean of their overheads like perf_analyzer's, because idle time
 * of one window is not made up for by another.
 */
function asWindows(whole: Measurement, merged: Measurement): Measurement {
  const { windowCount, overheadPct, numbers } = merged;
  const groups = whole.groups?.map(({ tags, window }, at) => ({
    tags,
    window: asWindows(window, merged.groups?.[at]?.window ?? assert.fail()),
  }));
  const more = { ...(numbers === undefined ? {} : { numbers }), ...(groups === undefined ? {} : { groups }) };
  return { ...whole, windowCount, overheadPct, ...more };
}

/** Returns when nine of ten requests have ended: some of the others are in flight then. */
function nearlyAll(requests: readonly Request[]): number {
  return (requests[Math.floor(0.9 * requests.length)]?.endNs ?? START_NS) + 1e6;
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
        const endNs = nearlyAll(requests);
        const measured = measureParts(divide(requests, parts, seed), requests, START_NS, endNs);
        const joined = joinParallel(measured);
        assertSame(joined, measure(requests, START_NS, endNs));
        assertPlain(joined);
      }),
      { numRuns: 30 },
    );
  });

  test("may be joined in any order and any grouping, also in windows", () => {
    fc.assert(
      fc.property(load, ({ seed, count, meanGapNs }) => {
        const requests = drawLoad(seed, count, meanGapNs);
        const endNs = nearlyAll(requests);
        const middleNs = Math.round((START_NS + endNs) / 2);
        const divided = divide(requests, 3, seed);
        const windows = [
          measureParts(divided, requests, START_NS, middleNs),
          measureParts(divided, requests, middleNs, endNs),
        ] as const;
        const parts = divided.map((_, at) => windows.map((window) => window[at] as Measurement));
        const [a, b, c] = parts.map(mergeInTime) as [Measurement, Measurement, Measurement];
        const all = joinParallel([a, b, c]);
        assertSame(joinParallel([c, a, b]), all);
        assertSame(joinParallel([joinParallel([a, b]), c]), all);
        assertSame(joinParallel([a, joinParallel([b, c])]), all);
        assertSame(mergeInTime(windows.map(joinParallel)), all);
        assertSame(all, asWindows(measure(requests, START_NS, endNs), all));
      }),
      { numRuns: 12 },
    );
  });

  test("with other rates are not taken for a load that jumps, and their health is the worst of all", () => {
    const every = (gapNs: number): Request[] =>
      drawLoad(3, Math.floor(1e10 / gapNs), gapNs).map((request) => ({ ...request, flags: 0 }));
    const endNs = START_NS + 1e10;
    const [slow, fast] = [measure(every(1e8), START_NS, endNs), measure(every(1.1e7), START_NS, endNs)];
    const both = joinParallel([{ ...slow, health: { cpuRatio: 0.9, loopLagMaxNs: 1, loopLagMeanNs: 2 } }, fast]);
    const { low, high } = throughputInterval(both, inferPerSec(both, 1), 1);
    assert.ok(low !== null && high !== null && high - low < 0.25 * inferPerSec(both, 1), `${low} to ${high}`);
    const { cpuRatio, loopLagMaxNs, loopLagMeanNs, coreWaitRatio } = both.health;
    assert.deepEqual([cpuRatio, loopLagMaxNs, loopLagMeanNs, coreWaitRatio], [0.9, 5, 2, 0.1]);
  });

  test("have the groups of all, by their tags, and the servers of all members, each once", () => {
    const groupOf = (size: string, count: number, isTurned = false) => ({
      tags: isTurned ? { size, target: "m" } : { target: "m", size },
      window: makeWindow({ latenciesNs: new Array<number>(count).fill(1e6) }),
    });
    const both = joinParallel([
      { ...makeWindow(), groups: [groupOf("a", 2), groupOf("b", 1)], memberServers: { m: makeDelta(3) } },
      { ...makeWindow(), groups: [groupOf("b", 5, true)], memberServers: { m: makeDelta(5), n: makeDelta(1) } },
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
      ["m", 5],
      ["n", 1],
    ]);
  });

  test("count as measured only while all of them were", () => {
    const requests = drawLoad(5, 1000, 1e6);
    const [lateNs, endNs] = [START_NS + 3e8, START_NS + 8e8];
    const parts = [measure(requests, START_NS, endNs), measure(requests, lateNs, endNs)];
    const { binNs, first, coveredNs } = joinParallel(parts).completions ?? assert.fail();
    for (const [at, covered] of coveredNs.entries()) {
      const [from, to] = [(first + at) * binNs, (first + at + 1) * binNs];
      assert.equal(covered, Math.max(0, Math.min(to, endNs) - Math.max(from, lateNs)));
    }
  });

  test("have the readings of one page, whoever read it first and last, and no gaps of their own", () => {
    const readings = (...values: [number, number][]) =>
      values.reduce((all, [value, atNs]) => addReading(all, watts(value), atNs), NO_READINGS);
    const gaps = [{ startNs: 1, endNs: 2, typicalNs: 1 }];
    const [long, short] = [readings([10, 0], [30, 9e8]), readings([20, 4e8], [25, 5e8])];
    const both = joinParallel([long, short].map((gauges) => ({ ...makeWindow(), gauges, gaps })));
    const { count, mean, firstNs, lastNs } = both.gauges?.series["gpuPowerWatts"]?.["gpu"] ?? assert.fail();
    assert.deepEqual([count, mean, firstNs, lastNs], [4, 21.25, 0, 9e8]);
    assert.equal("gaps" in both, false);
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

describe("times in which nothing ended", () => {
  const gap = (startMs: number, endMs: number, typicalMs = 10) => ({
    startNs: startMs * 1e6,
    endNs: endMs * 1e6,
    typicalNs: typicalMs * 1e6,
  });
  const one = makeWindow({ gaps: [gap(1000, 4000), gap(6000, 9000)] });
  const other = makeWindow({ gaps: [gap(2000, 7000, 40)] });

  test("are those of all windows, in their order", () => {
    assert.deepEqual(mergeInTime([other, makeWindow(), one]).gaps, [
      gap(1000, 4000),
      gap(2000, 7000, 40),
      gap(6000, 9000),
    ]);
  });
});

test("responses are streamed when all of those are whose tokens are measured", () => {
  const tokens = new TokenTally().cut();
  const [streamed, whole] = [true, false].map((isStreamed) => makeWindow({ tokens, isStreamed }));
  const none = makeWindow({ isStreamed: false });
  assert.ok(streamed !== undefined && whole !== undefined);
  assert.deepEqual(
    [
      [none, streamed],
      [streamed, whole],
      [none, joinParallel([streamed, whole])],
      [none, none],
    ].map((parts) => joinParallel(parts).isStreamed),
    [true, false, false, false],
  );
});

describe("windows one after the other", () => {
  test("merged are the window as it is measured in one, in any grouping", () => {
    fc.assert(
      fc.property(load, fc.integer({ min: 2, max: 7 }), ({ seed, count, meanGapNs }, parts) => {
        const requests = drawLoad(seed, count, meanGapNs);
        const endNs = nearlyAll(requests);
        // Of different lengths, so that their bins are too.
        const cuts = Array.from({ length: parts + 1 }, (_, at) =>
          Math.round(START_NS + (endNs - START_NS) * (at / parts) ** 3),
        );
        const windows = cuts
          .slice(1)
          .map((cutNs, at) => measure(requests, cuts[at] as number, cutNs, { windowNumber: at + 1 }));
        const whole = measure(requests, START_NS, endNs);
        const merged = mergeInTime(windows);
        assert.deepEqual([merged.windowCount, merged.numbers], [parts, { first: 1, last: parts }]);
        assertSame(merged, asWindows(whole, merged));
        assertPlain(merged);
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

  test("have no server times when one lacks them, and the mean health", () => {
    const merged = mergeInTime([
      makeWindow({ server: makeDelta(1), health: { coreWaitRatio: 0.5 } }),
      makeWindow({ startNs: 1e9, health: { loopLagMaxNs: 5, loopLagMeanNs: 4, cpuRatio: 0.5 } }),
    ]);
    assert.equal("server" in merged, false);
    assert.deepEqual(merged.health, { cpuRatio: 0.3, loopLagMaxNs: 5, loopLagMeanNs: 2 });
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
  for (const one of [mergeInTime(grouped), joinParallel(grouped), mergeInTime([later])]) assertPlain(one);
});
