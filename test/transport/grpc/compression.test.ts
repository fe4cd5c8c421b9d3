import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { crc32, deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import fc from "fast-check";
import { ProtocolError } from "../../../src/transport/failure.ts";
import {
  adlerOf,
  CRC_OF_NOTHING,
  crcOf,
  joinAdlers,
  joinCrcs,
  toCrcShift,
} from "../../../src/transport/grpc/checksums.ts";
import { encodeGrpcMessage } from "../../../src/transport/grpc/encode.ts";
import { MessageReader } from "../../../src/transport/grpc/messages.ts";
import type { MessageCompression } from "../../../src/transport/request.ts";
import { StampScratch } from "../../../src/transport/stamp-scratch.ts";
import { fewerRuns, RUNS } from "../../fuzz/bounds.ts";
import { hex, join, latin1, pattern, splits, toText } from "../bytes.ts";
import { postRequest } from "../drive.ts";
import { grpcMessage } from "../http2/write-frames.ts";
import { COMPRESSED } from "./failures.ts";

/** Compressed messages, each way, judged by zlib. */

const PREFIX_BYTES = 5;
const ALGORITHMS: readonly MessageCompression[] = ["gzip", "deflate"];
const COMPRESS = { gzip: gzipSync, deflate: deflateSync } as const;
const DECOMPRESS = { gzip: gunzipSync, deflate: inflateSync } as const;

/** Checks a framed message and gives its content. */
function read(framed: Uint8Array, algorithm: MessageCompression): Uint8Array {
  assert.equal(framed[0], 1);
  assert.equal(new DataView(framed.buffer, framed.byteOffset).getUint32(1), framed.length - PREFIX_BYTES);
  return new Uint8Array(DECOMPRESS[algorithm](framed.subarray(PREFIX_BYTES)));
}

/** Bytes that compress well, with some that do not. */
function compressible(size: number, seed: number): Uint8Array {
  return pattern(size, seed).map((byte, index) => (index % 7 === 0 ? byte : index % 5));
}

describe("a compressed request", () => {
  for (const algorithm of ALGORITHMS) {
    test(`${algorithm}: is what zlib compresses`, () => {
      const payload = compressible(3000, 1);
      const { bytes, stampOffset, seal } = encodeGrpcMessage(postRequest("/a", payload), algorithm);
      assert.deepEqual(read(bytes, algorithm), payload);
      assert.deepEqual([stampOffset, seal], [-1, undefined]);
      assert.ok(bytes.length < 2500);
    });

    test(`${algorithm}: that would not become shorter goes as it is`, () => {
      for (const payload of [new Uint8Array(0), latin1("short"), pattern(1000)]) {
        const { bytes } = encodeGrpcMessage(postRequest("/a", payload), algorithm);
        assert.deepEqual(bytes, grpcMessage(payload));
        const stamped = postRequest("/a", payload, {
          stampPlace: { offset: 0, length: payload.length, idDigits: payload.length },
        });
        const message = encodeGrpcMessage(stamped, algorithm);
        const stamp = latin1("9".repeat(payload.length));
        assert.deepEqual(new StampScratch().fill(message, stamp), grpcMessage(stamp));
      }
    });

    test(`${algorithm}: takes any stamp anywhere`, () => {
      fc.assert(
        fc.property(
          fc.record({
            before: fc.oneof(fc.nat(40), fc.nat(600), fc.nat(40_000)),
            after: fc.oneof(fc.nat(5), fc.nat(300), fc.nat(200_000)),
            stamps: fc.array(fc.uint8Array({ minLength: 20, maxLength: 20 }), { minLength: 1, maxLength: 3 }),
            digits: fc.integer({ min: 1, max: 20 }),
            seed: fc.nat(1e6),
          }),
          ({ before, after, stamps, digits, seed }) => {
            const payload = compressible(before + digits + after, seed);
            const request = postRequest("/a", payload, {
              stampPlace: { offset: before, length: digits, idDigits: digits },
            });
            const message = encodeGrpcMessage(request, algorithm);
            const scratch = new StampScratch();
            for (const long of stamps) {
              const stamp = long.subarray(0, digits);
              const framed = scratch.fill(message, stamp);
              const expected = payload.slice();
              expected.set(stamp, before);
              assert.deepEqual(framed.subarray(message.stampOffset, message.stampOffset + digits), stamp);
              if (framed[0] === 0) assert.ok(framed.length <= expected.length + PREFIX_BYTES);
              assert.equal(
                Buffer.compare(framed[0] === 1 ? read(framed, algorithm) : framed.subarray(PREFIX_BYTES), expected),
                0,
              );
            }
            // Beyond what two blocks cost more than one, everything that compresses is compressed.
            if (payload.length > 1000) assert.equal(message.bytes[0], 1);
          },
        ),
        fewerRuns(4),
      );
    });
  }

  test("costs a few bytes more for its stamp than without one", () => {
    const payload = compressible(4000, 2);
    for (const algorithm of ALGORITHMS) {
      const whole = encodeGrpcMessage(postRequest("/a", payload), algorithm).bytes.length;
      const request = postRequest("/a", payload, { stampPlace: { offset: 20, length: 4, idDigits: 4 } });
      assert.ok(encodeGrpcMessage(request, algorithm).bytes.length < whole + 40);
    }
  });
});

describe("checksums", () => {
  test("are zlib's, of the whole and of parts put together", () => {
    const adler = (bytes: Uint8Array): number => deflateSync(bytes).readUInt32BE(deflateSync(bytes).length - 4);
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 20_000, size: "max" }),
        fc.uint8Array({ maxLength: 300 }),
        (first, second) => {
          const whole = join(first, second);
          assert.equal(crcOf(second, crcOf(first, CRC_OF_NOTHING)), crc32(whole));
          assert.equal(joinCrcs(crc32(first), crc32(second), toCrcShift(second.length)), crc32(whole));
          assert.equal(joinCrcs(crc32(second), crc32(first), toCrcShift(first.length)), crc32(join(second, first)));
          assert.equal(adlerOf(second, adlerOf(first, 1)), adler(whole));
          assert.equal(joinAdlers(adler(first), adler(second), second.length), adler(whole));
        },
      ),
      fewerRuns(3),
    );
  });

  test("of 5 MB of the highest byte", () => {
    const bytes = new Uint8Array(5_000_000).fill(255);
    const packed = deflateSync(bytes);
    assert.equal(adlerOf(bytes, 1), packed.readUInt32BE(packed.length - 4));
    const head = latin1("head");
    const both = deflateSync(join(head, bytes));
    assert.equal(joinAdlers(adlerOf(head, 1), adlerOf(bytes, 1), bytes.length), both.readUInt32BE(both.length - 4));
    assert.equal(joinCrcs(crc32(head), crc32(bytes), toCrcShift(bytes.length)), crc32(join(head, bytes)));
  });
});

function readMessages(pieces: readonly Uint8Array[], encoding: string, keepsBytes = true): string[] {
  const messages: string[] = [];
  const sink = {
    onMessage: (bytes: Uint8Array, start: number, end: number) => messages.push(toText(bytes.slice(start, end))),
  };
  const reader = new MessageReader(sink, keepsBytes ? "whole" : "none");
  reader.encoding = encoding;
  for (const piece of pieces) reader.feed(piece, 0, piece.length);
  return messages;
}

describe("a compressed response", () => {
  for (const algorithm of ALGORITHMS) {
    const packed = (text: string): Uint8Array => grpcMessage(new Uint8Array(COMPRESS[algorithm](latin1(text))), 1);

    test(`${algorithm}: is decompressed, between others and however it arrives`, () => {
      const bytes = join(packed("first"), grpcMessage(latin1("plain")), packed(""), packed("last one"));
      for (const pieces of splits(bytes)) {
        assert.deepEqual(readMessages(pieces, algorithm), ["first", "plain", "", "last one"]);
        assert.equal(readMessages(pieces, algorithm, false).length, 4);
      }
    });

    test(`${algorithm}: its bytes may be kept: they are not written over`, () => {
      const kept: Uint8Array[] = [];
      const reader = new MessageReader(
        { onMessage: (bytes, start, end) => kept.push(bytes.slice(start, end)) },
        "whole",
      );
      reader.encoding = algorithm;
      for (const text of ["one", "two"]) reader.feed(packed(text), 0, packed(text).length);
      assert.deepEqual(kept.map(toText), ["one", "two"]);
      assert.ok(kept.every((bytes) => bytes.constructor === Uint8Array));
    });

    test(`${algorithm}: that is damaged is an error of the protocol`, () => {
      const whole = new Uint8Array(COMPRESS[algorithm](compressible(400, 3)));
      const broken = [new Uint8Array(0), latin1("no such data"), whole.slice(0, -1), whole.slice(1)];
      const flipped = whole.slice();
      flipped[flipped.length - 5] = (flipped[flipped.length - 5] as number) ^ 255;
      for (const bytes of [...broken, flipped])
        assert.throws(
          () => readMessages([grpcMessage(bytes, 1)], algorithm),
          (error) =>
            error instanceof ProtocolError && error.message.startsWith(`bad ${algorithm} data in a gRPC message`),
        );
    });

    test(`${algorithm}: of any bytes gives a message or an error of the protocol`, () => {
      fc.assert(
        fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
          try {
            readMessages([grpcMessage(bytes, 1)], algorithm);
          } catch (error) {
            assert.ok(error instanceof ProtocolError);
          }
        }),
        RUNS,
      );
    });
  }

  for (const [encoding, message] of [
    ["identity", COMPRESSED.message],
    ["snappy", "gRPC message compressed with snappy, which was not offered"],
  ] as const) {
    test(`is refused where grpc-encoding is ${encoding}, wanted or not`, () => {
      for (const keepsBytes of [true, false])
        for (const pieces of splits(hex("01 00000001 61")))
          assert.throws(
            () => readMessages(pieces, encoding, keepsBytes),
            (error) => error instanceof ProtocolError && error.message === message,
          );
    });
  }

  test("an encoding is dropped with its stream", () => {
    const reader = new MessageReader({ onMessage: () => {} }, "whole");
    reader.encoding = "gzip";
    reader.reset("whole");
    assert.equal(reader.encoding, "identity");
  });
});
