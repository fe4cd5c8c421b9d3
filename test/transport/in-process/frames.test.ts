import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFrame, FrameReader } from "../../../src/transport/in-process/frames.ts";

test("frames survive any division into chunks", () => {
  const sent = [
    { type: 1, id: 0, body: Uint8Array.of() },
    { type: 3, id: 0xffff_ffff, body: Uint8Array.of(1, 2, 3) },
    { type: 2, id: 7, body: new Uint8Array(300).fill(9) },
  ];
  const bytes = Buffer.concat(
    sent.map(({ type, id, body }) => encodeFrame(type, id, body.subarray(0, 1), body.subarray(1))),
  );
  for (const size of [1, 2, 3, 5, 8, 13, 100, bytes.length]) {
    const received: unknown[] = [];
    const reader = new FrameReader(({ type, id, body }) => received.push({ type, id, body: Uint8Array.from(body) }));
    for (let at = 0; at < bytes.length; at += size) reader.feed(Uint8Array.from(bytes.subarray(at, at + size)));
    assert.deepEqual(received, sent, `chunks of ${size} bytes`);
  }
});
