import assert from "node:assert/strict";
import { test } from "node:test";
import { type Extracted, ExtractedTally, joinExtracted } from "../../src/measure/extracted-tally.ts";
import { percentileAt } from "../../src/measure/sketch.ts";
import { createRandom } from "../../src/runtime/random.ts";

/** Values of one name or several, one response each millisecond. */
function extract(names: readonly string[], responses: readonly (readonly unknown[])[]): Extracted[] {
  const tally = new ExtractedTally(names.map((name) => ({ name })));
  for (const [at, values] of responses.entries()) tally.add(values, at * 1e6);
  return tally.cut(0, responses.length * 1e6);
}

test("numbers have a mean and percentiles, other values are counted", () => {
  const responses = Array.from({ length: 100 }, (_, at) => [at + 1, (at + 1) % 4 === 0 ? "cat" : "dog"]);
  const [tokens, label] = extract(["tokens", "label"], [...responses, [null, { a: 1 }]]);
  assert.ok(tokens !== undefined && label !== undefined);
  const { count, mean, min, max } = tokens.numbers;
  assert.deepEqual([count, mean, min, max, tokens.missingCount], [100, 50.5, 1, 100, 1]);
  assert.deepEqual(
    [50, 99, 99.9].map((percentile) => percentileAt(tokens.numbers, percentile)),
    [51, 99, 100],
  );
  assert.deepEqual(label.texts, [
    ["cat", 25],
    ["dog", 75],
    ['{"a":1}', 1],
  ]);
  assert.equal(label.numbers.count, 0);
});

test("joined values are those of all", () => {
  const one = extract(["x"], [[1], [2], ["a"]]);
  const two = extract(["x", "y"], [[3], [6], ["a"], [undefined, 5]]);
  const [x, y] = joinExtracted([one, undefined, two]) ?? [];
  assert.ok(x !== undefined && y !== undefined);
  const { count, mean, min, max } = x.numbers;
  assert.deepEqual([count, mean, min, max, x.missingCount, x.texts], [4, 3, 1, 6, 1, [["a", 2]]]);
  assert.deepEqual([y.name, y.numbers.count, y.missingCount], ["y", 1, 3]);
  assert.equal(joinExtracted([undefined]), undefined);
});

test("numbers of different units are not joined", () => {
  const [one] = extract(["x"], [[1]]);
  const [other, same] = extract(["x", "y"], [[2, 3]]);
  assert.ok(one !== undefined && other !== undefined && same !== undefined);
  const joined = joinExtracted([[{ ...one, unit: "ms" }], [{ ...other, unit: "s" }, same]]);
  assert.deepEqual(
    joined?.map(({ name }) => name),
    ["y"],
  );
});

test("memory is bounded: many different values are rounded or counted together", () => {
  const many = Array.from({ length: 200_000 }, (_, at) => [1 + at / 200_000]);
  const texts = Array.from({ length: 3000 }, (_, at) => [`text ${at}`]);
  const [column] = extract(["x"], [...many, ...texts]);
  assert.ok(column?.numbers.digits === 4 && column.numbers.values.length < 11_000);
  assert.ok(Math.abs(percentileAt(column.numbers, 50) - 1.5) < 0.0011);
  assert.ok(Math.abs(column.numbers.mean - 1.5) < 1e-5);
  assert.deepEqual([column.texts.length, column.otherCount], [1000, 2000]);
  const [joined] = joinExtracted([[column], extract(["x"], [["text 0"], ["other text"], [1.23449]])]) ?? [];
  assert.deepEqual([joined?.texts.length, joined?.texts[0], joined?.otherCount], [1000, ["text 0", 2], 2001]);
  assert.ok(joined?.numbers.values.includes(1.234) === true && !joined.numbers.values.includes(1.23449));
});

test("which of many different texts are kept depends on no order, of responses, of parts or of joining", () => {
  const random = createRandom(5);
  const draw = (): string => `text ${Math.floor(3000 * random() ** 2)}`;
  const parts = [200, 2500, 4000].map((count) => Array.from({ length: count }, () => [draw()]));
  const textsOf = (extracted: readonly Extracted[] | undefined) =>
    extracted?.map(({ texts, otherCount }) => ({ texts, otherCount }));
  const of = (responses: readonly (readonly unknown[])[]): Extracted[] => extract(["x"], responses);
  const whole = of(parts.flat());
  assert.ok(whole[0]?.texts.length === 1000 && whole[0].otherCount > 0);
  const [a, b, c] = parts.map(of);
  const expected = textsOf(whole);
  assert.deepEqual(textsOf(of(parts.flat().reverse())), expected);
  assert.deepEqual(textsOf(joinExtracted([a, b, c])), expected);
  assert.deepEqual(textsOf(joinExtracted([c, a, b])), expected);
  assert.deepEqual(textsOf(joinExtracted([joinExtracted([c, b]), a])), expected);
  assert.deepEqual(textsOf(joinExtracted([b, joinExtracted([a, c])])), expected);
  // What is kept is counted exactly.
  const counts = Map.groupBy(parts.flat(2), (text) => text);
  for (const [text, count] of whole[0].texts) assert.equal(count, counts.get(text)?.length);
});
