import assert from "node:assert/strict";
import { describe, test } from "node:test";
import * as fc from "fast-check";
import { concurrencyMode } from "../../src/load/concurrency.ts";
import { concurrencyRampMode, meanRampConcurrency, rampConcurrencyAt } from "../../src/load/concurrency-ramp.ts";
import { LaneIds } from "../../src/load/lane-ids.ts";
import { periodicConcurrencyMode } from "../../src/load/periodic-concurrency.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";
import { testSchema } from "../plan/test-schema.ts";

test("concurrency keeps the level outstanding", () => {
  const load = prepareLoad({
    kind: "concurrency",
    levels: { kind: "list", values: [1, 2] },
    search: "linear",
  });
  assert.equal(load.search.unit, "concurrency");
  assert.deepEqual(load.drive(7, []), { kind: "closed", concurrency: 7 });
});

test("concurrency with a ramp rises from 1 to the level, and stays there", () => {
  const levels = { kind: "list", values: [4] } as const;
  const load = prepareLoad({ kind: "concurrency", levels, search: "linear", rampMs: 400 });
  const drive = load.drive(4, []);
  assert.ok(drive.kind === "ramp");
  assert.equal(drive.maxConcurrency, 4);
  assert.deepEqual(
    [0, 99, 100, 250, 300, 1e6].map((ms) => drive.concurrencyAt(ms * 1e6)),
    [1, 1, 2, 3, 4, 4],
  );
});

const VALID = { kind: "concurrency", levels: { kind: "list", values: [1] }, search: "linear" };
testSchema(concurrencyMode.schema(), VALID, [
  ["a level", true, {}],
  ["level 0", false, { levels: { kind: "list", values: [0] } }],
  ["half a level", false, { levels: { kind: "list", values: [1.5] } }],
  ["a ramp", true, { rampMs: 0.5 }],
  ["a ramp in no time", false, { rampMs: 0 }],
]);

describe("concurrency ramp", () => {
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
  testSchema(concurrencyRampMode.schema(), VALID, [
    ["a falling ramp", true, {}],
    ["a ramp in no time", false, { overMs: 0 }],
    ["a ramp from 0", true, { start: 0 }],
    ["a ramp to 0", true, { end: 0 }],
    ["a ramp from less", false, { start: -1 }],
  ]);

  test("the mean of a ramp is that of its concurrency at each time", () => {
    for (const [start, end, overNs] of [
      [1, 4, 1e9],
      [4, 1, 1e9],
      [0, 3, 1e9],
      [2, 0, 0.7e9],
      [1, 4, 2.5e9],
      [2, 9, 0.3e9],
      [3, 3, 1e9],
    ] as const) {
      const steps = 10_000;
      let sum = 0;
      for (let step = 0; step < steps; step++)
        sum += rampConcurrencyAt(start, end, 1e9, ((step + 0.5) / steps) * overNs);
      const mean = meanRampConcurrency(start, end, 1e9, overNs);
      assert.ok(Math.abs(mean - sum / steps) < 0.01, `${mean}, not ${sum / steps}`);
    }
    assert.equal(meanRampConcurrency(2, 9, 1e9, 0), 2);
  });
});

describe("periodic concurrency", () => {
  test("groups join up to the largest concurrency, which is the one level", () => {
    const load = prepareLoad({ ...VALID, kind: "periodic-concurrency" });
    assert.deepEqual(load.search, { unit: "concurrency", levels: { kind: "list", values: [9] }, search: "linear" });
    assert.deepEqual(load.drive(9, []), { kind: "periodic", start: 1, end: 9, step: 4, periodResponses: 3 });
  });

  const VALID = { kind: "periodic-concurrency", start: 1, end: 9, step: 4, periodResponses: 3 };
  testSchema(periodicConcurrencyMode.schema(), VALID, [
    ["groups", true, {}],
    ["groups of none", false, { step: 0 }],
    ["no responses to wait for", false, { periodResponses: 0 }],
    ["half a response", false, { periodResponses: 1.5 }],
  ]);
});

test("ids are the lane in the upper bits and a counter, in decimal", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 65_535 }), fc.integer({ min: 1, max: 300 }), (lane, count) => {
      const ids = new LaneIds(lane);
      for (let n = 0; n < count; n++) {
        const text = new TextDecoder().decode(ids.next());
        assert.equal(BigInt(text), (BigInt(lane) << 48n) | BigInt(n));
      }
    }),
  );
});

test("ids grow by a digit where they must: 9 to 10, 999 to 1000", () => {
  const ids = new LaneIds(0);
  const texts = Array.from({ length: 1001 }, () => new TextDecoder().decode(ids.next()));
  assert.deepEqual(
    [texts[0], texts[9], texts[10], texts[99], texts[100], texts[999], texts[1000]],
    ["0", "9", "10", "99", "100", "999", "1000"],
  );
});
