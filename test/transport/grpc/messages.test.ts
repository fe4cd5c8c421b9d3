import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ProtocolError, ResponseTooLargeError } from "../../../src/transport/failure.ts";
import { frameMessage, MessageReader } from "../../../src/transport/grpc/messages.ts";
import { readHead, toFailure } from "../../../src/transport/grpc/response-head.ts";
import { hex, inPieces, join, latin1, pattern, splits, toText } from "../bytes.ts";
import { grpcMessage } from "../http2/write-frames.ts";
import { COMPRESSED, NO_STATUS } from "./failures.ts";

function readMessages(
  pieces: readonly Uint8Array[],
  keepsBytes = true,
): { messages: Uint8Array[]; isBetween: boolean } {
  const messages: Uint8Array[] = [];
  const reader = new MessageReader(
    { onMessage: (bytes, start, end) => messages.push(bytes.slice(start, end)) },
    keepsBytes ? "whole" : "none",
  );
  for (const piece of pieces) reader.feed(piece, 0, piece.length);
  return { messages, isBetween: reader.isBetweenMessages };
}

describe("gRPC messages", () => {
  test("are cut out of the data, however it arrives", () => {
    const bytes = join(grpcMessage(latin1("first")), grpcMessage(new Uint8Array(0)), grpcMessage(latin1("third one")));
    for (const pieces of splits(bytes)) {
      const { messages, isBetween } = readMessages(pieces);
      assert.deepEqual(messages.map(toText), ["first", "", "third one"]);
      assert.equal(isBetween, true);
    }
  });

  test("of 300,000 bytes in pieces of a frame", () => {
    const body = pattern(300_000);
    const { messages } = readMessages(inPieces(grpcMessage(body), 16_384));
    assert.equal(messages.length, 1);
    assert.equal(Buffer.compare(messages[0] as Uint8Array, body), 0);
  });

  test("are only counted when their bytes are not wanted", () => {
    const bytes = join(grpcMessage(latin1("first")), grpcMessage(new Uint8Array(0)), grpcMessage(latin1("x")));
    for (const pieces of splits(bytes))
      assert.deepEqual(
        readMessages(pieces, false).messages.map((m) => m.length),
        [0, 0, 0],
      );
  });

  test("that are not complete are seen to be under way", () => {
    const bytes = grpcMessage(latin1("first"));
    for (let size = 1; size < bytes.length; size++) {
      const { messages, isBetween } = readMessages([bytes.slice(0, size)]);
      assert.equal(messages.length, 0);
      assert.equal(isBetween, false);
    }
  });

  test("can be abandoned half-way", () => {
    const messages: string[] = [];
    const reader = new MessageReader(
      { onMessage: (bytes, start, end) => messages.push(toText(bytes.subarray(start, end))) },
      "whole",
    );
    const half = grpcMessage(latin1("given up"));
    reader.feed(half, 0, 9);
    reader.reset("whole");
    const whole = grpcMessage(latin1("whole"));
    reader.feed(whole, 0, whole.length);
    assert.deepEqual(messages, ["whole"]);
  });

  test("a prefix that promises 2 GiB costs no memory", () => {
    const before = process.memoryUsage().arrayBuffers;
    const readers = Array.from({ length: 50 }, () => {
      const reader = new MessageReader({ onMessage: () => {} }, "whole");
      const piece = join(hex("00 7fffffff"), new Uint8Array(10));
      reader.feed(piece, 0, piece.length);
      return reader;
    });
    assert.equal(readers.length, 50);
    assert.ok(process.memoryUsage().arrayBuffers - before < 50 * 1024 * 1024);
  });

  test("a framed message is what another writer writes", () => {
    for (const size of [0, 1, 255, 256, 70_000])
      assert.deepEqual(frameMessage(pattern(size), false), grpcMessage(pattern(size)));
  });

  for (const [name, bytes, message] of [
    ["compressed ones", "01 00000001 61", COMPRESSED.message],
    ["unknown flags", "80 00000001 61", "bad gRPC message flag 128"],
    ["sizes above 2 GiB", "00 80000000", new ResponseTooLargeError(2 ** 31 - 1).message],
  ] as const) {
    test(`refuse ${name}, however they are cut`, () => {
      for (const pieces of splits(hex(bytes)))
        assert.throws(
          () => readMessages(pieces),
          (error) =>
            (error instanceof ProtocolError || error instanceof ResponseTooLargeError) &&
            error.message.startsWith(message),
        );
    });
  }
});

describe("gRPC response heads", () => {
  test("have status, message and encoding, with defaults when absent", () => {
    const list = [
      [":status", "200"],
      ["grpc-status", "3"],
      ["grpc-message", "bad%20thing"],
      ["grpc-encoding", "gzip"],
    ] as const;
    assert.deepEqual(readHead(list), { httpStatus: 200, grpcStatus: 3, grpcMessage: "bad thing", encoding: "gzip" });
    assert.deepEqual(readHead([]), { httpStatus: 0, grpcStatus: -1, grpcMessage: "", encoding: "identity" });
  });

  for (const [text, decoded] of [
    ["plain", "plain"],
    ["%C3%A9%25", "é%"],
    ["broken %zz escape", "broken %zz escape"],
    ["cut %C3", "cut %C3"],
  ] as const) {
    test(`decode the message ${JSON.stringify(text)}`, () => {
      assert.equal(readHead([["grpc-message", text]]).grpcMessage, decoded);
    });
  }

  for (const [name, value] of [
    ["grpc-status", "-1"],
    ["grpc-status", ""],
    ["grpc-status", "123456"],
    [":status", "2e2"],
  ] as const) {
    test(`refuse ${name} ${JSON.stringify(value)}`, () => {
      assert.throws(
        () => readHead([[name, value]]),
        (error) => error instanceof ProtocolError && error.message === `bad ${name} ${JSON.stringify(value)}`,
      );
    });
  }

  test("name the failure: the status first, then HTTP, then the missing status", () => {
    const of = (...list: [string, string][]): unknown => toFailure(readHead(list));
    assert.equal(of(["grpc-status", "0"]), undefined);
    assert.deepEqual(of([":status", "503"], ["grpc-status", "14"]), {
      kind: "grpc",
      status: 14,
      message: "UNAVAILABLE",
    });
    assert.deepEqual(of([":status", "404"]), {
      kind: "http",
      status: 404,
      message: "HTTP status 404 instead of a gRPC response",
    });
    assert.deepEqual(of([":status", "200"]), NO_STATUS);
  });
});
