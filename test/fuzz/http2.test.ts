import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { MessageReader } from "../../src/transport/grpc/messages.ts";
import { readHead } from "../../src/transport/grpc/response-head.ts";
import { HeaderReader } from "../../src/transport/http2/frame-handler.ts";
import { encodeLiterally, HpackDecoder, RepeatedHeaders } from "../../src/transport/http2/hpack.ts";
import { decodeHuffman } from "../../src/transport/http2/huffman.ts";
import { join } from "../transport/bytes.ts";
import * as recorded from "../transport/fixtures/recorded.ts";
import { readFrames } from "../transport/http2/read-frames.ts";
import { frame, grpcMessage, headerBlock } from "../transport/http2/write-frames.ts";
import { readStreamed } from "../transport/simple-model.ts";
import { cutAt, cuts, mutate, mutations, RUNS } from "./bounds.ts";
import { outcomeOf } from "./outcome.ts";

/** Frame reader, HPACK, Huffman and gRPC messages: same result however cut, and no other end than a result or their own error. */

const anyFrame = fc
  .record({
    // HEADERS and CONTINUATION depend on each other: they have tests of their own.
    type: fc.constantFrom(0, 2, 3, 4, 5, 6, 7, 8, 42),
    flags: fc.nat({ max: 255 }),
    streamId: fc.nat({ max: 0x7fffffff }),
    payload: fc.uint8Array({ maxLength: 200 }),
  })
  .map(({ type, flags, streamId, payload }) => frame(type, flags, streamId, payload));

const REAL = Object.values(recorded)
  .filter(({ bytes }) => bytes[0] !== 0x48)
  .map(({ bytes }) => bytes);

const name = fc.stringMatching(/^[a-z0-9-]{1,20}$/);
const headerList = fc.array(fc.tuple(name, fc.string({ maxLength: 200 })), { maxLength: 12 });

describe("fuzz: HTTP/2 frames", () => {
  test("valid frames are reported identically, however they are split", () => {
    fc.assert(
      fc.property(fc.array(anyFrame, { maxLength: 10 }), cuts(), (frames, points) => {
        const told = readFrames(cutAt(join(...frames), points));
        assert.equal(told.length, frames.length);
        assert.deepEqual(told, readFrames(frames));
      }),
      RUNS,
    );
  });

  test("a header block is the same over any number of frames", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1, maxLength: 500 }), cuts(), cuts(), (block, parts, points) => {
        const [first = block, ...rest] = cutAt(block, parts);
        const frames = [frame(1, rest.length === 0 ? 4 : 0, 1, first)];
        for (const [index, part] of rest.entries()) frames.push(frame(9, index === rest.length - 1 ? 4 : 0, 1, part));
        assert.deepEqual(readFrames(cutAt(join(...frames), points)), readFrames([frame(1, 4, 1, block)]));
      }),
      RUNS,
    );
  });

  test("changed bytes of real servers end the same way however they are cut", () => {
    fc.assert(
      fc.property(fc.constantFrom(...REAL), mutations(), cuts(), (real, changes, points) => {
        const bytes = mutate(real, changes);
        const whole = outcomeOf(() => readFrames([bytes]));
        const cut = outcomeOf(() => readFrames(cutAt(bytes, points)));
        assert.equal("error" in cut, "error" in whole);
        if ("result" in whole) assert.deepEqual(cut, whole);
      }),
      RUNS,
    );
  });

  test("random bytes are frames or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 2000 }), cuts(), (bytes, points) => {
        outcomeOf(() => readFrames(cutAt(bytes, points)));
      }),
      RUNS,
    );
  });

  test("a frame above the announced size is refused by its first bytes", () => {
    fc.assert(
      fc.property(fc.integer({ min: 16_385, max: 0xffffff }), fc.nat({ max: 255 }), cuts(), (size, type, points) => {
        const header = new Uint8Array([size >>> 16, size >>> 8, size, type, 0, 0, 0, 0, 1]);
        const outcome = outcomeOf(() => readFrames(cutAt(header, points)));
        if (header[0] === 0x48 && header[1] === 0x54) return;
        assert.ok("error" in outcome);
        assert.match(outcome.error, new RegExp(`^frame of ${size} bytes, .* 16384$`));
      }),
      RUNS,
    );
  });
});

describe("fuzz: HPACK", () => {
  test("header lists survive literal and repeated encoding, and another writer's", () => {
    fc.assert(
      fc.property(headerList, fc.array(fc.constantFrom(0, 100, 4096, 65_536), { maxLength: 6 }), (list, tables) => {
        const decoder = new HpackDecoder(4096);
        assert.deepEqual(decoder.decode(encodeLiterally(list)), list);
        assert.deepEqual(decoder.decode(headerBlock(list)), list);
        const repeated = new RepeatedHeaders(list);
        for (const tableBytes of [4096, ...tables])
          assert.deepEqual(decoder.decode(repeated.nextBlock(tableBytes)), list);
      }),
      RUNS,
    );
  });

  test("changed and random blocks are decoded or rejected, and remembered blocks keep their meaning", () => {
    fc.assert(
      fc.property(headerList, mutations(), fc.uint8Array({ maxLength: 200 }), (list, changes, random) => {
        const reader = new HeaderReader();
        const plain = new HpackDecoder(4096);
        for (const block of [headerBlock(list), mutate(headerBlock(list), changes), random, random]) {
          const expected = outcomeOf(() => plain.decode(block));
          assert.deepEqual(
            outcomeOf(() => reader.read(block)),
            expected,
          );
          // After an error the connection is of no use.
          if ("error" in expected) return;
        }
      }),
      RUNS,
    );
  });

  test("random Huffman codes are text or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        const outcome = outcomeOf(() => decodeHuffman(bytes, 0, bytes.length));
        // No symbol is shorter than five bits.
        if ("result" in outcome) assert.ok(outcome.result.length <= (bytes.length * 8) / 5);
      }),
      RUNS,
    );
  });
});

describe("fuzz: gRPC", () => {
  const readMessages = (pieces: readonly Uint8Array[]): Uint8Array[] => {
    const messages: Uint8Array[] = [];
    const reader = new MessageReader(
      { onMessage: (bytes, start, end) => messages.push(bytes.slice(start, end)) },
      "whole",
    );
    for (const piece of pieces) reader.feed(piece, 0, piece.length);
    return messages;
  };

  test("messages are the same however their data is cut", () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 6 }), cuts(), (messages, points) => {
        assert.deepEqual(
          readMessages(cutAt(join(...messages.map((message) => grpcMessage(message))), points)),
          messages,
        );
      }),
      RUNS,
    );
  });

  test("random data is messages or refused, the same however it is cut", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), cuts(), (bytes, points) => {
        assert.deepEqual(
          outcomeOf(() => readMessages(cutAt(bytes, points))),
          outcomeOf(() => readMessages([bytes])),
        );
      }),
      RUNS,
    );
  });

  test("any header list has an outcome or is refused", () => {
    const names = fc.constantFrom(":status", "grpc-status", "grpc-message", "grpc-encoding", "other");
    fc.assert(
      fc.property(fc.array(fc.tuple(names, fc.string({ maxLength: 30 })), { maxLength: 6 }), (list) => {
        outcomeOf(() => readHead(list));
      }),
      RUNS,
    );
  });

  test("any message of a stream is a response or refused", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), fc.nat(3), (bytes, before) => {
        // The same wherever it stands in what was read, and whatever follows it.
        const among = new Uint8Array(before + bytes.length + 3).fill(0x12);
        among.set(bytes, before);
        const read = (where: Uint8Array, at: number): unknown =>
          outcomeOf(() => {
            const { bodyStart, bodyEnd, ...told } = readStreamed(where, at, at + bytes.length);
            return { ...told, body: [...where.subarray(bodyStart, bodyEnd)] };
          });
        assert.deepEqual(read(among, before), read(bytes, 0));
      }),
      RUNS,
    );
  });
});
