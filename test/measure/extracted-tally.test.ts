import assert from "node:assert/strict";
import { test } from "node:test";
import { ExtractedColumn, ExtractedTally, mergeExtracted } from "../../src/measure/extracted-tally.ts";

test("numbers have an average and percentiles, other values are counted", () => {
  const tally = new ExtractedTally(["tokens", "label"]);
  for (let n = 1; n <= 100; n++) tally.add([n, n % 4 === 0 ? "cat" : "dog"]);
  tally.add([null, { a: 1 }]);
  const tokens = tally.find("tokens");
  assert.ok(tokens);
  assert.deepEqual(
    [tokens.numberCount, tokens.mean, tokens.min, tokens.max, tokens.missingCount],
    [100, 50.5, 1, 100, 1],
  );
  assert.deepEqual([tokens.percentile(50), tokens.percentile(99), tokens.percentile(99.9)], [50, 99, 100]);
  assert.deepEqual(
    [...(tally.find("label")?.texts ?? [])],
    [
      ["dog", 75],
      ["cat", 25],
      ['{"a":1}', 1],
    ],
  );
  assert.equal(tally.find("other"), undefined);
});

test("a column without numbers has none", () => {
  const column = new ExtractedColumn("x");
  column.add("text");
  assert.ok(Number.isNaN(column.mean));
  assert.ok(Number.isNaN(column.percentile(50)));
});

test("merged windows have the values of all", () => {
  const [one, two] = [new ExtractedTally(["x"]), new ExtractedTally(["x"])];
  for (const value of [1, 2, "a"]) one.add([value]);
  for (const value of [3, 6, "a", undefined]) two.add([value]);
  const merged = mergeExtracted([one, undefined, two])?.find("x");
  assert.ok(merged);
  assert.deepEqual(
    [merged.numberCount, merged.mean, merged.min, merged.max, merged.missingCount, merged.texts.get("a")],
    [4, 3, 1, 6, 1, 2],
  );
  assert.equal(one.find("x")?.numberCount, 2, "the windows stay as they are");
  assert.equal(mergeExtracted([undefined]), undefined);
});

test("memory is bounded: many different values are rounded or counted together", () => {
  const column = new ExtractedColumn("x");
  for (let n = 0; n < 200_000; n++) column.add(1 + n / 200_000);
  for (let n = 0; n < 3000; n++) column.add(`text ${n}`);
  assert.equal(column.isRounded, true);
  assert.ok(Math.abs(column.percentile(50) - 1.5) < 0.011);
  assert.ok(Math.abs(column.mean - 1.5) < 1e-5);
  assert.deepEqual([column.texts.size, column.otherCount], [1000, 2000]);
});
