import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import * as v from "valibot";
import { LEVEL_UNITS } from "../../src/load/level-units.ts";
import { concurrencySchema, countLevels, largestLevel, MAX_CONCURRENCY, rangeOf } from "../../src/load/levels.ts";
import { levelAt } from "../../src/load/search.ts";
import { type LevelsPlan, levelsSchema, searchSchema } from "../../src/plan/load-plan.ts";

function allLevels(levels: LevelsPlan, most = 100): number[] {
  const found: number[] = [];
  for (let index = 0; index < most; index++) {
    const level = levelAt(levels, index);
    if (level === undefined) return found;
    found.push(level);
  }
  return found;
}

const sweeps: readonly (readonly [levels: LevelsPlan, visited: number[]])[] = [
  [{ kind: "list", values: [1, 8, 4] }, [1, 8, 4]],
  [{ kind: "range", start: 1, end: 4, step: 1 }, [1, 2, 3, 4]],
  [{ kind: "range", start: 1, end: 8, step: 3 }, [1, 4, 7]],
  [{ kind: "range", start: 4, end: 1, step: 1 }, [4]],
  [{ kind: "range", start: 4, end: 4, step: 1 }, [4]],
  [{ kind: "range", start: 0.5, end: 2, step: 0.5 }, [0.5, 1, 1.5, 2]],
];

for (const [levels, visited] of sweeps) {
  test(`levels visited of ${JSON.stringify(levels)}`, () => {
    assert.deepEqual(allLevels(levels), visited);
    assert.equal(levelAt(levels, visited.length), undefined);
    assert.equal(countLevels(levels), visited.length);
    assert.equal(rangeOf(levels), levels.kind === "range" ? levels : undefined);
  });
}

test("levels are counted as they are visited, whatever the division of their range rounds to", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 500 }),
      fc.integer({ min: 0, max: 500 }),
      fc.integer({ min: 1, max: 90 }),
      (a, b, c) => {
        const levels: LevelsPlan = { kind: "range", start: a / 10, end: (a + b) / 10, step: c / 10 };
        assert.equal(countLevels(levels), allLevels(levels, 1000).length);
      },
    ),
  );
});

test("a range without an end continues and has no largest level", () => {
  const endless: LevelsPlan = { kind: "range", start: 2, end: null, step: 2 };
  assert.deepEqual(allLevels(endless, 4), [2, 4, 6, 8]);
  assert.equal(levelAt(endless, 1e6), 2 + 2e6);
  assert.equal(largestLevel(endless), undefined);
  assert.equal(countLevels(endless), undefined);
});

test("the largest level is that of the sweep, whatever its order", () => {
  const range = fc.record({
    kind: fc.constant("range" as const),
    start: fc.integer({ min: 1, max: 50 }),
    end: fc.integer({ min: 1, max: 50 }),
    step: fc.integer({ min: 1, max: 10 }),
  });
  const list = fc.record({
    kind: fc.constant("list" as const),
    values: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
  });
  fc.assert(
    fc.property(fc.oneof(range, list), (levels) => {
      const visited = allLevels(levels);
      assert.ok(visited.length > 0);
      assert.ok((largestLevel(levels) as number) >= Math.max(...visited));
    }),
  );
});

const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, given: unknown])[] = [
  ["a list", true, { kind: "list", values: [1] }],
  ["a range", true, { kind: "range", start: 1, end: 2, step: 1 }],
  ["a range without an end", true, { kind: "range", start: 1, end: null, step: 1 }],
  ["no levels", false, { kind: "list", values: [] }],
  ["step 0", false, { kind: "range", start: 1, end: 2, step: 0 }],
  ["a level that is none", false, { kind: "list", values: [1, 0] }],
];
for (const [name, isAccepted, given] of SCHEMAS)
  test(`the schema of levels ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    assert.equal(v.is(levelsSchema(concurrencySchema()), given), isAccepted);
  });

test("a concurrency is a whole number from 1 to a billion", () => {
  const isConcurrency = (value: unknown): boolean => v.is(concurrencySchema(), value);
  assert.deepEqual([1, MAX_CONCURRENCY].map(isConcurrency), [true, true]);
  assert.deepEqual([0, -1, 1.5, MAX_CONCURRENCY + 1, "1"].map(isConcurrency), [false, false, false, false, false]);
});

test("a search is linear or binary", () => {
  assert.deepEqual(
    ["linear", "binary", "random"].map((search) => v.is(searchSchema(), search)),
    [true, true, false],
  );
});

/** How levels are named where their unit says enough. */

test("a level is named in Rampart's words and in perf_analyzer's", () => {
  const { concurrency, "request-rate": rate } = LEVEL_UNITS;
  assert.deepEqual(
    [concurrency.describe(4), concurrency.announce("4"), concurrency.describeLimit("8")],
    ["concurrency 4", "Request concurrency: 4", "Concurrency limit: 8 concurrent requests"],
  );
  assert.deepEqual(
    [rate.describe(12_345.6), rate.announce("1e+06"), rate.describeLimit("0.5")],
    [
      "12,346 requests/s",
      "Request Rate: 1e+06 inference requests per second",
      "Request Rate limit: 0.5 requests per seconds",
    ],
  );
});
