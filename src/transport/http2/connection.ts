import { nowNs } from "../../runtime/clock.ts";
import type { Socket } from "../../runtime/socket.ts";
import { arrivalNs } from "../arrival.ts";
import { connectFailure, describeConnectError } from "../connect-failure.ts";
import { type Failure, failureOfReading } from "../failure.ts";
import { type NamedTarget, openNamedSocket } from "../named-socket.ts";
import { CONNECTION_WINDOW_BYTES, FrameHandler, STREAM_WINDOW_BYTES } from "./frame-handler.ts";
import {
  CONNECTION_PREFACE,
  DEFAULT_WINDOW_BYTES,
  ERROR,
  encodeSettings,
  encodeWords,
  FRAME,
  MAX_WINDOW_BYTES,
  SETTING,
} from "./frames.ts";
import { FrameSender } from "./sender.ts";
import type { SendTicket, Stream } from "./stream.ts";

const SETTINGS = [
  [SETTING.headerTableSize, 0],
  [SETTING.enablePush, 0],
  [SETTING.initialWindowSize, STREAM_WINDOW_BYTES],
] as const;

/** Events for the owner of a connection. */
export interface ConnectionEvents {
  readonly onOpen: () => void;
  /** The connection accepts no new streams; open ones continue. */
  readonly onUnusable: () => void;
  /** A stream ended, so that a new one may fit under the peer's limit. */
  readonly onCapacity: () => void;
}

/** An HTTP/2 client connection (RFC 9113). Create it, await `ready`, then open streams while `isUsable` and `hasCapacity`. */
export class Http2Connection {
  /** Resolves when the server's SETTINGS arrived or the connection failed; check `isUsable`. */
  readonly ready: Promise<void>;
  /** Handles received frames, and keeps the open streams. */
  readonly frames: FrameHandler;
  /** Arrival time of the current socket read, which is the time of everything in it. */
  readNs = 0;
  /** Start of handling the current read. */
  handledNs = 0;
  isUsable = true;
  /** True while received bytes are handled, which ends with a flush. */
  isReading = false;
  private readonly events: ConnectionEvents;
  private readonly sender = new FrameSender();
  private readonly socket: Socket;
  private readonly createdNs = nowNs();
  private readonly settleReady: () => void;
  private isOpen = false;
  private isClosed = false;

  constructor(target: NamedTarget, events: ConnectionEvents) {
    this.events = events;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ready = promise;
    this.settleReady = resolve;
    this.frames = new FrameHandler(this.sender, {
      onReady: resolve,
      onCapacity: events.onCapacity,
      onGoaway: () => this.becomeUnusable(),
      onDrained: (failure) => this.close(failure),
    });
    this.sender.put(CONNECTION_PREFACE);
    this.sender.put(encodeSettings(SETTINGS));
    this.sender.put(encodeWords(FRAME.windowUpdate, 0, [CONNECTION_WINDOW_BYTES - DEFAULT_WINDOW_BYTES]));
    this.socket = openNamedSocket(target, {
      onOpen: () => this.opened(),
      onData: (bytes) => this.received(bytes),
      onClose: (error) => this.closed(error),
    });
  }

  /** Whether the peer's limit of concurrent streams allows one more. */
  get hasCapacity(): boolean {
    return this.frames.streams.size < this.frames.maxStreams;
  }

  /** True once the connection is closed. */
  get hasEnded(): boolean {
    return this.isClosed;
  }

  get streamCount(): number {
    return this.frames.streams.size;
  }

  /** Opens a stream, whose previous use has ended, with a header block. Returns its id; call `sendData` next. */
  openStream(stream: Stream, block: Uint8Array): number {
    const { frames } = this;
    const id = frames.nextStreamId;
    frames.nextStreamId += 2;
    stream.open(id, this.sender.initialWindow);
    frames.streams.add(stream);
    this.sender.putHeaders(id, block);
    // Stream ids have 31 bits; replace the connection long before they run out.
    if (id > MAX_WINDOW_BYTES - 1_000_000) this.becomeUnusable();
    return id;
  }

  /**
   * Queues data on a stream, split into frames and limited by flow control. `bytes` must not change until the ticket is called or the
   * stream ends.
   */
  sendData(streamId: number, bytes: Uint8Array, isLast: boolean, ticket: SendTicket | undefined): void {
    const stream = this.frames.streams.get(streamId);
    if (stream !== undefined) this.sender.sendData(stream, bytes, isLast, ticket);
  }

  /** Returns the number of bytes of a stream that wait for flow control. */
  unsentBytes(streamId: number): number {
    const pending = this.frames.streams.get(streamId)?.pending ?? [];
    return pending.reduce((sum, { bytes, offset }) => sum + bytes.length - offset, 0);
  }

  /** Resets a stream with CANCEL. */
  cancelStream(streamId: number): void {
    if (!this.frames.remove(streamId)) return;
    this.sender.put(encodeWords(FRAME.rstStream, streamId, [ERROR.cancel]));
    this.events.onCapacity();
  }

  /** Writes everything queued to the socket in one write. */
  flush(): void {
    if (this.isOpen) this.sender.writeTo(this.socket);
  }

  /** Ends the connection if the server has not sent its SETTINGS by `deadlineNs`, so that no request waits forever. */
  failIfUnanswered(deadlineNs: number, failure: Failure): void {
    if (!this.frames.hasSettings && this.createdNs <= deadlineNs) this.end(failure);
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
    this.frames.failAll({ failure, isUnprocessed: false });
  }

  private opened(): void {
    if (this.isClosed) return;
    this.isOpen = true;
    this.events.onOpen();
    this.flush();
  }

  private received(bytes: Uint8Array): void {
    if (this.isClosed) return;
    this.handledNs = nowNs();
    this.readNs = arrivalNs(this.handledNs, this.sender.sentNs, bytes.length);
    this.isReading = true;
    try {
      if (!this.frames.hasSettings) this.frames.reader.expectHttp2(bytes);
      this.frames.reader.feed(bytes);
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
    this.frames.failAll({ failure, isUnprocessed: false });
  }

  private becomeUnusable(): void {
    if (!this.isUsable) return;
    this.isUsable = false;
    this.events.onUnusable();
  }
}
