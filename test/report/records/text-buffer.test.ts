import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { TextBuffer } from "../../../src/report/records/text-buffer.ts";

type Change =
  | { readonly append: string }
  | { readonly digits: number }
  | { readonly again: number }
  | { readonly keep: number };

test("a buffer has the text that a string would have", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 50 }),
    fc.string({ unit: "grapheme" }),
    fc.constant("x".repeat(100_000)),
  );
  const change: fc.Arbitrary<Change> = fc.oneof(
    fc.record({ append: text }),
    fc.record({ digits: fc.nat({ max: 999_999_999 }) }),
    fc.record({ again: fc.nat({ max: 200_000 }) }),
    fc.record({ keep: fc.nat({ max: 200_000 }) }),
  );
  fc.assert(
    fc.property(fc.array(change, { maxLength: 30 }), (changes) => {
      const buffer = new TextBuffer();
      let bytes = Buffer.alloc(0);
      for (const one of changes) {
        if ("append" in one) {
          buffer.append(one.append);
          bytes = Buffer.concat([bytes, Buffer.from(one.append)]);
        } else if ("digits" in one) {
          buffer.appendDigits(one.digits, 9);
          bytes = Buffer.concat([bytes, Buffer.from(String(one.digits).padStart(9, "0"))]);
        } else if ("again" in one) {
          const start = Math.min(one.again, bytes.length);
          buffer.copyWithin(start, bytes.length);
          bytes = Buffer.concat([bytes, bytes.subarray(start)]).subarray(0, 1 << 21);
          buffer.truncate(Math.min(buffer.length, 1 << 21));
        } else {
          buffer.truncate(Math.min(one.keep, bytes.length));
          bytes = bytes.subarray(0, one.keep);
        }
        assert.equal(buffer.length, bytes.length);
      }
      assert.ok(bytes.equals(buffer.view()));
      assert.equal(buffer.textFrom(0), bytes.toString());
    }),
    { numRuns: 60 },
  );
});
