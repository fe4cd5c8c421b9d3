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
