import { NO_BYTES } from "../../runtime/bytes.ts";
import type { OpenSocket, Socket, SocketHandlers } from "../../runtime/socket.ts";
import { FrameReader, type FrameSink } from "../http2/frame-reader.ts";
import {
  CONNECTION_PREFACE,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  encodeSettings,
  encodeWords,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  MAX_WINDOW_BYTES,
  putFrameHeader,
  putUint32,
  readUint32,
  SETTING,
} from "../http2/frames.ts";
import type { ResponseRequest, SampleResponse } from "./sample-response.ts";

const PREFIX_BYTES = 5;
const SETTINGS_ACK = frame(FRAME.settings, FLAG.ack, 0, NO_BYTES);
/** Larger than what a client sends while a sink is used. */
const GREETING = [
  encodeSettings([[SETTING.initialWindowSize, MAX_WINDOW_BYTES]]),
  encodeWords(FRAME.windowUpdate, 0, [MAX_WINDOW_BYTES - DEFAULT_WINDOW_BYTES]),
];
/** `:status: 200` and `content-type: application/grpc`, encoded like grpc-go: indexed, and literal in Huffman code. */
const HEAD = Buffer.from("885f8b1d75d0620d263d4c4d6564", "hex");
/** `grpc-status: 0` and an empty `grpc-message`, likewise. */
const TRAILERS = Buffer.from("40889acac8b21234da8f013040899acac8b5254207317f00", "hex");

/** Opens sockets without a network to a gRPC server that answers every call. Its frames are sent in the next turn of the event loop. */
export function openHttp2Sink(answer: ResponseRequest): OpenSocket {
  return (_, handlers) => new SinkConnection(handlers, answer);
}

class SinkConnection implements Socket, FrameSink {
  readonly pendingBytes = 0;
  private readonly handlers: SocketHandlers;
  private readonly answer: ResponseRequest;
  private readonly reader = new FrameReader(this);
  private readonly calls = new Map<number, ReceivedMessages>();
  private prefaceLeft = CONNECTION_PREFACE.length;
  private outgoing: Uint8Array[] = [];

  constructor(handlers: SocketHandlers, answer: ResponseRequest) {
    this.handlers = handlers;
    this.answer = answer;
    setImmediate(() => {
      handlers.onOpen();
      this.send(...GREETING);
    });
  }

  write(bytes: Uint8Array): boolean {
    const skipped = Math.min(this.prefaceLeft, bytes.length);
    this.prefaceLeft -= skipped;
    this.reader.feed(bytes.subarray(skipped));
    return true;
  }

  close(): void {}

  onHeaderBlock({ flags, streamId }: FrameHeader): void {
    this.calls.set(streamId, new ReceivedMessages());
    this.send(frame(FRAME.headers, FLAG.endHeaders, streamId, HEAD));
    if ((flags & FLAG.endStream) !== 0) this.end(streamId, NO_BYTES);
  }

  onFrame({ type, flags, streamId }: FrameHeader, bytes: Uint8Array, start: number, end: number): void {
    if (type === FRAME.settings && (flags & FLAG.ack) === 0) this.send(SETTINGS_ACK);
    else if (type === FRAME.ping && (flags & FLAG.ack) === 0)
      this.send(frame(FRAME.ping, FLAG.ack, 0, bytes.subarray(start, end)));
    else if (type === FRAME.rstStream) this.calls.delete(streamId);
    else if (type === FRAME.data) this.receive(streamId, bytes.subarray(start, end), (flags & FLAG.endStream) !== 0);
  }

  private receive(streamId: number, data: Uint8Array, isLast: boolean): void {
    const messages = this.calls.get(streamId)?.add(data) ?? [];
    for (const message of messages) {
      const response = this.answer(message);
      if (response.isPerMessage === true) this.sendParts(streamId, response);
    }
    if (isLast) this.end(streamId, messages.at(-1) ?? NO_BYTES);
  }

  private end(streamId: number, lastMessage: Uint8Array): void {
    if (!this.calls.delete(streamId)) return;
    const response = this.answer(lastMessage);
    if (response.isPerMessage !== true) this.sendParts(streamId, response);
    this.send(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, streamId, TRAILERS));
  }

  private sendParts(streamId: number, { parts }: SampleResponse): void {
    for (const part of parts) {
      const message = new Uint8Array(PREFIX_BYTES + part.length);
      putUint32(message, 1, part.length);
      message.set(part, PREFIX_BYTES);
      for (let at = 0; at < message.length; at += DEFAULT_MAX_FRAME_BYTES)
        this.send(frame(FRAME.data, 0, streamId, message.subarray(at, at + DEFAULT_MAX_FRAME_BYTES)));
    }
  }

  private send(...frames: readonly Uint8Array[]): void {
    if (this.outgoing.length === 0)
      setImmediate(() => {
        const bytes = Buffer.concat(this.outgoing);
        this.outgoing = [];
        this.handlers.onData(bytes);
      });
    this.outgoing.push(...frames);
  }
}

/** The messages of a call, from the data of its frames. */
class ReceivedMessages {
  private parts: Uint8Array[] = [];
  private partBytes = 0;

  /** Returns the messages that this data completes. */
  add(data: Uint8Array): Uint8Array[] {
    this.parts.push(data.slice());
    this.partBytes += data.length;
    const messages: Uint8Array[] = [];
    for (let size = this.nextSize(); size <= this.partBytes; size = this.nextSize()) {
      const joined = Buffer.concat(this.parts);
      messages.push(joined.subarray(PREFIX_BYTES, size));
      this.parts = joined.length > size ? [joined.subarray(size)] : [];
      this.partBytes -= size;
    }
    return messages;
  }

  private nextSize(): number {
    if (this.partBytes < PREFIX_BYTES) return Number.POSITIVE_INFINITY;
    if ((this.parts[0] as Uint8Array).length < PREFIX_BYTES) this.parts = [Buffer.concat(this.parts)];
    return PREFIX_BYTES + readUint32(this.parts[0] as Uint8Array, 1);
  }
}

function frame(type: number, flags: number, streamId: number, payload: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(FRAME_HEADER_BYTES + payload.length);
  putFrameHeader(bytes, 0, payload.length, { type, flags, streamId });
  bytes.set(payload, FRAME_HEADER_BYTES);
  return bytes;
}
