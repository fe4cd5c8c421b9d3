import assert from "node:assert/strict";
import { test } from "node:test";
import { binomialAtMost, regularizedBeta, studentQuantile } from "../../../src/measure/intervals/distributions.ts";

/** Published values. */

function isClose(actual: number, expected: number, ratio: number): void {
  assert.ok(Math.abs(actual - expected) <= ratio * expected, `${actual}, not ${expected}`);
}

// Tables of Student's t, to four digits (NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2).
const STUDENT = [
  [0.975, 1, 12.706],
  [0.975, 2, 4.303],
  [0.975, 4, 2.776],
  [0.975, 9, 2.262],
  [0.975, 30, 2.042],
  [0.975, 100, 1.984],
  [0.995, 9, 3.25],
  [0.995, 1, 63.657],
  [0.95, 5, 2.015],
  [0.975, 1e9, 1.95996],
] as const;
for (const [probability, freedom, expected] of STUDENT)
  test(`Student's t with ${freedom} degrees of freedom stays below ${expected} with probability ${probability}`, () => {
    isClose(studentQuantile(probability, freedom), expected, 3e-4);
  });

test("binomial probabilities equal the sum of their terms", () => {
  for (const [trials, ratio] of [
    [1, 0.5],
    [10, 0.5],
    [64, 0.1],
    [100, 0.99],
    [300, 0.01],
  ] as const) {
    let term = (1 - ratio) ** trials;
    let sum = term;
    for (let successes = 0; successes < trials; successes++) {
      isClose(binomialAtMost(successes, trials, ratio), sum, 1e-9);
      term *= ((trials - successes) / (successes + 1)) * (ratio / (1 - ratio));
      sum += term;
    }
    assert.deepEqual([binomialAtMost(-1, trials, ratio), binomialAtMost(trials, trials, ratio)], [0, 1]);
  }
});

test("binomial probabilities of large samples approach the normal distribution", () => {
  // Half a step above the mean of 5 million: 0.5 + 0.5 / (1581.139 * sqrt(2 * pi)).
  isClose(binomialAtMost(5e6, 1e7, 0.5), 0.500126156, 1e-7);
  isClose(binomialAtMost(9_900_000 - 617, 1e7, 0.99), 0.025, 0.01);
});

test("the incomplete beta function has its closed forms", () => {
  for (const x of [0, 0.1, 0.5, 0.9, 1]) {
    assert.ok(Math.abs(regularizedBeta(x, 1, 1) - x) < 1e-12);
    assert.ok(Math.abs(regularizedBeta(x, 3, 1) - x ** 3) < 1e-12);
    assert.ok(Math.abs(regularizedBeta(x, 0.5, 0.5) - (2 / Math.PI) * Math.asin(Math.sqrt(x))) < 1e-12);
  }
});
