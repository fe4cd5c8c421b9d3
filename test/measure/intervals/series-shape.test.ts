import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type SeriesPart, type SeriesShape, shapeOf } from "../../../src/measure/intervals/series-shape.ts";
import { createRandom } from "../../../src/runtime/random.ts";

/** Series of latencies whose shape is known, made at random. */

const MEAN_NS = 2e6;
const DURATION_NS = 10e9;

interface Made {
  /** Number of samples, and of parts that they are in. */
  readonly samples?: number;
  readonly parts?: number;
  /** Correlation of neighbouring samples (AR(1)). Default: independent */
  readonly correlation?: number;
  /** Deviation of the logarithms of the latencies. Default: 0.2 */
  readonly deviation?: number;
  /** What latencies are multiplied with, by the share of the time that has passed. Default: 1 */
  readonly level?: (time: number) => number;
}

/** Draws a series; parts have a time. A time has samples in inverse proportion to their latency there, as in a closed loop. */
function draw(random: () => number, made: Made): SeriesPart[] {
  const { samples = 10_000, parts = 100, correlation = 0, deviation = 0.2, level = () => 1 } = made;
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let state = normal();
  return Array.from({ length: parts }, (_, part) => {
    const count = Math.round(samples / parts / level((part + 0.5) / parts));
    let sum = 0;
    for (let at = 0; at < count; at++) {
      sum += MEAN_NS * Math.exp(deviation * state) * level((part + at / count) / parts);
      state = correlation * state + Math.sqrt(1 - correlation ** 2) * normal();
    }
    return { startNs: (part * DURATION_NS) / parts, count, mean: count === 0 ? 0 : sum / count };
  });
}

function shapes(made: Made, count: number): SeriesShape[] {
  const random = createRandom(3);
  return Array.from({ length: count }, () => shapeOf(draw(random, made)));
}

function shareOf(kind: SeriesShape["kind"], found: readonly SeriesShape[]): number {
  return found.filter((shape) => shape.kind === kind).length / found.length;
}

describe("a steady load is called a drift in at most 2 of 100 cases:", () => {
  for (const correlation of [0, 0.5, 0.9, 0.99])
    for (const samples of [300, 1000, 10_000])
      for (const deviation of [0.2, 0.5])
        test(`${samples} samples with a correlation of ${correlation}, deviation ${deviation}`, () => {
          const found = shapes({ samples, correlation, deviation }, samples > 1000 ? 60 : 200);
          assert.ok(shareOf("drift", found) <= 0.02, String(shareOf("drift", found)));
          if (correlation === 0) assert.ok(shareOf("steady", found) >= 0.9, String(shareOf("steady", found)));
        });
});

const CHANGES = {
  "a rise of 20 % over the whole time": (time: number) => 0.9 + 0.2 * time,
  "a fall of 20 % over the whole time": (time: number) => 1.1 - 0.2 * time,
  "a step of 20 % in the middle": (time: number) => (time < 0.5 ? 1 : 1.2),
  "a step down after a third": (time: number) => (time < 1 / 3 ? 1.5 : 1),
  "a burst within a rise": (time: number) => (time > 0.3 && time < 0.35 ? 20 : 0.8 + 0.4 * time),
};
describe("a change of the level is called a drift in at least 95 of 100 cases:", () => {
  for (const [name, level] of Object.entries(CHANGES))
    for (const made of [{ level }, { level, deviation: 0.5 }, { level, correlation: 0.5 }, { level, samples: 2000 }])
      test(`${name}, ${JSON.stringify(made)}`, () => {
        const found = shapes(made, 40);
        assert.ok(shareOf("drift", found) >= 0.95, String(shareOf("drift", found)));
      });

  test("with its size", () => {
    for (const shape of shapes({ level: (time) => 1.1 - 0.2 * time }, 20)) {
      assert.ok(shape.kind === "drift");
      // From 1.08 to 0.92, the middles of the first and the last fifth.
      assert.ok(Math.abs(shape.ratio - (0.92 / 1.08 - 1)) < 0.03, String(shape.ratio));
    }
  });
});

describe("one burst is called that, with its place:", () => {
  for (const length of [0.01, 0.03, 0.1])
    for (const factor of [2, 5, 50])
      test(`${100 * length} % of the time, ${factor} times as long`, () => {
        const random = createRandom(5);
        for (let run = 0; run < 25; run++) {
          const at = 0.05 + 0.8 * random();
          const made = draw(random, { level: (time) => (time >= at && time < at + length ? factor : 1) });
          const shape = shapeOf(made);
          assert.equal(shape.kind, "burst", `at ${at}`);
          assert.ok(shape.kind === "burst" && shape.startNs !== undefined && shape.endNs !== undefined);
          const partNs = DURATION_NS / made.length;
          assert.ok(Math.abs(shape.startNs - at * DURATION_NS) <= partNs, `${at}: ${shape.startNs}`);
          assert.ok(Math.abs(shape.endNs - (at + length) * DURATION_NS) <= partNs, `${at}: ${shape.endNs}`);
          assert.equal(shape.startNs / partNs, shape.from);
          assert.ok(shape.factor > 1.2 && shape.factor <= factor * 1.05, String(shape.factor));
        }
      });

  test("with the time before it in which nothing ended, whether or not its parts are left out", () => {
    const steady = draw(createRandom(2), {});
    const stalled = steady.map((part, at) => {
      if (at < 40 || at > 44) return part;
      return at < 44 ? { ...part, count: 0, mean: 0 } : { ...part, count: 16, mean: 4e8 };
    });
    for (const parts of [stalled, stalled.filter(({ count }) => count > 0)]) {
      const shape = shapeOf(parts);
      assert.ok(shape.kind === "burst");
      assert.deepEqual([shape.startNs, shape.endNs], [4e9, 4.5e9]);
    }
  });

  test("two bursts far apart are not one", () => {
    const found = shapes({ level: (time) => (Math.abs(time - 0.2) < 0.02 || Math.abs(time - 0.7) < 0.02 ? 5 : 1) }, 20);
    assert.equal(shareOf("burst", found), 0);
    assert.equal(shareOf("drift", found), 0);
  });

  test("parts without times have none", () => {
    const parts = draw(createRandom(2), { level: (time) => (Math.abs(time - 0.5) < 0.02 ? 5 : 1) });
    const shape = shapeOf(parts.map(({ count, mean }) => ({ count, mean })));
    assert.ok(shape.kind === "burst" && shape.startNs === undefined && shape.endNs === undefined);
    assert.deepEqual([shape.from, shape.to], [48, 52]);
  });
});

const STARTS = {
  "10 % of the time, half as long again": (time: number) => (time < 0.1 ? 1.5 : 1),
  "10 % of the time, 5 times as long": (time: number) => (time < 0.1 ? 5 : 1),
  "5 times as long, after a moment": (time: number) => (time >= 0.01 && time < 0.1 ? 5 : 1),
  "3 times as long, which fades": (time: number) => 1 + 2 * Math.exp(-time / 0.03),
};
describe("a slow start that ends is called that:", () => {
  for (const [name, level] of Object.entries(STARTS))
    test(name, () => {
      for (const shape of shapes({ level }, 25)) {
        assert.ok(shape.kind === "start-up");
        assert.equal(shape.startNs, 0);
        assert.ok((shape.endNs as number) <= 0.2 * DURATION_NS, String(shape.endNs));
        assert.ok(shape.factor > 1.2, String(shape.factor));
      }
    });
});

test("a few parts have no shape, and neither have equal ones", () => {
  assert.deepEqual(shapeOf([]), { kind: "steady" });
  assert.deepEqual(shapeOf(draw(createRandom(2), { parts: 9, level: (time) => 1 + time })), { kind: "steady" });
  assert.deepEqual(shapeOf(Array.from({ length: 50 }, () => ({ count: 8, mean: 1e6 }))), { kind: "steady" });
});
