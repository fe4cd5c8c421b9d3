import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { join, latin1 } from "../transport/bytes.ts";
import * as recorded from "../transport/fixtures/recorded.ts";
import { readResponses } from "../transport/http1/read-responses.ts";
import { cutAt, cuts, mutate, mutations, RUNS } from "./bounds.ts";
import { outcomeOf } from "./outcome.ts";

/** The HTTP/1.1 parser: same result however the bytes are cut, and no other end than a result or its own error. */

interface Message {
  readonly status: number;
  readonly body: Uint8Array;
  readonly chunkBytes: number;
  readonly isInformed: boolean;
  readonly extra: readonly string[];
}

const message: fc.Arbitrary<Message> = fc.record({
  status: fc.constantFrom(200, 201, 400, 404, 500, 503),
  body: fc.uint8Array({ maxLength: 300 }),
  chunkBytes: fc.nat({ max: 60 }),
  isInformed: fc.boolean(),
  extra: fc.array(fc.stringMatching(/^[A-Za-z-]{1,12}: [ -~]{0,30}$/), { maxLength: 4 }),
});

/** Writes a response, counted when `chunkBytes` is 0 and in chunks of so many bytes otherwise. */
function write({ status, body, chunkBytes, isInformed, extra }: Message): Uint8Array {
  const known = /^(content-length|transfer-encoding|connection|inference-header-content-length):/i;
  const lines = extra
    .filter((line) => !known.test(line))
    .map((line) => `${line}\r\n`)
    .join("");
  const head = `${isInformed ? "HTTP/1.1 100 Continue\r\n\r\n" : ""}HTTP/1.1 ${status} Some Reason\r\n${lines}`;
  if (chunkBytes === 0) return join(latin1(`${head}Content-Length: ${body.length}\r\n\r\n`), body);
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < body.length; at += chunkBytes) {
    const chunk = body.slice(at, at + chunkBytes);
    chunks.push(latin1(`${chunk.length.toString(16)}\r\n`), chunk, latin1("\r\n"));
  }
  return join(latin1(`${head}Transfer-Encoding: chunked\r\n\r\n`), ...chunks, latin1("0\r\n\r\n"));
}

const REAL = Object.values(recorded)
  .filter(({ bytes }) => bytes[0] === 0x48)
  .map(({ bytes }) => bytes);

describe("fuzz: HTTP/1.1 parser", () => {
  test("valid responses are read as written, however they are cut", () => {
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 4 }), cuts(), (messages, points) => {
        const pieces = cutAt(join(...messages.map(write)), points);
        const read = readResponses(pieces, true);
        assert.deepEqual(
          read.map(({ status, body }) => ({ status, body })),
          messages.map(({ status, body }) => ({ status, body })),
        );
      }),
      RUNS,
    );
  });

  test("a response that is cut off is an error when the connection ends, never a result", () => {
    fc.assert(
      fc.property(message, fc.nat(), cuts(), (sent, at, points) => {
        const bytes = write(sent);
        // The end of a 1xx response is a place to stop without having lost anything.
        const start = sent.isInformed ? 26 : 1;
        const cut = bytes.slice(0, start + (at % (bytes.length - start)));
        const outcome = outcomeOf(() => readResponses(cutAt(cut, points), true));
        assert.ok("error" in outcome, JSON.stringify(outcome));
        assert.match(outcome.error, /^connection closed within the response/);
      }),
      RUNS,
    );
  });

  for (const isEnded of [false, true]) {
    test(`changed responses of real servers end the same way however they are cut${isEnded ? ", closed after" : ""}`, () => {
      fc.assert(
        fc.property(fc.constantFrom(...REAL), mutations(), cuts(), (real, changes, points) => {
          const bytes = mutate(real, changes);
          const whole = outcomeOf(() => readResponses([bytes], isEnded));
          const cut = outcomeOf(() => readResponses(cutAt(bytes, points), isEnded));
          // An error may quote what has arrived so far, so its words may differ, but not that it is one.
          assert.equal("error" in cut, "error" in whole);
          if ("result" in whole) assert.deepEqual(cut, whole);
        }),
        RUNS,
      );
    });
  }

  test("random bytes are rejected immediately or wait for more", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 500 }), cuts(), (bytes, points) => {
        const outcome = outcomeOf(() => readResponses(cutAt(bytes, points), true));
        if ("result" in outcome) assert.equal(outcome.result.length, 0);
      }),
      RUNS,
    );
  });

  test("random bytes after a good head never hang and never throw anything else", () => {
    const heads = [
      "Transfer-Encoding: chunked",
      "Content-Length: 10",
      "Connection: close",
      "Inference-Header-Content-Length: 99999",
    ];
    fc.assert(
      fc.property(fc.constantFrom(...heads), fc.uint8Array({ maxLength: 300 }), cuts(), (header, bytes, points) => {
        outcomeOf(() =>
          readResponses(cutAt(join(latin1(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`), bytes), points), true),
        );
      }),
      RUNS,
    );
  });

  test("oversized heads, chunk lines and trailers are refused before they fill memory", () => {
    const endless = fc.constantFrom(
      ["HTTP/1.1 200 OK\r\nX: ", "y"],
      ["HTTP/1.1 200 OK\r\n", "A: b\r\n"],
      ["HTTP/1.1 200 ", "z"],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5;", "e"],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "T: x\r\n"],
      ["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: ", "v"],
    );
    fc.assert(
      fc.property(endless, fc.integer({ min: 1000, max: 20_000 }), ([start = "", unit = ""], pieceBytes) => {
        const piece = latin1(unit.repeat(Math.ceil(pieceBytes / unit.length)));
        let fed = 0;
        const pieces = function* (): Generator<Uint8Array> {
          yield latin1(start);
          for (; fed < 400_000; fed += piece.length) yield piece;
        };
        const outcome = outcomeOf(() => readResponses([...pieces()]));
        assert.ok("error" in outcome && /too long|longer than/.test(outcome.error));
      }),
      { ...RUNS, numRuns: 20 },
    );
  });
});
