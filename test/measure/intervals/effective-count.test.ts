import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { type BatchMeans, effectiveCount } from "../../../src/measure/intervals/effective-count.ts";
import { createRandom } from "../../../src/runtime/random.ts";
import { drawLatencies } from "./simulate.ts";

/** The most batches that a sketch keeps. */
const MOST_BATCHES = 128;

/** Returns the means of consecutive batches of samples. The last samples may be left out. */
function batchMeansOf(samples: ArrayLike<number>): BatchMeans {
  const batchCount = Math.max(1, Math.ceil(samples.length / MOST_BATCHES));
  const sumOf = (batch: number): number =>
    Array.from({ length: batchCount }, (_, at) => samples[batch * batchCount + at] as number).reduce((a, b) => a + b);
  const means = Array.from({ length: Math.floor(samples.length / batchCount) }, (_, at) => sumOf(at) / batchCount);
  return { means, batchCount };
}

function effectiveOf(values: ArrayLike<number>): number {
  const all = Array.from(values);
  const mean = all.reduce((sum, value) => sum + value, 0) / all.length;
  const variance = all.reduce((sum, value) => sum + (value - mean) ** 2, 0) / Math.max(1, all.length - 1);
  return effectiveCount(all.length, variance, batchMeansOf(values));
}

/** Means over many sequences, because one estimate varies by a fifth. */
function averageOf(count: number, correlation: number, batch: number): number {
  const random = createRandom(11);
  let sum = 0;
  for (let run = 0; run < 60; run++)
    // The logarithm is AR(1) exactly.
    sum += effectiveOf(drawLatencies({ name: "", count, correlation, batch }, random).map((ns) => Math.log(ns - 5e6)));
  return sum / 60;
}

// An AR(1) process has n (1 - r) / (1 + r) independent samples; copies in batches have n / batch.
for (const [count, correlation, batch, expected] of [
  [100, 0, 1, 100],
  [5000, 0, 1, 5000],
  [5000, 0.5, 1, 5000 / 3],
  [5000, 0.9, 1, 5000 / 19],
  [5000, 0, 8, 625],
  [5000, 0.5, 4, 1250 / 3],
] as const)
  test(`${count} samples with a correlation of ${correlation} in batches of ${batch} have an effective size of ${Math.round(expected)}`, () => {
    const found = averageOf(count, correlation, batch);
    assert.ok(found > 0.75 * expected && found < 1.25 * expected, String(found));
  });

test("the effective size is from 1 to the number of samples", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: -1e6, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 400 }),
      (values) => {
        const effective = effectiveOf(values);
        assert.ok(effective >= 1 && effective <= values.length, String(effective));
      },
    ),
  );
  assert.equal(effectiveOf(Array.from({ length: 300 }, (_, index) => index % 2)), 300);
  assert.equal(effectiveOf([3, 3, 3]), 3);
  assert.ok(effectiveOf(Array.from({ length: 300 }, (_, index) => index)) < 10);
});
