import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { HeadReader, type ResponseHead } from "../../../src/transport/http1/response-head.ts";
import { latin1 } from "../bytes.ts";

/** What a reader remembers of one must never be told of another. */

const HEADS = [
  "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n",
  "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nInference-Header-Content-Length: 2\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nContent-Length: 4\r\n\r\n",
  "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n",
  "HTTP/1.0 200 OK\nContent-Length: 4\n\n",
  "HTTP/1.1 503 No\r\nConnection: close\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n",
  "HTTP/1.1 429 Wait\r\nRetry-After: 7\r\nContent-Length: 0\r\n\r\n",
  "HTTP/1.1 307 Go\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n",
].map(latin1);

function readAlone(bytes: Uint8Array): { readonly head: ResponseHead; readonly end: number } {
  const reader = new HeadReader();
  const end = reader.read(bytes, 0, bytes.length);
  return { head: reader.head, end };
}

describe("response heads", () => {
  test("a reader with a cached head returns the same as a new one", () => {
    const choice = fc.record({
      index: fc.nat(HEADS.length - 1),
      before: fc.nat(3),
      after: fc.nat(3),
      cut: fc.nat(100),
    });
    fc.assert(
      fc.property(fc.array(choice, { maxLength: 60 }), (choices) => {
        const reader = new HeadReader();
        for (const { index, before, after, cut } of choices) {
          const head = HEADS[index] as Uint8Array;
          const bytes = new Uint8Array(before + head.length + after).fill(0x58);
          bytes.set(head, before);
          const end = before + head.length;
          if (cut < head.length) assert.equal(reader.read(bytes, before, before + cut), -1);
          assert.equal(reader.read(bytes, before, bytes.length), end);
          assert.deepEqual(reader.head, readAlone(head).head);
        }
      }),
    );
  });

  test("a head that was recognised is the very one that was read", () => {
    const reader = new HeadReader();
    const bytes = HEADS[0] as Uint8Array;
    reader.read(bytes, 0, bytes.length);
    const { head } = reader;
    reader.read(bytes.slice(), 0, bytes.length);
    assert.equal(reader.head, head);
  });
});
