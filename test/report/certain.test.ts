import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import type { ReportModel } from "../../src/report/model/report-model.ts";
import type { LevelResult } from "../../src/result/run-result.ts";
import { createRandom } from "../../src/runtime/random.ts";
import { makeWindow } from "../measure/make-window.ts";
import { makeLevel } from "./make-result.ts";
import { cellsOf, modelOf, tableOf } from "./model/make-model.ts";

/** Checks, marks and notes of one report never contradict each other, whatever was measured. */

const PERCENTILES = [50, 90, 99, 99.9] as const;

/** A sample whose latencies are independent, or alike for a while, around 2 ms. */
interface Drawn {
  readonly count: number;
  readonly seed: number;
  readonly correlation: number;
  readonly spread: number;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({
  count: fc.oneof(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 60, max: 4000 })),
  seed: fc.integer({ min: 1, max: 1e6 }),
  correlation: fc.constantFrom(0, 0.9, 0.99),
  spread: fc.constantFrom(0.001, 0.05, 1),
});

function levelOf(level: number, { count, seed, correlation, spread }: Drawn): LevelResult {
  const random = createRandom(seed);
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let state = normal();
  const latenciesNs = Array.from({ length: count }, () => {
    state = correlation * state + Math.sqrt(1 - correlation ** 2) * normal();
    return 2e6 * Math.exp(spread * state);
  });
  return makeLevel({ level, window: makeWindow({ latenciesNs }) });
}

/** Returns the number of requests that a check or its advice asks for; undefined when it asks for none. */
function neededIn(text: string): string | undefined {
  return /(?:needs (?:about )?|Use measurement\.mode\.count )([\d,]+)/.exec(text)?.[1]?.replaceAll(",", "");
}

/** Returns the cells of an asserted percentile, one for each level, on the first screen and in the details. */
function cellsOfPercentile(model: ReportModel, percentile: number) {
  return cellsOf(tableOf(model, "levels")).flatMap((row) => row[`latency.p${percentile}`] ?? []);
}

function assertNoContradiction(samples: readonly Drawn[], percentile: number, limit: number): void {
  const assertions = [{ metric: { key: "latency", statistic: percentile }, comparison: "below", limit } as const];
  const measurement = { mode: { kind: "requests", count: 1000 } } as const;
  const levels = samples.map((sample, index) => levelOf(index + 1, sample));
  const model = modelOf({ assertions, measurement }, levels);
  const [check] = model.checks;
  assert.ok(check);
  const cells = cellsOfPercentile(model, percentile);
  const advice = model.notes.filter(({ code }) => code === "short-sample");
  const all = model.sections.flatMap(({ tables }) => tables.flatMap(({ rows }) => rows.flat()));
  for (const { mark, interval } of all) assert.ok(mark !== "uncertain" || interval === undefined, "interval and mark");
  if (check.state !== "unresolved") {
    assert.deepEqual(advice, [], `${check.state}, and ${JSON.stringify(advice)}`);
    // A limit that is broken at one level is not decided at the others.
    if (check.state === "pass" || samples.length === 1)
      for (const { mark } of cells) assert.notEqual(mark, "uncertain", `${check.state}: ${check.measured}`);
  }
  // A level with a burst or a drift has a note on that instead.
  if (model.notes.some(({ code }) => ["burst", "start-up", "drift"].includes(code))) return;
  const needed = neededIn(check.measured);
  assert.deepEqual(
    advice.map(({ text }) => neededIn(text)),
    needed === undefined ? [] : [needed],
    `${JSON.stringify(advice)} / ${check.measured}`,
  );
}

const limits = fc.oneof(fc.constantFrom(1e6, 2e6, 50e6), fc.double({ min: 1.5e6, max: 4e6, noNaN: true }));

test("a decided verdict has no mark and no advice, and an open one asks for the same number of requests everywhere", () => {
  fc.assert(
    fc.property(
      fc.array(drawn, { minLength: 1, maxLength: 3 }),
      fc.constantFrom(...PERCENTILES),
      limits,
      assertNoContradiction,
    ),
    { numRuns: 150 },
  );
});

test("40 requests are too few for p99, and 299 decide it without a mark, although its value needs 662", () => {
  const at = (count: number): ReportModel =>
    modelOf(
      {
        assertions: [{ metric: { key: "latency", statistic: 99 }, comparison: "below", limit: 50e6 }],
        measurement: { mode: { kind: "requests", count } },
      },
      [levelOf(1, { count, seed: 3, correlation: 0, spread: 0.05 })],
    );
  const few = at(40);
  assert.match(few.checks[0]?.measured ?? "", /; p99 needs 299 requests, has 40$/);
  assert.deepEqual(
    few.notes.filter(({ code }) => code === "short-sample").map(({ text }) => text.replace(/^.*count /, "")),
    ["299."],
  );
  assert.equal(cellsOfPercentile(few, 99)[0]?.mark, "uncertain");
  const enough = at(299);
  assert.deepEqual([enough.checks[0]?.state, cellsOfPercentile(enough, 99)[0]?.mark], ["pass", undefined]);
});
