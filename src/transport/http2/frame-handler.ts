import { isSameBytes, NO_BYTES } from "../../runtime/bytes.ts";
import { type Failure, ProtocolError } from "../failure.ts";
import type { Header } from "../request.ts";
import { FrameReader, type FrameSink, unpaddedStart } from "./frame-reader.ts";
import {
  DEFAULT_MAX_FRAME_BYTES,
  ERROR,
  encodeWords,
  errorName,
  FLAG,
  FRAME,
  type FrameHeader,
  MAX_WINDOW_BYTES,
  SETTING,
} from "./frames.ts";
import { HpackDecoder } from "./hpack.ts";
import { OpenStreams } from "./open-streams.ts";
import type { FrameSender } from "./sender.ts";
import type { Stream, StreamFailure } from "./stream.ts";

/** Receive windows: the amount of data that the server may send ahead. */
export const STREAM_WINDOW_BYTES = 8 * 1024 * 1024; // 8 MiB per stream
export const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024; // 64 MiB for all streams

/** Events of the frames, for their connection. */
export interface FrameEvents {
  /** The server's first SETTINGS arrived. */
  readonly onReady: () => void;
  /** A stream ended, so that a new one may fit under the peer's limit. */
  readonly onCapacity: () => void;
  /** The server accepts no new streams. */
  readonly onGoaway: () => void;
  /** No stream is left after a GOAWAY. */
  readonly onDrained: (failure: Failure) => void;
}

/** Handles the frames that a connection receives, and keeps its open streams. */
export class FrameHandler implements FrameSink {
  readonly reader = new FrameReader(this);
  readonly streams = new OpenStreams();
  nextStreamId = 1;
  /** SETTINGS_HEADER_TABLE_SIZE of the peer, in bytes. */
  peerTableBytes = 4096;
  /** SETTINGS_MAX_CONCURRENT_STREAMS of the peer. */
  maxStreams = Number.POSITIVE_INFINITY;
  hasSettings = false;
  private readonly headers = new HeaderReader();
  private readonly sender: FrameSender;
  private readonly events: FrameEvents;
  private receivedBytes = 0;

  constructor(sender: FrameSender, events: FrameEvents) {
    this.sender = sender;
    this.events = events;
  }

  onFrame(frame: FrameHeader, bytes: Uint8Array, start: number, end: number): void {
    const { type, flags, streamId } = frame;
    if (!this.hasSettings && type !== FRAME.settings) {
      throw new ProtocolError("the server's first frame is not SETTINGS");
    }
    switch (type) {
      case FRAME.data:
        this.onData(frame, bytes, start, end);
        break;
      case FRAME.rstStream:
        this.onReset(streamId, this.reader.word(bytes, start, end));
        break;
      case FRAME.settings:
        this.onSettings(flags, bytes, start, end);
        break;
      case FRAME.ping:
        this.onPing(flags, bytes, start, end);
        break;
      case FRAME.goaway:
        this.onGoaway(bytes, start, end);
        break;
      case FRAME.windowUpdate:
        this.onWindowUpdate(streamId, this.reader.word(bytes, start, end));
        break;
      case FRAME.pushPromise:
        throw new ProtocolError("server pushed although push is disabled");
      default:
        break; // a client ignores PRIORITY and unknown types
    }
  }

  onHeaderBlock({ flags, streamId }: FrameHeader, bytes: Uint8Array, start: number, end: number): void {
    if (!this.hasSettings) throw new ProtocolError("the server's first frame is not SETTINGS");
    // Decode even the block of a stream that has ended: later blocks may refer to it.
    const headers = this.headers.read(bytes, start, end);
    const stream = this.knownStream(streamId, "HEADERS");
    if (stream === undefined) return;
    const isLast = (flags & FLAG.endStream) !== 0;
    if (isLast) this.endStream(stream);
    stream.sink.onHeaders(headers, isLast);
  }

  failAll(problem: StreamFailure): void {
    const streams = this.streams.values();
    this.streams.clear();
    for (const stream of streams) stream.sink.onFailed(problem);
  }

  /** Returns the stream; undefined when it has ended, so that late frames are ignored. @throws ProtocolError when it was never opened */
  private knownStream(streamId: number, frame: string): Stream | undefined {
    const stream = this.streams.get(streamId);
    if (stream !== undefined) return stream;
    if (streamId === 0 || streamId % 2 === 0 || streamId >= this.nextStreamId) {
      throw new ProtocolError(`${frame} frame on stream ${streamId}, which was never opened`);
    }
    return undefined;
  }

  /** Removes an open stream. Returns whether it was open. */
  remove(id: number): boolean {
    const stream = this.streams.get(id);
    if (stream === undefined) return false;
    this.sender.forget(stream);
    return this.streams.delete(id);
  }

  private endStream(stream: Stream): void {
    this.remove(stream.id);
    // The response is complete before the request: the server does not need the rest of it.
    if (!stream.isSendingDone) this.sender.put(encodeWords(FRAME.rstStream, stream.id, [ERROR.cancel]));
    this.events.onCapacity();
  }

  private onData({ flags, streamId }: FrameHeader, bytes: Uint8Array, start: number, end: number): void {
    const to = this.reader.unpaddedEnd(flags, bytes, start, end);
    this.receivedBytes += end - start;
    if (this.receivedBytes >= CONNECTION_WINDOW_BYTES / 2) {
      this.sender.put(encodeWords(FRAME.windowUpdate, 0, [this.receivedBytes]));
      this.receivedBytes = 0;
    }
    const stream = this.knownStream(streamId, "DATA");
    if (stream === undefined) return;
    const isLast = (flags & FLAG.endStream) !== 0;
    if (isLast) {
      this.endStream(stream);
    } else {
      stream.receivedBytes += end - start;
      if (stream.receivedBytes >= STREAM_WINDOW_BYTES / 2) {
        this.sender.put(encodeWords(FRAME.windowUpdate, streamId, [stream.receivedBytes]));
        stream.receivedBytes = 0;
      }
    }
    stream.sink.onData(bytes, unpaddedStart(flags, start), to, isLast);
  }

  private onReset(streamId: number, code: number): void {
    const stream = this.knownStream(streamId, "RST_STREAM");
    if (stream === undefined) return;
    this.remove(streamId);
    this.events.onCapacity();
    stream.sink.onFailed({
      failure: { kind: "closed", message: `server reset the stream (${errorName(code)})` },
      isUnprocessed: code === ERROR.refusedStream,
    });
  }

  private onSettings(flags: number, bytes: Uint8Array, start: number, end: number): void {
    if ((flags & FLAG.ack) !== 0) return;
    for (const [id, value] of this.reader.settings(bytes, start, end)) this.applySetting(id, value);
    this.sender.putAck(FRAME.settings, NO_BYTES, 0, 0);
    if (!this.hasSettings) {
      this.hasSettings = true;
      this.events.onReady();
    }
    this.pumpAll();
    this.events.onCapacity();
  }

  private applySetting(id: number, value: number): void {
    if (id === SETTING.headerTableSize) this.peerTableBytes = value;
    else if (id === SETTING.maxConcurrentStreams) this.maxStreams = value;
    else if (id === SETTING.maxFrameSize) {
      if (value < DEFAULT_MAX_FRAME_BYTES || value > 2 ** 24 - 1)
        throw new ProtocolError(`bad SETTINGS_MAX_FRAME_SIZE ${value}`);
      this.sender.maxFrameBytes = value;
    } else if (id === SETTING.initialWindowSize) {
      if (value > MAX_WINDOW_BYTES) throw new ProtocolError(`bad SETTINGS_INITIAL_WINDOW_SIZE ${value}`);
      this.sender.setInitialWindow(value, this.streams.values());
    }
  }

  private onPing(flags: number, bytes: Uint8Array, start: number, end: number): void {
    if (end - start !== 8) throw new ProtocolError(`PING of ${end - start} bytes`);
    if ((flags & FLAG.ack) !== 0) return;
    this.sender.putAck(FRAME.ping, bytes, start, end);
  }

  private onGoaway(bytes: Uint8Array, start: number, end: number): void {
    const { lastStreamId, code, debug } = this.reader.goaway(bytes, start, end);
    this.events.onGoaway();
    const unprocessed = this.streams.values().filter((stream) => stream.id > lastStreamId);
    for (const stream of unprocessed) this.remove(stream.id);
    const why = debug === "" ? errorName(code) : `${errorName(code)}: ${debug}`;
    const failure: Failure = { kind: "closed", message: `server is going away (${why})` };
    for (const stream of unprocessed) stream.sink.onFailed({ failure, isUnprocessed: true });
    if (this.streams.size === 0) this.events.onDrained(failure);
  }

  private onWindowUpdate(streamId: number, increment: number): void {
    const amount = increment & 0x7fffffff;
    if (amount === 0) throw new ProtocolError("WINDOW_UPDATE of 0");
    if (streamId === 0) {
      this.sender.widen(amount);
      this.pumpAll();
      return;
    }
    const stream = this.knownStream(streamId, "WINDOW_UPDATE");
    if (stream !== undefined) this.sender.widenStream(stream, amount);
  }

  private pumpAll(): void {
    if (!this.sender.isBlocked) return;
    for (const stream of this.streams.values()) {
      if (stream.pending !== undefined) this.sender.pump(stream);
    }
  }
}

const REMEMBERED_BLOCKS = 4;

/** This side announces a table of 0 bytes. Some servers use HPACK's default size anyway, so that size is accepted. */
const TOLERATED_TABLE_BYTES = 4096;

interface RememberedBlock {
  readonly block: Uint8Array;
  readonly headers: readonly Header[];
  /** State of the dynamic table for which the decoded block is valid. */
  readonly generation: number;
}

/**
 * Decodes the header blocks of one connection, in order. Servers repeat a few blocks. While the dynamic table does not change, blocks
 * with the same bytes have the same meaning, and the same list is returned.
 */
export class HeaderReader {
  private readonly decoder = new HpackDecoder(TOLERATED_TABLE_BYTES);
  private readonly remembered: RememberedBlock[] = [];

  /** Reads the block `bytes[start, end)`. @throws ProtocolError */
  read(bytes: Uint8Array, start = 0, end = bytes.length): readonly Header[] {
    const { generation } = this.decoder;
    for (const entry of this.remembered) {
      if (entry.generation === generation && isEqual(entry.block, bytes, start, end)) return entry.headers;
    }
    const block = bytes.slice(start, end);
    const headers = this.decoder.decode(block);
    // A block that changed the table must be decoded again.
    if (this.decoder.generation === generation) {
      if (this.remembered.length === REMEMBERED_BLOCKS) this.remembered.shift();
      this.remembered.push({ block, headers, generation });
    }
    return headers;
  }
}

function isEqual(block: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  return block.length === end - start && isSameBytes(block, 0, bytes, start, block.length);
}
