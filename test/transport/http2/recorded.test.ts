import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { MessageReader } from "../../../src/transport/grpc/messages.ts";
import { readHead, toFailure } from "../../../src/transport/grpc/response-head.ts";
import { HeaderReader } from "../../../src/transport/http2/frame-handler.ts";
import { FrameReader } from "../../../src/transport/http2/frame-reader.ts";
import { FLAG } from "../../../src/transport/http2/frames.ts";
import { splits } from "../bytes.ts";
import * as recorded from "../fixtures/recorded.ts";
import { grpcCodec, readStreamed, toInt32 } from "../simple-model.ts";
import { TYPE } from "./write-frames.ts";

/** What Triton's gRPC (C++), grpc-go and nginx sent, byte for byte, read at every cut. */

interface ReadStream {
  messages: Uint8Array[];
  headerLists: Record<string, string>[];
  isEnded: boolean;
}

function readConnection(pieces: readonly Uint8Array[]): { streams: Map<number, ReadStream>; frameTypes: number[] } {
  const streams = new Map<number, ReadStream>();
  const readers = new Map<number, MessageReader>();
  const frameTypes: number[] = [];
  const streamOf = (id: number): ReadStream => {
    const known = streams.get(id);
    if (known !== undefined) return known;
    const stream: ReadStream = { messages: [], headerLists: [], isEnded: false };
    streams.set(id, stream);
    const sink = {
      onMessage: (bytes: Uint8Array, start: number, end: number) => stream.messages.push(bytes.slice(start, end)),
    };
    readers.set(id, new MessageReader(sink, "whole"));
    return stream;
  };
  const headerReader = new HeaderReader();
  const reader = new FrameReader({
    onFrame: ({ type, streamId }, bytes, start, end) => {
      frameTypes.push(type);
      if (type === TYPE.data) readers.get(streamId)?.feed(bytes, start, end);
    },
    onHeaderBlock: ({ flags, streamId }, bytes, start, end) => {
      const stream = streamOf(streamId);
      stream.headerLists.push(Object.fromEntries(headerReader.read(bytes, start, end)));
      if ((flags & FLAG.endStream) !== 0) {
        stream.isEnded = true;
        assert.ok(readHead(headerReader.read(bytes, start, end)).grpcStatus >= 0);
      }
    },
  });
  for (const piece of pieces) reader.feed(piece);
  return { streams, frameTypes };
}

const SUMS = Array.from({ length: 16 }, (_, index) => index + 1);
const codec = grpcCodec(false);

function checkAnswer(message: Uint8Array | undefined, id: string): void {
  const response = codec.decode(message ?? new Uint8Array(0), 0);
  assert.equal(response.id, id);
  const { bytes, shape } = response.outputs.get("OUTPUT0") ?? {};
  assert.deepEqual(shape, [1, 16]);
  assert.equal(bytes?.length, 64);
}

describe("recorded HTTP/2 connections", () => {
  for (const { recording, isSum } of [
    { recording: recorded.tritonGrpc, isSum: true },
    { recording: recorded.goGrpc, isSum: false },
    { recording: recorded.nginxGrpc, isSum: false },
  ]) {
    test(`${recording.server}: two unary responses, then errors as trailers only`, () => {
      for (const pieces of splits(recording.bytes)) {
        const { streams } = readConnection(pieces);
        for (const [streamId, id] of [
          [1, "0001"],
          [3, "0002"],
        ] as const) {
          const stream = streams.get(streamId);
          assert.equal(stream?.messages.length, 1);
          assert.deepEqual(
            stream?.headerLists.map((list) => list["grpc-status"]),
            [undefined, "0"],
          );
          assert.equal(stream?.headerLists[0]?.[":status"], "200");
          checkAnswer(stream?.messages[0], id);
        }
        assert.ok([...streams.values()].every(({ isEnded }) => isEnded));
      }
      const [answer] = readConnection([recording.bytes]).streams.get(1)?.messages ?? [];
      if (isSum) assert.deepEqual(toInt32(codec.decode(answer as Uint8Array, 0).outputs.get("OUTPUT0")?.bytes), SUMS);
    });
  }

  for (const [recording, streamId, code, text] of [
    [recorded.tritonGrpc, 5, 5, "Request for unknown model: 'none' is not found"],
    [recorded.tritonGrpc, 7, 12, "UNIMPLEMENTED"],
    [recorded.goGrpc, 5, 12, "unknown method NoSuchMethod for service inference.GRPCInferenceService"],
    [recorded.nginxGrpc, 5, 12, "unknown method NoSuchMethod for service inference.GRPCInferenceService"],
  ] as const) {
    test(`${recording.server}: the error on stream ${streamId} in its own words`, () => {
      const stream = readConnection([recording.bytes]).streams.get(streamId);
      assert.equal(stream?.messages.length, 0);
      assert.equal(stream?.headerLists.length, 1);
      const list = Object.entries(stream?.headerLists[0] ?? {});
      assert.deepEqual(toFailure(readHead(list)), { kind: "grpc", status: code, message: text });
    });
  }

  for (const recording of [recorded.tritonGrpcStream, recorded.goGrpcStream]) {
    test(`${recording.server}: two responses on one open stream`, () => {
      for (const pieces of splits(recording.bytes)) {
        const { streams } = readConnection(pieces);
        assert.deepEqual([...streams.keys()], [1]);
        const received = streams.get(1)?.messages ?? [];
        const messages = received.map((message) => ({ ...readStreamed(message, 0, message.length) }));
        assert.deepEqual(
          messages.map(({ id, failure }) => [id, failure]),
          [
            ["0001", undefined],
            ["0002", undefined],
          ],
        );
        checkAnswer(received[0]?.subarray(messages[0]?.bodyStart, messages[0]?.bodyEnd), "0001");
      }
    });
  }

  test("the recordings contain SETTINGS, PING and WINDOW_UPDATE", () => {
    for (const { bytes } of [recorded.tritonGrpc, recorded.goGrpc]) {
      const { frameTypes } = readConnection([bytes]);
      for (const type of [TYPE.data, TYPE.settings, TYPE.ping, TYPE.windowUpdate]) assert.ok(frameTypes.includes(type));
    }
  });
});
