import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ProtocolError } from "../../../src/transport/failure.ts";
import { FrameReader } from "../../../src/transport/http2/frame-reader.ts";
import { encodeSettings, encodeWords, errorName, FRAME } from "../../../src/transport/http2/frames.ts";
import { hex, inPieces, join, latin1, pattern, splits, toText } from "../bytes.ts";
import { readFrames } from "./read-frames.ts";
import { END_HEADERS, END_STREAM, frame, PADDED, PRIORITY, settings, TYPE, words } from "./write-frames.ts";

const A = latin1("a");

describe("HTTP/2 frame reader reads", () => {
  const cases: readonly (readonly [name: string, bytes: Uint8Array, told: readonly string[]])[] = [
    [
      "frames one after the other, empty ones too",
      join(frame(4, 0, 0), frame(0, 1, 5, A)),
      ['frame 4 0 0 ""', 'frame 0 1 5 "a"'],
    ],
    ["a stream id without its reserved bit", frame(0, 0, 0x80000003, A), ['frame 0 0 3 "a"']],
    ["frames of unknown types", frame(77, 255, 9, A), ['frame 77 255 9 "a"']],
    ["a header block in one frame", frame(1, END_HEADERS | END_STREAM, 1, A), ['headers 1 last "a"']],
    [
      "a header block over HEADERS and CONTINUATION, the end of the stream told by the first",
      join(frame(1, END_STREAM, 1, A), frame(9, 0, 1), frame(9, END_HEADERS, 1, latin1("bc"))),
      ['headers 1 last "abc"'],
    ],
    [
      "header blocks of two streams one after the other",
      join(frame(1, 0, 1, A), frame(9, END_HEADERS, 1, A), frame(1, END_HEADERS, 3, A)),
      ['headers 1 open "aa"', 'headers 3 open "a"'],
    ],
    [
      "padding and priority of HEADERS",
      frame(1, END_HEADERS | PADDED | PRIORITY, 1, join(hex("02 00000000 ff"), A, hex("0000"))),
      ['headers 1 open "a"'],
    ],
    ["padding that is all of the payload", frame(1, END_HEADERS | PADDED, 1, hex("02 0000")), ['headers 1 open ""']],
    [
      "a frame of exactly 16 KiB",
      frame(0, 0, 1, new Uint8Array(16_384).fill(97)),
      [`frame 0 0 1 "${"a".repeat(16_384)}"`],
    ],
  ];
  for (const [name, bytes, told] of cases) {
    test(name, () => {
      const ways = bytes.length > 1000 ? [[bytes], inPieces(bytes, 1000), inPieces(bytes, 16_384)] : splits(bytes);
      for (const pieces of ways) assert.deepEqual(readFrames(pieces), told);
    });
  }

  test("many large frames in pieces of any size, each whole and in order", () => {
    const sizes = [0, 1, 16_384, 9, 16_383, 100, 16_384];
    const bytes = join(...sizes.map((size, index) => frame(0, 0, index + 1, pattern(size, index))));
    for (const size of [7, 1460, 16_393, 40_000, 65_536]) {
      const lengths: number[] = [];
      const reader = new FrameReader({
        onFrame: ({ streamId }, store, start, end) => {
          lengths.push(end - start);
          assert.equal(Buffer.compare(store.subarray(start, end), pattern(end - start, streamId - 1)), 0);
        },
        onHeaderBlock: () => assert.fail("no headers were sent"),
      });
      for (const piece of inPieces(bytes, size)) reader.feed(piece);
      assert.deepEqual(lengths, sizes);
    }
  });
});

describe("HTTP/2 frame reader refuses", () => {
  const cases: readonly (readonly [name: string, bytes: Uint8Array, message: RegExp])[] = [
    [
      "a frame above 16 KiB",
      hex("004001 00 00 00000001"),
      /^frame of 16385 bytes, above the announced limit of 16384$/,
    ],
    ["the largest frame there can be", hex("ffffff 00 00 00000001"), /^frame of 16777215 bytes/],
    [
      "an HTTP/1.1 response",
      latin1("HTTP/1.1 400 Bad Request\r\n\r\n"),
      /does not speak HTTP\/2, which gRPC needs: it answered "HTTP\//,
    ],
    ["CONTINUATION without HEADERS", frame(9, END_HEADERS, 1), /^CONTINUATION without HEADERS$/],
    [
      "CONTINUATION after the end of its block",
      join(frame(1, END_HEADERS, 1), frame(9, 0, 1)),
      /^CONTINUATION without HEADERS$/,
    ],
    [
      "another frame inside a block",
      join(frame(1, 0, 1, A), frame(6, 0, 0, new Uint8Array(8))),
      /^another frame inside a header block$/,
    ],
    [
      "another stream's block inside a block",
      join(frame(1, 0, 1, A), frame(9, END_HEADERS, 3, A)),
      /^another frame inside a header block$/,
    ],
    ["a block on stream 0", frame(1, 0, 0, A), /^HEADERS frame on stream 0$/],
    ["HEADERS too short for its priority", frame(1, END_HEADERS | PRIORITY, 1, A), /^HEADERS frame is too short$/],
    ["more padding than payload", frame(1, END_HEADERS | PADDED, 1, hex("05 00")), /^frame padding is too long$/],
    ["a padded frame without a length of padding", frame(1, END_HEADERS | PADDED, 1), /^frame padding is too long$/],
    [
      "a block of more than 256 KiB",
      join(frame(1, 0, 1), ...Array.from({ length: 17 }, () => frame(9, 0, 1, new Uint8Array(16_384)))),
      /^header block is too large$/,
    ],
    [
      "a flood of empty CONTINUATION frames",
      join(frame(1, 0, 1), ...Array.from({ length: 1001 }, () => frame(9, 0, 1))),
      /^header block is too large$/,
    ],
  ];
  for (const [name, bytes, message] of cases) {
    test(name, () => {
      const ways = bytes.length > 1000 ? [[bytes], inPieces(bytes, 1000)] : splits(bytes);
      for (const pieces of ways)
        assert.throws(
          () => readFrames(pieces),
          (error) => error instanceof ProtocolError && message.test(error.message),
        );
    });
  }
});

describe("HTTP/2 frame parts", () => {
  const reader = new FrameReader({ onFrame: () => {}, onHeaderBlock: () => {} });

  test("settings come as pairs, and a broken list is refused", () => {
    const bytes = settings({ 1: 0, 3: 4_294_967_295, 4: 65_536 }).subarray(9);
    assert.deepEqual(reader.settings(bytes, 0, bytes.length), [
      [1, 0],
      [3, 4_294_967_295],
      [4, 65_536],
    ]);
    assert.throws(() => reader.settings(bytes, 0, 7), /^ProtocolError: SETTINGS of 7 bytes$/);
  });

  test("a GOAWAY gives its last stream, code and text, and must have 8 bytes", () => {
    const bytes = join(words(0x80000007, 11), latin1("too_many_pings"));
    assert.deepEqual(reader.goaway(bytes, 0, bytes.length), { lastStreamId: 7, code: 11, debug: "too_many_pings" });
    assert.throws(() => reader.goaway(bytes, 0, 7), /^ProtocolError: GOAWAY of 7 bytes$/);
  });

  test("a word is four bytes", () => {
    assert.equal(reader.word(words(0xfffffffe), 0, 4), 0xfffffffe);
    assert.throws(() => reader.word(words(1, 2), 0, 8), /^ProtocolError: frame of 8 bytes where 4 are due$/);
  });

  test("our own frames are what another writer writes", () => {
    assert.deepEqual(
      encodeSettings([
        [1, 0],
        [4, 8_388_608],
      ]),
      settings({ 1: 0, 4: 8_388_608 }),
    );
    assert.deepEqual(encodeWords(FRAME.rstStream, 5, [8]), frame(TYPE.rstStream, 0, 5, words(8)));
    assert.deepEqual(encodeWords(FRAME.goaway, 0, [0, 1]), frame(TYPE.goaway, 0, 0, words(0, 1)));
  });

  test("error codes have names, unknown ones a number", () => {
    assert.equal(errorName(7), "REFUSED_STREAM");
    assert.equal(errorName(11), "ENHANCE_YOUR_CALM");
    assert.equal(errorName(99), "error 99");
  });

  test("a response that only begins like HTTP is quoted to its line's end", () => {
    assert.throws(
      () => readFrames([latin1("HTTP/1.1 426 Upgrade Required\r\nServer: x\r\n\r\n")]),
      (error) => {
        assert.ok(error instanceof Error);
        return toText(latin1(error.message)).endsWith('it answered "HTTP/1.1 426 Upgrade Required"');
      },
    );
  });
});
