import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { createRandom, createRandomFor, deriveSeed, drawIndex, drawNormal } from "../../src/runtime/random.ts";

const GOLDEN_UNIFORM = [0.15377165327092845, 0.018084544272145786, 0.5348906286250599];
const GOLDEN_NORMAL = [563.3763418221345, 579.0695138914971, 590.765996087664, 500.599225344846];

test("random numbers are uniform in [0, 1) and repeatable for any seed", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = createRandom(seed);
      const again = createRandom(seed);
      const values = Array.from({ length: 100 }, random);
      assert.ok(values.every((value) => value >= 0 && value < 1));
      assert.deepEqual(Array.from({ length: 100 }, again), values);
    }),
  );
  const random = createRandom(42);
  const cells = new Array<number>(16).fill(0);
  const count = 16_000;
  for (let i = 0; i < count; i++) {
    const cell = Math.floor(random() * 16);
    cells[cell] = (cells[cell] as number) + 1;
  }
  const chiSquare = cells.reduce((sum, seen) => sum + (seen - 1000) ** 2 / 1000, 0);
  assert.ok(chiSquare < 37.7, `chi square ${chiSquare} with 15 degrees of freedom is beyond 99.9 %`);
});

test("the first numbers of a seed are the same on every runtime", () => {
  const random = createRandom(42);
  assert.deepEqual([random(), random(), random()], GOLDEN_UNIFORM);
  const normal = createRandom(42);
  assert.deepEqual(
    Array.from({ length: 4 }, () => drawNormal(normal, 550, 50)),
    GOLDEN_NORMAL,
  );
});

test("purposes and positions have seeds of their own", () => {
  const seeds = new Set<number>();
  for (const purpose of ["length", "text", "prefix"]) {
    for (let i = 0; i < 1000; i++) seeds.add(deriveSeed(42, purpose, i));
  }
  assert.equal(seeds.size, 3000);
  assert.notEqual(deriveSeed(1, "a", 23), deriveSeed(1, "a2", 3));
  assert.notEqual(deriveSeed(2 ** 32 + 1, "a"), deriveSeed(1, "a"));
  assert.equal(createRandomFor(7, "text", 3)(), createRandom(deriveSeed(7, "text", 3))());
});

test("an index is below its count", () => {
  fc.assert(
    fc.property(fc.integer(), fc.integer({ min: 1, max: 1000 }), (seed, count) => {
      const index = drawIndex(createRandom(seed), count);
      assert.ok(Number.isInteger(index) && index >= 0 && index < count);
    }),
  );
});

test("normal numbers have their mean and deviation, and no deviation gives the mean", () => {
  const random = createRandom(3);
  const values = Array.from({ length: 20_000 }, () => drawNormal(random, 550, 50));
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
  assert.ok(Math.abs(mean - 550) < 2, `mean ${mean}`);
  assert.ok(Math.abs(Math.sqrt(variance) - 50) < 1.5, `deviation ${Math.sqrt(variance)}`);
  const beyond = values.filter((value) => Math.abs(value - mean) > 1.96 * 50).length / values.length;
  assert.ok(Math.abs(beyond - 0.05) < 0.01, `${beyond} beyond 1.96 deviations`);
  assert.equal(drawNormal(random, 12.5, 0), 12.5);
});

test("normal numbers agree with Box and Muller's formula on the same uniform numbers", () => {
  fc.assert(
    fc.property(fc.integer(), (seed) => {
      const random = createRandom(seed);
      let square = 0;
      let x = 0;
      while (square <= 0 || square >= 1) {
        x = 2 * random() - 1;
        square = x * x + (2 * random() - 1) ** 2;
      }
      const expected = x * Math.sqrt((-2 * Math.log(square)) / square);
      assert.ok(Math.abs(drawNormal(createRandom(seed), 0, 1) - expected) < 1e-12);
    }),
  );
});
