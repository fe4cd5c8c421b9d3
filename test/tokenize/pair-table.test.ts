import assert from "node:assert/strict";
import { test } from "node:test";
import { PairTable } from "../../src/tokenize/pair-table.ts";

/** The table of pairs of token ids. */

test("a table separates many pairs, and a later value replaces an earlier one", () => {
  const table = new PairTable(30_000);
  for (let index = 0; index < 30_000; index++) table.set(index % 173, Math.floor(index / 173), index);
  table.set(5, 7, 99);
  for (let index = 0; index < 30_000; index++) {
    const expected = index === 5 + 7 * 173 ? 99 : index;
    assert.equal(table.get(index % 173, Math.floor(index / 173)), expected);
  }
  assert.equal(table.get(173, 0), -1);
});

test("a pair is not its reverse, and 0 is a value", () => {
  const table = new PairTable(1);
  table.set(0, 1, 0);
  assert.deepEqual([table.get(0, 1), table.get(1, 0), table.get(0, 0)], [0, -1, -1]);
});
