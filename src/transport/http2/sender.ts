import { copyBytes } from "../../runtime/bytes.ts";
import { nowNs } from "../../runtime/clock.ts";
import type { Socket } from "../../runtime/socket.ts";
import { ProtocolError } from "../failure.ts";
import {
  DEFAULT_MAX_FRAME_BYTES,
  DEFAULT_WINDOW_BYTES,
  FLAG,
  FRAME,
  FRAME_HEADER_BYTES,
  type FrameHeader,
  MAX_WINDOW_BYTES,
  putFrameHeader,
} from "./frames.ts";
import type { PendingData, SendTicket, Stream } from "./stream.ts";

/** Maximum number of acknowledgements that wait for a server that does not read: 170 kB of PINGs. */
const MOST_WAITING_ACKS = 10_000;

/** The sending half of a connection: queues frames in order, within the peer's flow-control windows. */
export class FrameSender {
  /** SETTINGS_MAX_FRAME_SIZE of the peer, in bytes. */
  maxFrameBytes = DEFAULT_MAX_FRAME_BYTES;
  /** SETTINGS_INITIAL_WINDOW_SIZE of the peer, in bytes. */
  initialWindow = DEFAULT_WINDOW_BYTES;
  private readonly out = new OutBuffer();
  /**
   * Tickets of queued data, in the first `ticketCount` places. The places are reused: an emptied array would be allocated
   * again.
   */
  private readonly tickets: SendTicket[] = [];
  private ticketCount = 0;
  /** Number of streams with data that waits for a window. */
  private blockedCount = 0;
  private readonly next: FrameHeader = { type: 0, flags: 0, streamId: 0 };
  /** The connection's send window. */
  private window = DEFAULT_WINDOW_BYTES;
  /** Number of acknowledgements since the socket last had nothing to send. */
  private ackCount = 0;
  /** Time when the last request, or message of a request, was sent. */
  sentNs = 0;

  /** Queues complete frames. */
  put(bytes: Uint8Array): void {
    this.out.put(bytes);
  }

  /** Queues the acknowledgement of a PING or SETTINGS frame. @throws ProtocolError for a server that does not read them */
  putAck(type: number, bytes: Uint8Array, start: number, end: number): void {
    if (++this.ackCount > MOST_WAITING_ACKS)
      throw new ProtocolError("server sends PING or SETTINGS frames and does not read their acknowledgements");
    this.out.putFrame(this.header(type, FLAG.ack, 0), bytes, start, end);
  }

  /** Queues a header block, split into CONTINUATION frames if necessary. */
  putHeaders(streamId: number, block: Uint8Array): void {
    let offset = 0;
    let type: number = FRAME.headers;
    do {
      const size = Math.min(block.length - offset, this.maxFrameBytes);
      const isLast = offset + size === block.length;
      this.out.putFrame(this.header(type, isLast ? FLAG.endHeaders : 0, streamId), block, offset, offset + size);
      offset += size;
      type = FRAME.continuation;
    } while (offset < block.length);
  }

  /** Sends data on a stream, or queues it until the windows allow it. */
  sendData(stream: Stream, bytes: Uint8Array, isLast: boolean, ticket: SendTicket | undefined): void {
    const length = bytes.length;
    const fits = length <= this.maxFrameBytes && length <= stream.sendWindow && length <= this.window;
    if (stream.pending === undefined && fits) {
      stream.isSendingDone = isLast;
      this.putData(stream, bytes, 0, length);
      if (ticket !== undefined) this.tickets[this.ticketCount++] = ticket;
      return;
    }
    if (stream.pending === undefined) {
      stream.pending = [];
      this.blockedCount++;
    }
    stream.pending.push({ bytes, offset: 0, isLast, ticket });
    this.pump(stream);
  }

  /** Sends as much of a stream's queued data as the windows allow. */
  pump(stream: Stream): void {
    while (stream.pending !== undefined) {
      const data = stream.pending[0] as PendingData;
      const rest = data.bytes.length - data.offset;
      const size = Math.max(0, Math.min(rest, this.maxFrameBytes, stream.sendWindow, this.window));
      if (size === 0 && rest > 0) return;
      const isDone = size === rest;
      stream.isSendingDone = isDone && data.isLast;
      this.putData(stream, data.bytes, data.offset, data.offset + size);
      data.offset += size;
      if (!isDone) continue;
      if (data.ticket !== undefined) this.tickets[this.ticketCount++] = data.ticket;
      stream.pending.shift();
      if (stream.pending.length === 0) this.forget(stream);
    }
  }

  /** Whether data waits for a window. */
  get isBlocked(): boolean {
    return this.blockedCount > 0;
  }

  /** Drops the unsent data of a stream that has ended. */
  forget(stream: Stream): void {
    if (stream.pending === undefined) return;
    stream.pending = undefined;
    this.blockedCount--;
  }

  /** Increases the connection's window. @throws ProtocolError on overflow */
  widen(amount: number): void {
    this.window += amount;
    if (this.window > MAX_WINDOW_BYTES) throw new ProtocolError("connection window overflows");
  }

  /** Increases a stream's window. @throws ProtocolError on overflow */
  widenStream(stream: Stream, amount: number): void {
    stream.sendWindow += amount;
    if (stream.sendWindow > MAX_WINDOW_BYTES) throw new ProtocolError(`window of stream ${stream.id} overflows`);
    this.pump(stream);
  }

  /** Changes the initial window of streams, which also moves the windows of open streams (RFC 9113, 6.9.2). */
  setInitialWindow(value: number, streams: Iterable<Stream>): void {
    for (const stream of streams) stream.sendWindow += value - this.initialWindow;
    this.initialWindow = value;
  }

  /** Writes everything queued to the socket in one write, and calls the tickets. */
  writeTo(socket: Socket): void {
    if (this.out.isEmpty) return;
    this.out.writeTo(socket);
    if (this.ackCount > 0 && socket.pendingBytes === 0) this.ackCount = 0;
    if (this.ticketCount === 0) return;
    const sentNs = nowNs();
    this.sentNs = sentNs;
    const count = this.ticketCount;
    for (let i = 0; i < count; i++) (this.tickets[i] as SendTicket).onSent(sentNs);
    // A ticket that was called may have queued more.
    if (this.ticketCount > count) this.tickets.copyWithin(0, count, this.ticketCount);
    this.ticketCount -= count;
  }

  private putData(stream: Stream, bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    stream.sendWindow -= size;
    this.window -= size;
    this.out.putFrame(this.header(FRAME.data, stream.isSendingDone ? FLAG.endStream : 0, stream.id), bytes, start, end);
  }

  /** Returns the header of the next frame, in an object that this connection reuses. */
  private header(type: number, flags: number, streamId: number): FrameHeader {
    const { next } = this;
    next.type = type;
    next.flags = flags;
    next.streamId = streamId;
    return next;
  }
}

const SMALL_BYTES = 64;
const INITIAL_BYTES = 16 * 1024; // 16 KiB, grown as needed

/** Collects frames so that many requests are sent in one write. Does not reuse a buffer that the runtime still reads. */
class OutBuffer {
  private bytes: Uint8Array = new Uint8Array(INITIAL_BYTES);
  private length = 0;
  /** Bytes of the last write. Writes of one length share a view. */
  private written = this.bytes.subarray(0, 0);
  /** A buffer that the runtime may still be reading. */
  private retained: Uint8Array | undefined;

  get isEmpty(): boolean {
    return this.length === 0;
  }

  put(bytes: Uint8Array): void {
    this.grow(bytes.length);
    this.bytes.set(bytes, this.length);
    this.length += bytes.length;
  }

  putFrame(header: FrameHeader, bytes: Uint8Array, start: number, end: number): void {
    const size = end - start;
    this.grow(FRAME_HEADER_BYTES + size);
    putFrameHeader(this.bytes, this.length, size, header);
    this.copy(bytes, start, end, this.length + FRAME_HEADER_BYTES);
    this.length += FRAME_HEADER_BYTES + size;
  }

  writeTo(socket: Socket): void {
    if (this.length === 0) return;
    // When the socket has no pending bytes, it no longer reads the retained buffer.
    const spare = socket.pendingBytes === 0 ? this.retained : undefined;
    if (this.written.length !== this.length) this.written = this.bytes.subarray(0, this.length);
    const isFree = socket.write(this.written);
    this.length = 0;
    if (isFree) return;
    this.retained = this.bytes;
    this.replace(spare ?? new Uint8Array(INITIAL_BYTES));
  }

  /** Copies small parts byte by byte, because a native call costs more. */
  private copy(bytes: Uint8Array, start: number, end: number, to: number): void {
    if (end - start > SMALL_BYTES) copyBytes(bytes, start, end, this.bytes, to);
    else for (let i = start; i < end; i++) this.bytes[to + i - start] = bytes[i] as number;
  }

  private replace(bytes: Uint8Array): void {
    this.bytes = bytes;
    this.written = bytes.subarray(0, 0);
  }

  private grow(extra: number): void {
    const needed = this.length + extra;
    if (needed <= this.bytes.length) return;
    const grown = new Uint8Array(Math.max(needed, this.bytes.length * 2));
    grown.set(this.bytes.subarray(0, this.length));
    this.replace(grown);
  }
}
