import { nowNs } from "../../runtime/clock.ts";
import type { Socket, SocketTarget } from "../../runtime/socket.ts";
import { openSocket } from "../../runtime/sockets.ts";
import { connectFailure, describeConnectError } from "../connect-failure.ts";
import { type Failure, failureOfReading, ProtocolError } from "../failure.ts";
import { FrameReader, type FrameSink, unpaddedStart } from "./frame-reader.ts";
import {
  CONNECTION_PREFACE,
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  ERROR,
  encodeSettings,
  encodeWords,
  errorName,
  FLAG,
  FRAME,
  MAX_WINDOW_BYTES,
  SETTING,
} from "./frames.ts";
import { HeaderReader } from "./header-reader.ts";
import { FrameSender } from "./sender.ts";
import { type SendTicket, Stream, type StreamFailure, type StreamSink } from "./stream.ts";

const EMPTY = new Uint8Array(0);
const STREAM_WINDOW_BYTES = 8 * 1024 * 1024; // 8 MiB per stream
const CONNECTION_WINDOW_BYTES = 64 * 1024 * 1024; // 64 MiB for all streams
const SETTINGS = [
  [SETTING.headerTableSize, 0],
  [SETTING.enablePush, 0],
  [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
] as const;

/** Events for the owner of a connection. */
export interface ConnectionEvents {
  /** The connection accepts no new streams; open ones continue. */
  onUnusable(): void;
  /** A stream ended, so that a new one may fit under the peer's limit. */
  onCapacity(): void;
}

/** An HTTP/2 client connection (RFC 9113). Create it, await `ready`, then open streams while `isUsable` and `hasCapacity`. */
export class Http2Connection implements FrameSink {
  /** Resolves when the server's SETTINGS arrived or the connection failed; check `isUsable`. */
  readonly ready: Promise<void>;
  /** SETTINGS_HEADER_TABLE_SIZE of the peer, in bytes. */
  peerTableBytes = 4096;
  /** Start of handling the current socket read: the time of everything in it. */
  readNs = 0;
  isUsable = true;
  /** True while received bytes are handled, which ends with a flush. */
  isReading = false;
  private readonly events: ConnectionEvents;
  private readonly reader = new FrameReader(this);
  private readonly headers = new HeaderReader();
  private readonly sender = new FrameSender();
  private readonly streams = new Map<number, Stream>();
  private readonly socket: Socket;
  private readonly createdNs = nowNs();
  private readonly settleReady: () => void;
  private isOpen = false;
  private isClosed = false;
  private hasSettings = false;
  private nextStreamId = 1;
  private maxStreams = Number.POSITIVE_INFINITY;
  private receivedBytes = 0;

  constructor(target: SocketTarget, events: ConnectionEvents) {
    this.events = events;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.settleReady = resolve;
    this.sender.put(CONNECTION_PREFACE);
    this.sender.put(encodeSettings(SETTINGS));
    this.sender.put(encodeWords(FRAME.windowUpdate, 0, [CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES]));
    this.socket = openSocket(target, {
      onOpen: () => this.opened(),
      onData: (bytes) => this.received(bytes),
      onClose: (error) => this.closed(error),
    });
  }

  /** Whether the peer's limit of concurrent streams allows one more. */
  get hasCapacity(): boolean {
    return this.streams.size < this.maxStreams;
  }

  /** True once the connection is closed. */
  get hasEnded(): boolean {
    return this.isClosed;
  }

  get streamCount(): number {
    return this.streams.size;
  }

  /** Opens a stream with a header block. Returns its id; call `sendData` next. */
  openStream(sink: StreamSink, block: Uint8Array): number {
    const id = this.nextStreamId;
    this.nextStreamId += 2;
    this.streams.set(id, new Stream(id, sink, this.sender.initialWindow));
    this.sender.putHeaders(id, block);
    // Stream ids have 31 bits; replace the connection long before they run out.
    if (id > MAX_WINDOW_BYTES - 1_000_000) this.becomeUnusable();
    return id;
  }

  /**
   * Queues data on a stream, split into frames and limited by flow control. `bytes` must not change until the ticket is called or the
   * stream has ended.
   */
  sendData(streamId: number, bytes: Uint8Array, isLast: boolean, ticket: SendTicket | undefined): void {
    const stream = this.streams.get(streamId);
    if (stream !== undefined) this.sender.sendData(stream, bytes, isLast, ticket);
  }

  /** Resets a stream with CANCEL. */
  cancelStream(streamId: number): void {
    if (!this.streams.delete(streamId)) return;
    this.sender.put(encodeWords(FRAME.rstStream, streamId, [ERROR.cancel]));
    this.events.onCapacity();
  }

  /** Writes everything queued to the socket in one write. */
  flush(): void {
    if (this.isOpen) this.sender.writeTo(this.socket);
  }

  /** Ends the connection if the server has not sent its SETTINGS by `deadlineNs`, so that no request waits forever. */
  failIfUnanswered(deadlineNs: number, failure: Failure): void {
    if (!this.hasSettings && this.createdNs <= deadlineNs) this.end(failure);
  }

  /** Closes the connection. Open streams fail with `failure`. */
  close(failure: Failure): void {
    if (this.isClosed) return;
    this.isClosed = true;
    this.isUsable = false;
    if (this.isOpen) {
      this.sender.put(encodeWords(FRAME.goaway, 0, [0, ERROR.none]));
      this.sender.writeTo(this.socket);
    }
    this.socket.close();
    this.settleReady();
    this.failAll({ failure, isUnprocessed: false });
  }

  onFrame(type: number, flags: number, streamId: number, bytes: Uint8Array, start: number, end: number): void {
    if (!this.hasSettings && type !== FRAME.settings) {
      throw new ProtocolError("the server's first frame is not SETTINGS");
    }
    switch (type) {
      case FRAME.data:
        this.onData(flags, streamId, bytes, start, end);
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
        break; // PRIORITY and unknown types carry nothing for a client
    }
  }

  onHeaderBlock(streamId: number, bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    if (!this.hasSettings) throw new ProtocolError("the server's first frame is not SETTINGS");
    // Decode even a block of an ended stream: later blocks may refer to it.
    const headers = this.headers.read(bytes, start, end);
    const stream = this.knownStream(streamId, "HEADERS");
    if (stream === undefined) return;
    if (isLast) this.endStream(stream);
    stream.sink.onHeaders(headers, isLast);
  }

  private opened(): void {
    if (this.isClosed) return;
    this.isOpen = true;
    this.flush();
  }

  private received(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.readNs = nowNs();
    this.isReading = true;
    try {
      if (!this.hasSettings) this.reader.expectHttp2(bytes);
      this.reader.feed(bytes);
    } catch (error) {
      this.sender.put(encodeWords(FRAME.goaway, 0, [0, ERROR.protocol]));
      this.end(failureOfReading(error));
    }
    this.isReading = false;
    this.flush();
  }

  private closed(error: Error | undefined): void {
    if (this.isClosed) return;
    const reason = error === undefined ? "server closed the connection" : describeConnectError(error);
    if (this.isOpen) this.end({ kind: "closed", message: `${reason} before the response was complete` });
    else this.end(connectFailure(error));
  }

  /** Ends the connection after an error. */
  private end(failure: Failure): void {
    if (this.isClosed) return;
    this.isClosed = true;
    const wasUsable = this.isUsable;
    this.isUsable = false;
    if (this.isOpen) this.sender.writeTo(this.socket);
    this.socket.close();
    this.settleReady();
    if (wasUsable) this.events.onUnusable();
    this.failAll({ failure, isUnprocessed: false });
  }

  private failAll(problem: StreamFailure): void {
    const streams = [...this.streams.values()];
    this.streams.clear();
    for (const stream of streams) stream.sink.onFailed(problem);
  }

  private becomeUnusable(): void {
    if (!this.isUsable) return;
    this.isUsable = false;
    this.events.onUnusable();
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

  private endStream(stream: Stream): void {
    this.streams.delete(stream.id);
    // The response is complete before the request is: the server does not need the rest.
    if (!stream.isSendingDone) this.sender.put(encodeWords(FRAME.rstStream, stream.id, [ERROR.cancel]));
    this.events.onCapacity();
  }

  private onData(flags: number, streamId: number, bytes: Uint8Array, start: number, end: number): void {
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
    this.streams.delete(streamId);
    this.events.onCapacity();
    stream.sink.onFailed({
      failure: { kind: "closed", message: `server reset the stream (${errorName(code)})` },
      isUnprocessed: code === ERROR.refusedStream,
    });
  }

  private onSettings(flags: number, bytes: Uint8Array, start: number, end: number): void {
    if ((flags & FLAG.ack) !== 0) return;
    for (const [id, value] of this.reader.settings(bytes, start, end)) this.applySetting(id, value);
    this.sender.putAck(FRAME.settings, EMPTY, 0, 0);
    if (!this.hasSettings) {
      this.hasSettings = true;
      this.settleReady();
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
    this.becomeUnusable();
    const unprocessed = [...this.streams.values()].filter((stream) => stream.id > lastStreamId);
    for (const stream of unprocessed) this.streams.delete(stream.id);
    const why = debug === "" ? errorName(code) : `${errorName(code)}: ${debug}`;
    for (const stream of unprocessed) {
      stream.sink.onFailed({
        failure: { kind: "closed", message: `server is going away (${why})` },
        isUnprocessed: true,
      });
    }
    if (this.streams.size === 0) this.close({ kind: "closed", message: `server is going away (${why})` });
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
    for (const stream of this.streams.values()) {
      if (stream.pending !== undefined) this.sender.pump(stream);
    }
    if (!this.isReading) this.flush();
  }
}
