import { ProtocolError, ResponseTooLargeError } from "../failure.ts";
import { latin1Text } from "../latin1.ts";
import { HeadReader, type ResponseHead } from "./response-head.ts";
import { hexadecimal, quote } from "./text.ts";

const MAX_CHUNK_LINE_BYTES = 1024; // 1 KiB, a chunk's size and extensions
const MAX_TRAILER_BYTES = 64 * 1024; // 64 KiB, all trailer lines
const MOST_INTERIM = 1000; // responses with a status of 1xx before the final one

const LF = 10;
const CR = 13;

/** Receives the parts of a response. All calls happen inside `feed` or `end`. */
export interface ResponseSink {
  /** The status line and headers of the final response (1xx responses are skipped). Returns whether body bytes are wanted. */
  onHead(parser: ResponseParser): boolean;
  /** A piece of the body without chunk framing: `bytes[start, end)`. Called only if wanted. */
  onBody(bytes: Uint8Array, start: number, end: number): void;
  onComplete(parser: ResponseParser): void;
}

type State = "head" | "length" | "chunk-size" | "chunk-data" | "chunk-end" | "trailers" | "until-close";

/**
 * Incremental parser of the HTTP/1.1 responses on one connection (RFC 9112). It only does framing, without socket and clock. After an
 * error the connection cannot be used.
 * @throws ProtocolError
 * @throws ResponseTooLargeError when a body has more than `maxBodyBytes`
 */
export class ResponseParser {
  private readonly heads = new HeadReader();
  head: ResponseHead = this.heads.head;
  /** Status line and headers as text; only when `keepsHead` is set. */
  headText = "";
  keepsHead = false;
  /** Maximum bytes of a response's body, without chunk framing. */
  maxBodyBytes = Number.POSITIVE_INFINITY;
  /** Whether the current response has no body, whatever its head says, because the request is a HEAD. */
  isHead = false;
  /** Whether the connection may carry another request after this response. */
  keepAlive = true;

  private readonly sink: ResponseSink;
  private state: State = "head";
  private wantsBody = false;
  private remaining = 0;
  /** Number of body bytes so far, when the head does not give the length. */
  private bodyBytes = 0;
  private trailerBytes = 0;
  /** Number of 1xx responses since the last final one. */
  private interimCount = 0;
  /** Bytes of an incomplete line or head. */
  private carry: Uint8Array | undefined;

  constructor(sink: ResponseSink) {
    this.sink = sink;
  }

  /** True when no response is incomplete. */
  get isBetweenResponses(): boolean {
    return this.state === "head" && this.carry === undefined;
  }

  /** Takes the next bytes of the connection. Does not keep them. */
  feed(bytes: Uint8Array): void {
    let input = bytes;
    if (this.carry !== undefined) {
      input = concat(this.carry, bytes);
      this.carry = undefined;
    }
    let position = 0;
    const end = input.length;
    while (position < end) {
      const next = this.step(input, position, end);
      if (next < 0) {
        this.carry = input.slice(position);
        return;
      }
      position = next;
    }
  }

  /** Ends the connection. Completes a body that lasts until close. @throws ProtocolError when a response is incomplete */
  end(): void {
    if (this.state === "until-close") {
      this.complete();
      return;
    }
    if (this.isBetweenResponses) return;
    throw new ProtocolError(
      this.state === "head"
        ? "connection closed within the response head"
        : `connection closed within the response body (${describeMissing(this.state, this.remaining)})`,
    );
  }

  /** Parses one element at `position`. Returns its end, or -1 when it is incomplete. */
  private step(input: Uint8Array, position: number, end: number): number {
    switch (this.state) {
      case "head":
        return this.readHead(input, position, end);
      case "length":
        return this.readCounted(input, position, end);
      case "chunk-size":
        return this.readChunkSize(input, position, end);
      case "chunk-data":
        return this.readCounted(input, position, end);
      case "chunk-end":
        return this.readChunkEnd(input, position, end);
      case "trailers":
        return this.readTrailer(input, position, end);
      case "until-close":
        this.countBody(end - position);
        if (this.wantsBody) this.sink.onBody(input, position, end);
        return end;
    }
  }

  private readHead(input: Uint8Array, position: number, end: number): number {
    const stop = this.heads.read(input, position, end);
    if (stop < 0) return stop;
    this.head = this.heads.head;
    if (this.keepsHead) this.headText = latin1Text(input, position, stop);
    this.headComplete();
    return stop;
  }

  private headComplete(): void {
    const { status, isChunked, contentLength } = this.head;
    if (status < 200) {
      if (status === 101) throw new ProtocolError("server switched protocols (101) although nothing asked for it");
      if (++this.interimCount > MOST_INTERIM) throw new ProtocolError(`more than ${MOST_INTERIM} interim responses`);
      return;
    }
    this.interimCount = 0;
    this.keepAlive = this.head.keepAlive;
    this.wantsBody = this.sink.onHead(this);
    if (status === 204 || status === 304 || this.isHead) {
      this.complete();
    } else if (isChunked) {
      // Transfer-Encoding overrides Content-Length (RFC 9112, 6.3). Both together may be request smuggling, so the connection closes.
      if (contentLength >= 0) this.keepAlive = false;
      this.bodyBytes = 0;
      this.state = "chunk-size";
    } else if (contentLength === 0) {
      this.complete();
    } else if (contentLength > 0) {
      if (contentLength > this.maxBodyBytes) throw new ResponseTooLargeError(this.maxBodyBytes);
      this.remaining = contentLength;
      this.state = "length";
    } else {
      this.keepAlive = false;
      this.bodyBytes = 0;
      this.state = "until-close";
    }
  }

  private countBody(bytes: number): void {
    this.bodyBytes += bytes;
    if (this.bodyBytes > this.maxBodyBytes) throw new ResponseTooLargeError(this.maxBodyBytes);
  }

  private readCounted(input: Uint8Array, position: number, end: number): number {
    const stop = Math.min(end, position + this.remaining);
    if (this.wantsBody) this.sink.onBody(input, position, stop);
    this.remaining -= stop - position;
    if (this.remaining === 0) {
      if (this.state === "chunk-data") this.state = "chunk-end";
      else this.complete();
    }
    return stop;
  }

  private readChunkSize(input: Uint8Array, position: number, end: number): number {
    const lineFeed = input.indexOf(LF, position);
    if (lineFeed < 0) {
      if (end - position > MAX_CHUNK_LINE_BYTES) throw new ProtocolError("chunk-size line is too long");
      return -1;
    }
    const lineEnd = input[lineFeed - 1] === CR && lineFeed > position ? lineFeed - 1 : lineFeed;
    const size = hexadecimal(input, position, lineEnd);
    if (size < 0) throw new ProtocolError(`bad chunk size ${quote(input, position, lineEnd)}`);
    this.countBody(size);
    this.remaining = size;
    this.trailerBytes = 0;
    this.state = size === 0 ? "trailers" : "chunk-data";
    return lineFeed + 1;
  }

  private readChunkEnd(input: Uint8Array, position: number, end: number): number {
    if (input[position] === LF) {
      this.state = "chunk-size";
      return position + 1;
    }
    if (input[position] !== CR) throw new ProtocolError("chunk data is not followed by a line break");
    if (position + 1 >= end) return -1;
    if (input[position + 1] !== LF) throw new ProtocolError("chunk data is not followed by a line break");
    this.state = "chunk-size";
    return position + 2;
  }

  private readTrailer(input: Uint8Array, position: number, end: number): number {
    const lineFeed = input.indexOf(LF, position);
    if (lineFeed < 0) {
      if (end - position > MAX_TRAILER_BYTES) throw new ProtocolError("trailers are too long");
      return -1;
    }
    const lineEnd = lineFeed > position && input[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
    this.trailerBytes += lineFeed + 1 - position;
    if (this.trailerBytes > MAX_TRAILER_BYTES) throw new ProtocolError("trailers are too long");
    if (lineEnd === position) this.complete();
    return lineFeed + 1;
  }

  private complete(): void {
    this.state = "head";
    this.sink.onComplete(this);
  }
}

function concat(head: Uint8Array, tail: Uint8Array): Uint8Array {
  const joined = new Uint8Array(head.length + tail.length);
  joined.set(head);
  joined.set(tail, head.length);
  return joined;
}

function describeMissing(state: State, remaining: number): string {
  return state === "length" || state === "chunk-data" ? `${remaining} bytes missing` : `expected ${state}`;
}
