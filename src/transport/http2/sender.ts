import { nowNs } from "../../runtime/clock.ts";
import type { Socket } from "../../runtime/socket.ts";
import { ProtocolError } from "../failure.ts";
import { DEFAULT_MAX_FRAME_BYTES, DEFAULT_WINDOW_BYTES, FLAG, FRAME, MAX_WINDOW_BYTES } from "./frames.ts";
import { OutBuffer } from "./out-buffer.ts";
import type { PendingData, SendTicket, Stream } from "./stream.ts";

/** The sending half of a connection: queues frames in order, within the peer's flow-control windows. */
export class FrameSender {
  /** SETTINGS_MAX_FRAME_SIZE of the peer, in bytes. */
  maxFrameBytes = DEFAULT_MAX_FRAME_BYTES;
  /** SETTINGS_INITIAL_WINDOW_SIZE of the peer, in bytes. */
  initialWindow = DEFAULT_WINDOW_BYTES;
  private readonly out = new OutBuffer();
  private readonly tickets: SendTicket[] = [];
  /** The connection's send window. */
  private window = DEFAULT_WINDOW_BYTES;

  /** Queues complete frames. */
  put(bytes: Uint8Array): void {
    this.out.put(bytes);
  }

  /** Queues the acknowledgement of a PING or SETTINGS frame. */
  putAck(type: number, bytes: Uint8Array, start: number, end: number): void {
    this.out.putFrame(type, FLAG.ack, 0, bytes, start, end);
  }

  /** Queues a header block, split into CONTINUATION frames if necessary. */
  putHeaders(streamId: number, block: Uint8Array): void {
    let offset = 0;
    let type: number = FRAME.headers;
    do {
      const size = Math.min(block.length - offset, this.maxFrameBytes);
      const isLast = offset + size === block.length;
      this.out.putFrame(type, isLast ? FLAG.endHeaders : 0, streamId, block, offset, offset + size);
      offset += size;
      type = FRAME.continuation;
    } while (offset < block.length);
  }

  /** Sends data on a stream, or queues it until the windows have room. */
  sendData(stream: Stream, bytes: Uint8Array, isLast: boolean, ticket: SendTicket | undefined): void {
    const length = bytes.length;
    const fits = length <= this.maxFrameBytes && length <= stream.sendWindow && length <= this.window;
    if (stream.pending === undefined && fits) {
      this.putData(stream, bytes, 0, length, isLast);
      if (ticket !== undefined) this.tickets.push(ticket);
      return;
    }
    stream.pending ??= [];
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
      this.putData(stream, data.bytes, data.offset, data.offset + size, isDone && data.isLast);
      data.offset += size;
      if (!isDone) continue;
      if (data.ticket !== undefined) this.tickets.push(data.ticket);
      stream.pending.shift();
      if (stream.pending.length === 0) stream.pending = undefined;
    }
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
    if (this.tickets.length === 0) return;
    const sentNs = nowNs();
    for (const ticket of this.tickets) ticket.onSent(sentNs);
    this.tickets.length = 0;
  }

  private putData(stream: Stream, bytes: Uint8Array, start: number, end: number, isLast: boolean): void {
    const size = end - start;
    stream.sendWindow -= size;
    this.window -= size;
    if (isLast) stream.isSendingDone = true;
    this.out.putFrame(FRAME.data, isLast ? FLAG.endStream : 0, stream.id, bytes, start, end);
  }
}
