import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { drawPair, drawRounded, drawTokenCount, parseSequenceMix } from "../../src/inputs/lengths.ts";
import { UserError } from "../../src/plan/problem.ts";
import { createRandom } from "../../src/runtime/random.ts";

const exact = (mean: number, stddev = 0) => ({ mean, stddev });
const two = [
  { input: exact(256), output: exact(128), sharePct: 40 },
  { input: exact(512), output: exact(256), sharePct: 60 },
];

const mixes: [text: string, expected: object][] = [
  ["256,128:40;512,256:60", two],
  [" 256, 128 : 40 ; 512,256:60; ", two],
  ["[(256,128):40,(512,256):60]", two],
  ['{"pairs": [{"isl": 256, "osl": 128, "prob": 40}, {"isl": 512, "osl": 256, "prob": 60}]}', two],
  ["100,10:100", [{ input: exact(100), output: exact(10), sharePct: 100 }]],
  ["256|10,128|5.5:100", [{ input: exact(256, 10), output: exact(128, 5.5), sharePct: 100 }]],
  [
    '{"pairs": [{"isl": 256, "isl_stddev": 10, "osl": 128, "osl_stddev": 5, "prob": 100}]}',
    [{ input: exact(256, 10), output: exact(128, 5), sharePct: 100 }],
  ],
];

test("mixes of lengths are read in each of AIPerf's forms", () => {
  for (const [text, expected] of mixes)
    assert.deepEqual(parseSequenceMix(text, "--sequence-distribution"), expected, text);
});

const bad: [text: string, message: RegExp][] = [
  ["256,128:40;512,256:50", /--sequence-distribution: its percentages add up to 90, not to 100/],
  ["256:40", /is not a mix of input and output lengths \(got 256:40\)/],
  ["", /add up to 0/],
  ["0,10:100", /has a length below 1/],
  ["{no json", /is not a mix/],
  ['{"pairs": [{"isl": 1}]}', /is not a mix/],
];

test("an invalid mix is rejected", () => {
  for (const [text, message] of bad) {
    const parse = () => parseSequenceMix(text, "--sequence-distribution");
    assert.throws(parse, (error) => error instanceof UserError && message.test(error.message), text);
  }
});

test("pairs come by their shares", () => {
  const random = createRandom(42);
  const draws = Array.from({ length: 10_000 }, () => drawPair(random, two));
  const share = draws.filter((pair) => pair === two[0]).length / draws.length;
  assert.ok(Math.abs(share - 0.4) < 0.02, `${share}`);
});

test("counts of tokens are whole numbers from 1 on, cut and not rounded", () => {
  fc.assert(
    fc.property(fc.integer(), fc.nat(2000), fc.nat(2000), (seed, mean, stddev) => {
      const count = drawTokenCount(createRandom(seed), { mean, stddev });
      assert.ok(Number.isInteger(count) && count >= 1);
    }),
  );
  assert.equal(drawTokenCount(createRandom(1), exact(549.9)), 549);
  assert.equal(drawTokenCount(createRandom(1), exact(0)), 1);
});

test("turns and delays are rounded, halves to the even number", () => {
  const rounded = [0.5, 1.5, 2.5, 2.4, 2.6, -3].map((mean) => drawRounded(createRandom(1), exact(mean), 0));
  assert.deepEqual(rounded, [0, 2, 2, 2, 3, 0]);
  assert.equal(drawRounded(createRandom(1), exact(0), 1), 1);
});
