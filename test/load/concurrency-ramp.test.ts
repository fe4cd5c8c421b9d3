import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import * as v from "valibot";
import { concurrencyRampMode, meanRampConcurrency, rampConcurrencyAt } from "../../src/load/concurrency-ramp.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";

test("a ramp begins at its start, reaches its end and never leaves the way between", () => {
  const level = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(level, level, fc.integer({ min: 1, max: 1e6 }), (start, end, overMs) => {
      const overNs = overMs * 1e6;
      assert.equal(rampConcurrencyAt(start, end, overNs, 0), start);
      assert.equal(rampConcurrencyAt(start, end, overNs, -1), start);
      for (const late of [overNs, overNs * 10]) assert.equal(rampConcurrencyAt(start, end, overNs, late), end);
      const way = Array.from({ length: 101 }, (_, i) => rampConcurrencyAt(start, end, overNs, (i / 100) * overNs));
      const direction = Math.sign(end - start);
      for (const [index, now] of way.entries()) {
        assert.ok(Number.isInteger(now) && now >= Math.min(start, end) && now <= Math.max(start, end));
        if (index > 0) assert.ok((now - (way[index - 1] as number)) * direction >= 0);
      }
    }),
  );
});

test("a ramp holds every level equally long", () => {
  const counts = new Map<number, number>();
  for (let i = 0; i < 400; i++) {
    const level = rampConcurrencyAt(1, 4, 400, i);
    counts.set(level, (counts.get(level) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries(counts), { 1: 100, 2: 100, 3: 100, 4: 100 });
});

test("a ramp is one measurement at its largest level", () => {
  const load = prepareLoad({ kind: "concurrency-ramp", start: 9, end: 2, overMs: 100 });
  assert.deepEqual(load.search.levels, { kind: "list", values: [9] });
  const drive = load.drive(9, []);
  assert.ok(drive.kind === "ramp");
  assert.equal(drive.maxConcurrency, 9);
  assert.deepEqual([drive.concurrencyAt(0), drive.concurrencyAt(100e6)], [9, 2]);
});

const VALID = { kind: "concurrency-ramp", start: 2, end: 1, overMs: 1 };
const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, change: object])[] = [
  ["a falling ramp", true, {}],
  ["a ramp in no time", false, { overMs: 0 }],
  ["a ramp from 0", false, { start: 0 }],
];
for (const [name, isAccepted, change] of SCHEMAS)
  test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    assert.equal(v.is(concurrencyRampMode.schema(), { ...VALID, ...change }), isAccepted);
  });

test("the mean of a ramp is that of its concurrency at each time", () => {
  for (const [start, end, overNs] of [
    [1, 4, 1e9],
    [4, 1, 1e9],
    [1, 4, 2.5e9],
    [2, 9, 0.3e9],
    [3, 3, 1e9],
  ] as const) {
    const steps = 10_000;
    let sum = 0;
    for (let step = 0; step < steps; step++) sum += rampConcurrencyAt(start, end, 1e9, ((step + 0.5) / steps) * overNs);
    const mean = meanRampConcurrency(start, end, 1e9, overNs);
    assert.ok(Math.abs(mean - sum / steps) < 0.01, `${mean}, not ${sum / steps}`);
  }
  assert.equal(meanRampConcurrency(2, 9, 1e9, 0), 2);
});
