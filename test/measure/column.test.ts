// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Column } from "../../src/measure/column.ts";

test("rows keep the pushed values, whatever came first", () => {
  const pushed = Array.from({ length: 1000 }, (_, i) => (i < 300 || i % 7 === 0 ? Number.NaN : i));
  const column = new Column();
  for (const value of pushed) column.push(value);
  assert.equal(column.length, 1000);
  assert.deepEqual([...column.view()], pushed);
  assert.deepEqual([column.at(0), column.at(301), column.at(1000)], [Number.NaN, Number.NaN, Number.NaN]);
  assert.equal(column.at(302), 302);
  assert.deepEqual([...column.measured([302, 301, 303])], [302, 303]);
});

test("a column in which nothing was measured has its rows all the same", () => {
  const column = new Column();
  for (let i = 0; i < 20; i++) column.push(Number.NaN);
  assert.deepEqual([column.length, column.measured().length, column.measured([1, 2]).length], [20, 0, 0]);
  assert.deepEqual([...column.view()], Array(20).fill(Number.NaN));
  column.push(5);
  assert.deepEqual([...column.measured()], [5]);
  assert.equal(column.at(20), 5);
});

test("adding many values at once is the same as adding them one by one", () => {
  const value = fc.oneof(fc.double(), fc.constant(Number.NaN));
  fc.assert(
    fc.property(fc.array(fc.oneof(fc.array(value), fc.array(fc.constant(Number.NaN)))), (parts) => {
      const one = new Column();
      const many = new Column();
      for (const part of parts) {
        for (const each of part) one.push(each);
        many.append(Float64Array.from(part));
      }
      assert.deepEqual(many.measured(), one.measured());
      assert.deepEqual([...many.view()], [...one.view()]);
    }),
  );
});

test("a long column keeps its rows, most of them in a file", () => {
  const count = 600_000;
  const expectedAt = (row: number): number => (row < 1000 || row % 5 === 0 ? Number.NaN : row * 1.5);
  const column = new Column();
  for (let row = 0; row < count; row++) column.push(expectedAt(row));
  const copy = new Column();
  copy.push(7);
  copy.append(column);
  assert.deepEqual([column.length, copy.length, column.isEmpty], [count, count + 1, false]);
  for (const row of [0, 999, 1001, 262_143, 262_144, 263_144, 524_287, 524_289, 599_999, 3, 555_555, 100_001]) {
    assert.equal(column.at(row), expectedAt(row), `row ${row}`);
    assert.equal(copy.at(row + 1), expectedAt(row), `copied row ${row}`);
  }
  assert.deepEqual([column.at(count), column.at(-1)], [Number.NaN, Number.NaN]);
  const view = column.view();
  assert.equal(view.length, count);
  assert.ok(view.every((value, row) => Object.is(value, expectedAt(row))));
  assert.equal(column.measured().length, ((count - 1000) * 4) / 5);
  assert.deepEqual([...column.measured([500_001, 5, 1])], [expectedAt(500_001)]);
});
