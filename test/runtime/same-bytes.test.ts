import assert from "node:assert/strict";
import { test } from "node:test";
import { isSameBytes } from "../../src/runtime/same-bytes.ts";

test("bytes are the same only where every one of them is, whatever their number and place", () => {
  for (const length of [0, 1, 7, 8, 9, 16, 23, 95, 96, 97, 300]) {
    const a = Uint8Array.from({ length: length + 5 }, (_, index) => (index * 7) % 256);
    const b = new Uint8Array(length + 40);
    b.set(a.subarray(5), 11);
    assert.equal(isSameBytes(a, 5, b, 11, length), true, `${length} bytes`);
    for (const at of [0, 1, length >> 1, length - 1]) {
      if (at < 0 || at >= length) continue;
      const other = b.slice();
      other[11 + at] = ((other[11 + at] as number) + 128) % 256;
      assert.equal(isSameBytes(a, 5, other, 11, length), false, `${length} bytes, other at ${at}`);
    }
    // What stands around them does not matter.
    b.fill(99, 0, 11);
    b.fill(99, 11 + length);
    assert.equal(isSameBytes(a, 5, b, 11, length), true, `${length} bytes between others`);
  }
});
