import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { sampleOfSketch } from "../../../src/measure/metrics/sample.ts";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { findGood, joinTokens, type TokenMeasurement } from "../../../src/measure/tokens/token-measurement.ts";
import { measureColumns, TokenTally } from "../../../src/measure/tokens/token-tally.ts";
import { createRandom, drawExponential } from "../../../src/runtime/random.ts";
import { makeTimes } from "./make-columns.ts";

/** Sketches of tokens beside exact columns of the same requests. */

/** perf_analyzer's rule. @param sorted ascending */
const nearestRank = (sorted: ArrayLike<number>, percentile: number): number =>
  sorted[Math.round((percentile / 100) * (sorted.length - 1))] as number;

const SPAN = { startNs: 0, endNs: 60e9 };
const LIMITS = { timeToFirstToken: 30e6, interTokenLatency: 12e6 };

interface Drawn {
  readonly sendMs: number;
  readonly firstMs: number;
  readonly gapMs: number;
  readonly tokens: number;
  readonly serverTokens: number | undefined;
  readonly isWhole: boolean;
}

const requests = fc.array(
  fc.record({
    sendMs: fc.nat(50_000),
    firstMs: fc.integer({ min: 1, max: 60 }),
    gapMs: fc.integer({ min: 0, max: 20 }),
    tokens: fc.integer({ min: 0, max: 9 }),
    serverTokens: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
    isWhole: fc.boolean(),
  }),
  { maxLength: 60 },
);

function fill<T extends TokenColumns | TokenTally>(to: T, drawn: readonly Drawn[]): T {
  for (const { sendMs, firstMs, gapMs, tokens, serverTokens, isWhole } of drawn) {
    const contentMs = Array.from({ length: tokens }, (_, at) => firstMs + at * gapMs);
    const usage = { promptTokens: 8, completionTokens: serverTokens, reasoningTokens: undefined };
    to.add({
      ...{ sendNs: sendMs * 1e6, times: makeTimes(isWhole ? contentMs.slice(-1) : contentMs), inputTokens: 7, usage },
      ...{ requestedTokens: 5, lacksStream: isWhole },
    });
  }
  return to;
}

const measureAll = (drawn: readonly Drawn[]): TokenMeasurement => fill(new TokenTally([LIMITS]), drawn).cut(SPAN);

/** Sums differ by the order in which they are taken. */
const SUMS = new Set(["mean", "squaredDeviation", "sums"]);

function assertSame(actual: TokenMeasurement | undefined, expected: TokenMeasurement): void {
  const [rest, restExpected] = [actual, expected].map((tokens) =>
    JSON.parse(JSON.stringify(tokens), (key, value: unknown) => (SUMS.has(key) ? "a sum" : value)),
  );
  assert.deepEqual(rest, restExpected);
  const [sums = [], sumsExpected = []] = [actual, expected].map(sumsOf);
  for (const [at, sum] of sums.entries()) {
    const wanted = sumsExpected[at] ?? Number.NaN;
    assert.ok(Math.abs(sum - wanted) <= 1e-8 * Math.max(1, Math.abs(wanted)), `${sum} is not ${wanted}`);
  }
}

/** Returns all sums in the order of their names. */
function sumsOf(tokens: unknown): number[] {
  if (typeof tokens !== "object" || tokens === null) return [];
  return Object.entries(tokens)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]) => (SUMS.has(key) ? [value].flat() : sumsOf(value)));
}

describe("tokens without columns", () => {
  test("have the percentiles, means, counts and goodput of the columns", () => {
    fc.assert(
      fc.property(requests, (drawn) => {
        const columns = fill(new TokenColumns(), drawn);
        const tokens = measureAll(drawn);
        assertSame(measureColumns(columns, [LIMITS], SPAN), tokens);
        for (const [metric, sketch] of Object.entries(tokens.metrics)) {
          const values = columns.metrics[metric as keyof typeof columns.metrics].measured().sort();
          const sample = sampleOfSketch(sketch);
          for (const percentile of [1, 50, 90, 99.9])
            assert.ok(
              Math.abs((sample.percentile?.(percentile) ?? 0) - nearestRank(values, percentile)) <= 1e-6,
              metric,
            );
          assert.deepEqual([sample.count, sample.min, sample.max], [values.length, values[0], values.at(-1)]);
        }
        const { sample } = findGood(tokens, LIMITS) ?? {};
        // A limit on streams needs a first token, and no other value.
        const [firsts, gaps] = [columns.metrics.timeToFirstTokenNs.view(), columns.metrics.interTokenLatencyNs.view()];
        const good = firsts.filter((ns, row) => ns <= 30e6 && !((gaps[row] as number) > 12e6)).length;
        assert.equal(Math.round((sample?.mean ?? 0) * (sample?.count ?? 0)), good);
      }),
      { numRuns: 50 },
    );
  });

  test("of parts are those of the whole, in any grouping, and plain data", () => {
    fc.assert(
      fc.property(requests, requests, requests, (a, b, c) => {
        const [one, two, three] = [a, b, c].map(measureAll) as [TokenMeasurement, TokenMeasurement, TokenMeasurement];
        const whole = measureAll([...a, ...b, ...c]);
        assertSame(joinTokens([one, two, three]), whole);
        assertSame(joinTokens([one, joinTokens([two, three]) as TokenMeasurement]), whole);
        assertSame(joinTokens([three, one, two]), whole);
        assert.deepEqual(structuredClone(whole), whole);
        assert.deepEqual(JSON.parse(JSON.stringify(whole)), whole);
      }),
      { numRuns: 50 },
    );
  });

  test("need bounded memory, and are then within 0.05 %", () => {
    const random = createRandom(7);
    const tally = new TokenTally();
    const latencies: number[] = [];
    for (let at = 0; at < 60_000; at++) {
      const latencyNs = Math.round(1e8 * (0.2 + drawExponential(random)));
      latencies.push(latencyNs);
      tally.addPlain(at * 1e6, latencyNs);
    }
    const sketch = tally.cut().metrics.requestLatencyNs;
    assert.ok(sketch !== undefined && sketch.values.length <= 3 * 9000 && sketch.digits === 4);
    const sorted = Float64Array.from(latencies).sort();
    assert.deepEqual([sketch.min, sketch.max], [sorted[0], sorted.at(-1)]);
    for (const percentile of [1, 50, 99, 99.9]) {
      const truth = nearestRank(sorted, percentile);
      const found = sampleOfSketch(sketch).percentile?.(percentile) ?? 0;
      assert.ok(Math.abs(found - truth) <= 0.0005 * truth, `p${percentile}: ${found} of ${truth}`);
    }
  });
});
