import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { StampScratch } from "../../src/transport/stamp-scratch.ts";

const LENGTH = 4;

test("whatever was written before, the bytes are those of the message with its stamp", () => {
  const message = fc
    .uint8Array({ minLength: LENGTH, maxLength: 12 })
    .chain((bytes) => fc.record({ bytes: fc.constant(bytes), stampOffset: fc.nat(bytes.length - LENGTH) }));
  const messages = fc.array(message, { minLength: 1, maxLength: 4 });
  const stamp = fc.uint8Array({ minLength: LENGTH, maxLength: LENGTH });
  fc.assert(
    fc.property(messages, fc.array(fc.tuple(fc.nat(), stamp), { maxLength: 30 }), (known, sends) => {
      const scratch = new StampScratch();
      for (const [choice, bytes] of sends) {
        const sent = known[choice % known.length] as { bytes: Uint8Array; stampOffset: number };
        const before = sent.bytes.slice();
        const expected = sent.bytes.slice();
        expected.set(bytes, sent.stampOffset);
        assert.deepEqual(scratch.fill(sent, bytes), expected);
        assert.deepEqual(sent.bytes, before);
      }
    }),
  );
});
