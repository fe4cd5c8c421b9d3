import assert from "node:assert/strict";
import { test } from "node:test";
import { RecordColumns } from "../../src/measure/records.ts";
import { fill } from "./make-records.ts";

test("columns are handed over when full, and used again without losing or repeating a row", () => {
  const seen: number[] = [];
  const records = new RecordColumns((columns, count) => {
    for (let row = 0; row < count; row++) seen.push(columns.endNs[row] as number);
  });
  const ends = records.endNs;
  const count = 8192 * 2 + 5;
  for (let i = 0; i < count; i++) fill(records, { sendStartNs: 0, endNs: i });
  assert.equal(seen.length, 8192 * 2);
  records.drain();
  records.drain();
  assert.equal(seen.length, count);
  assert.ok(seen.every((end, index) => end === index));
  assert.equal(records.endNs, ends, "the columns are the same arrays");
  assert.equal(records.row, 0);
});

test("a record may be written from inside the drain", () => {
  let drains = 0;
  const records: RecordColumns = new RecordColumns((_, count) => {
    drains += count;
    if (drains === 8192) fill(records, { sendStartNs: 0, endNs: 1 });
  });
  for (let i = 0; i < 8192; i++) fill(records, { sendStartNs: 0, endNs: i });
  assert.equal(records.row, 1);
  records.drain();
  assert.equal(drains, 8193);
});
