import { joinBytes, NO_BYTES } from "../../runtime/bytes.ts";
import { ProtocolError } from "../failure.ts";
import {
  DEFAULT_MAX_FRAME_BYTES,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  readUint24,
  readUint32,
} from "./frames.ts";

const MAX_HEADER_BLOCK_BYTES = 256 * 1024; // 256 KiB over all its frames
const QUOTED_BYTES = 80; // of a response that is not HTTP/2

/** Receives complete frames. Header blocks are joined. */
export interface FrameSink {
  /** Any frame except HEADERS and CONTINUATION. The payload is `bytes[start, end)`, valid during the call. */
  onFrame(frame: FrameHeader, bytes: Uint8Array, start: number, end: number): void;
  /**
   * The block is `bytes[start, end)`, valid during the call. @param frame the last frame of the block; `FLAG.endStream` is set if
   * the stream ends
   */
  onHeaderBlock(frame: FrameHeader, bytes: Uint8Array, start: number, end: number): void;
}

/** Splits a byte stream into HTTP/2 frames. @throws ProtocolError when the server violates the protocol */
export class FrameReader {
  private readonly sink: FrameSink;
  /** Header of the frame that is passed on. */
  private readonly frame: FrameHeader = { type: 0, flags: 0, streamId: 0 };
  /** A frame that arrived in pieces; allocated for the first such frame. */
  private carry: Uint8Array = NO_BYTES;
  private carried = 0;
  private headerStreamId = 0;
  /** Flags of a block's first frame, the only one that tells whether the stream ends. */
  private headerFlags = 0;
  private headerParts: Uint8Array[] = [];
  private headerBytes = 0;

  constructor(sink: FrameSink) {
    this.sink = sink;
  }

  /** Checks the first bytes of a connection, part of which may have been fed already. @throws ProtocolError for an HTTP/1 response */
  expectHttp2(bytes: Uint8Array): void {
    const first = new Uint8Array(Math.min(QUOTED_BYTES, this.carried + bytes.length));
    first.set(this.carry.subarray(0, Math.min(this.carried, first.length)));
    if (first.length > this.carried) first.set(bytes.subarray(0, first.length - this.carried), this.carried);
    const text = new TextDecoder().decode(first);
    if (!text.startsWith("HTTP/")) return;
    const line = text.split("\r\n")[0];
    throw new ProtocolError(`server does not speak HTTP/2, which gRPC needs: it answered ${JSON.stringify(line)}`);
  }

  feed(bytes: Uint8Array): void {
    let position = this.carried > 0 ? this.completeCarried(bytes) : 0;
    if (position < 0) return;
    const end = bytes.length;
    while (end - position >= FRAME_HEADER_BYTES) {
      const size = checkedSize(bytes, position);
      const frameEnd = position + FRAME_HEADER_BYTES + size;
      if (frameEnd > end) break;
      this.dispatch(bytes, position, frameEnd);
      position = frameEnd;
    }
    if (position === end) return;
    if (this.carry.length === 0) this.carry = new Uint8Array(FRAME_HEADER_BYTES + DEFAULT_MAX_FRAME_BYTES);
    this.carry.set(bytes.subarray(position, end));
    this.carried = end - position;
  }

  /** Returns the end of a payload without its padding; see {@link unpaddedStart}. */
  unpaddedEnd(flags: number, bytes: Uint8Array, start: number, end: number): number {
    if ((flags & FLAG.padded) === 0) return end;
    const padding = bytes[start];
    if (start >= end || padding === undefined || start + 1 + padding > end)
      throw new ProtocolError("frame padding is too long");
    return end - padding;
  }

  /** Returns the 32-bit word of a RST_STREAM or WINDOW_UPDATE frame. */
  word(bytes: Uint8Array, start: number, end: number): number {
    if (end - start !== 4) throw new ProtocolError(`frame of ${end - start} bytes where 4 are due`);
    return readUint32(bytes, start);
  }

  settings(bytes: Uint8Array, start: number, end: number): [id: number, value: number][] {
    if ((end - start) % 6 !== 0) throw new ProtocolError(`SETTINGS of ${end - start} bytes`);
    const settings: [number, number][] = [];
    for (let at = start; at < end; at += 6) {
      settings.push([((bytes[at] as number) << 8) | (bytes[at + 1] as number), readUint32(bytes, at + 2)]);
    }
    return settings;
  }

  goaway(bytes: Uint8Array, start: number, end: number): { lastStreamId: number; code: number; debug: string } {
    if (end - start < 8) throw new ProtocolError(`GOAWAY of ${end - start} bytes`);
    return {
      lastStreamId: readUint32(bytes, start) & 0x7fffffff,
      code: readUint32(bytes, start + 4),
      debug: new TextDecoder().decode(bytes.subarray(start + 8, Math.min(end, start + 8 + 200))),
    };
  }

  /** Completes the incomplete frame. Returns the number of bytes used, or -1 if it is still incomplete. */
  private completeCarried(bytes: Uint8Array): number {
    let used = 0;
    if (this.carried < FRAME_HEADER_BYTES) {
      used = this.take(bytes, 0, FRAME_HEADER_BYTES - this.carried);
      if (this.carried < FRAME_HEADER_BYTES) return -1;
    }
    const total = FRAME_HEADER_BYTES + checkedSize(this.carry, 0);
    used += this.take(bytes, used, total - this.carried);
    if (this.carried < total) return -1;
    this.carried = 0;
    this.dispatch(this.carry, 0, total);
    return used;
  }

  private take(bytes: Uint8Array, from: number, wanted: number): number {
    const size = Math.min(wanted, bytes.length - from);
    this.carry.set(bytes.subarray(from, from + size), this.carried);
    this.carried += size;
    return size;
  }

  private dispatch(bytes: Uint8Array, frameStart: number, frameEnd: number): void {
    const { frame } = this;
    const type = bytes[frameStart + 3] as number;
    const streamId = readUint32(bytes, frameStart + 5) & 0x7fffffff;
    frame.type = type;
    frame.flags = bytes[frameStart + 4] as number;
    frame.streamId = streamId;
    const start = frameStart + FRAME_HEADER_BYTES;
    if (this.headerStreamId !== 0 && (type !== FRAME.continuation || streamId !== this.headerStreamId)) {
      throw new ProtocolError("another frame inside a header block");
    }
    if (type === FRAME.headers) this.onHeaders(frame, bytes, start, frameEnd);
    else if (type === FRAME.continuation) this.onContinuation(frame, bytes, start, frameEnd);
    else this.sink.onFrame(frame, bytes, start, frameEnd);
  }

  private onHeaders(frame: FrameHeader, bytes: Uint8Array, start: number, end: number): void {
    const { flags, streamId } = frame;
    const to = this.unpaddedEnd(flags, bytes, start, end);
    let from = unpaddedStart(flags, start);
    if ((flags & FLAG.priority) !== 0) from += 5;
    if (from > to) throw new ProtocolError("HEADERS frame is too short");
    if ((flags & FLAG.endHeaders) !== 0) {
      this.sink.onHeaderBlock(frame, bytes, from, to);
      return;
    }
    if (streamId === 0) throw new ProtocolError("HEADERS frame on stream 0");
    this.headerStreamId = streamId;
    this.headerFlags = flags & FLAG.endStream;
    this.headerParts = [bytes.slice(from, to)];
    this.headerBytes = to - from;
  }

  private onContinuation(frame: FrameHeader, bytes: Uint8Array, start: number, end: number): void {
    if (this.headerStreamId === 0) throw new ProtocolError("CONTINUATION without HEADERS");
    this.headerParts.push(bytes.slice(start, end));
    this.headerBytes += end - start;
    if (this.headerBytes > MAX_HEADER_BLOCK_BYTES || this.headerParts.length > 1000) {
      throw new ProtocolError("header block is too large");
    }
    if ((frame.flags & FLAG.endHeaders) === 0) return;
    frame.flags = (frame.flags & ~FLAG.endStream) | this.headerFlags;
    const block = joinBytes(this.headerParts);
    this.headerStreamId = 0;
    this.headerParts = [];
    this.sink.onHeaderBlock(frame, block, 0, block.length);
  }
}

/** Returns the start of a payload without its pad length. */
export function unpaddedStart(flags: number, start: number): number {
  return (flags & FLAG.padded) === 0 ? start : start + 1;
}

function checkedSize(bytes: Uint8Array, frameStart: number): number {
  const size = readUint24(bytes, frameStart);
  if (size > DEFAULT_MAX_FRAME_BYTES) {
    throw new ProtocolError(`frame of ${size} bytes, above the announced limit of ${DEFAULT_MAX_FRAME_BYTES}`);
  }
  return size;
}
