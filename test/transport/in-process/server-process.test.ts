import assert from "node:assert/strict";
import { test } from "node:test";
import { encodeFrame, type Frame, FrameReader, TO_SERVER } from "../../../src/transport/in-process/frames.ts";
import { TemplateTable } from "../../../src/transport/in-process/server-process.ts";
import type { WireRequest } from "../../../src/transport/request.ts";

function requestOf(size: number): WireRequest {
  const stampPlace = { offset: 5, length: 1, idDigits: 1 };
  return { path: "/inference.X/Y", method: "POST", headers: [], payload: new Uint8Array(size), stampPlace };
}

function record(): { readonly frames: Frame[]; readonly send: (bytes: Uint8Array) => void } {
  const frames: Frame[] = [];
  const reader = new FrameReader((frame) => frames.push({ ...frame, body: Uint8Array.from(frame.body) }));
  return { frames, send: (bytes) => reader.feed(bytes) };
}

test("each request is sent once, with the place of its stamp", () => {
  const { frames, send } = record();
  const table = new TemplateTable(send);
  const [first, second] = [requestOf(10), requestOf(20)];
  assert.deepEqual(
    [first, second, first, second, first].map((request) => table.idOf(request)),
    [1, 2, 1, 2, 1],
  );
  assert.deepEqual(
    frames.map(({ type, id, body }) => [type, id, body.length, body[0]]),
    [
      [TO_SERVER.template, 1, 14, 5],
      [TO_SERVER.template, 2, 24, 5],
    ],
  );
});

test("above the limit, the least recently used request is evicted, and sent again when it is needed", () => {
  const { frames, send } = record();
  const table = new TemplateTable(send, 25);
  const [first, second, third] = [requestOf(10), requestOf(10), requestOf(10)];
  for (const request of [first, second, first, third]) table.idOf(request);
  assert.deepEqual(
    frames.map(({ type, id }) => [type, id]),
    [
      [TO_SERVER.template, 1],
      [TO_SERVER.template, 2],
      [TO_SERVER.template, 3],
      [TO_SERVER.forget, 2],
    ],
  );
  assert.equal(table.idOf(first), 1);
  assert.equal(table.idOf(second), 4);
});

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
