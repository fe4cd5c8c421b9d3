import { ProtocolError, ResponseTooLargeError } from "../failure.ts";
import { decimal, digits, hexadecimal, isName, quote, text } from "./text.ts";

/**
 * An incremental parser of HTTP/1.1 responses (RFC 9112), fed with whatever pieces the socket delivers. It knows no socket and
 * no clock; it only frames, and delivers body bytes to a sink when the sink wants them.
 */

export const MAX_HEAD_BYTES = 64 * 1024; // 64 KiB, status line and headers together
const MAX_CHUNK_LINE_BYTES = 1024; // 1 KiB, a chunk's size and its extensions
const MAX_TRAILER_BYTES = 64 * 1024; // 64 KiB, all trailer lines together

const LF = 10;
const CR = 13;

/** What the parser tells of a response. All calls come from inside `feed` or `end`. */
export interface ResponseSink {
  /** Status line and headers of the final response are known (1xx responses are skipped). Returns whether body bytes are wanted. */
  onHead(parser: ResponseParser): boolean;
  /** A piece of the body, chunk framing removed: `bytes[start, end)`. Only when wanted. */
  onBody(bytes: Uint8Array, start: number, end: number): void;
  /** The response is complete. */
  onComplete(parser: ResponseParser): void;
}

type State = "head" | "length" | "chunk-size" | "chunk-data" | "chunk-end" | "trailers" | "until-close";

/**
 * Parses a sequence of responses on one connection. Throws {@link ProtocolError}, or {@link ResponseTooLargeError} for a body of more than
 * `maxBodyBytes`; after that the connection is of no use.
 */
export class ResponseParser {
  /** Status code of the current response, 200 to 599. */
  status = 0;
  /** Value of `Inference-Header-Content-Length`; 0 when absent. */
  jsonBytes = 0;
  /** Whether the response's content is server-sent events. */
  isEventStream = false;
  /** Whether the response's content is JSON, as its type says. */
  isJson = false;
  /** How the content is encoded, such as `gzip`; empty when it is not. */
  contentEncoding = "";
  /** Where a redirect (3xx) leads; empty without one. */
  location = "";
  /** Status line and headers as text; only when `keepsHead` is set. */
  head = "";
  keepsHead = false;
  /** Most bytes of one response's body, chunk framing left out. */
  maxBodyBytes = Number.POSITIVE_INFINITY;
  /** Whether the connection may carry another request after this response. */
  keepAlive = true;

  private readonly sink: ResponseSink;
  private state: State = "head";
  private wantsBody = false;
  private remaining = 0;
  /** Bytes of the body so far, where its length is not known from the head. */
  private bodyBytes = 0;
  private contentLength = -1;
  private isChunked = false;
  private hasTransferEncoding = false;
  private trailerBytes = 0;
  /** Bytes of a line or head that is not complete yet. */
  private carry: Uint8Array | undefined;

  constructor(sink: ResponseSink) {
    this.sink = sink;
  }

  /** True when no response is under way: closing the connection here loses nothing. */
  get isBetweenResponses(): boolean {
    return this.state === "head" && this.carry === undefined;
  }

  /** Takes the next bytes of the connection. They are not kept. */
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

  /** The connection ended. Completes a body that lasts until close; throws when a response was cut off. */
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

  /** Handles one element starting at `position`; returns where it ended, or -1 when more bytes are needed. */
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
    let lineStart = position;
    let isStatusLine = true;
    for (;;) {
      const lineFeed = input.indexOf(LF, lineStart);
      if (lineFeed < 0 || lineFeed >= end) {
        if (end - position > MAX_HEAD_BYTES)
          throw new ProtocolError(`response head is longer than ${MAX_HEAD_BYTES} bytes`);
        // Bytes that cannot begin a response are refused at once, not after a head's worth of them.
        if (isStatusLine) checkStatusPrefix(input, position, end);
        return -1;
      }
      const lineEnd = lineFeed > lineStart && input[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
      if (isStatusLine) {
        this.readStatusLine(input, lineStart, lineEnd);
        isStatusLine = false;
      } else if (lineEnd === lineStart) {
        if (lineFeed - position > MAX_HEAD_BYTES)
          throw new ProtocolError(`response head is longer than ${MAX_HEAD_BYTES} bytes`);
        if (this.keepsHead) this.head = text(input, position, lineFeed + 1);
        this.headComplete();
        return lineFeed + 1;
      } else {
        this.readHeader(input, lineStart, lineEnd);
      }
      lineStart = lineFeed + 1;
    }
  }

  private readStatusLine(input: Uint8Array, start: number, end: number): void {
    checkStatusPrefix(input, start, end);
    // Three digits, and a blank unless the line ends there.
    const isWhole = end - start === 12 || (end - start > 12 && input[start + 12] === 0x20);
    const status = isWhole ? digits(input, start + 9, start + 12) : -1;
    if (status < 100 || status > 599) throw new ProtocolError(`bad status line ${quote(input, start, end)}`);
    this.status = status;
    // HTTP/1.0 closes unless told otherwise.
    this.keepAlive = input[start + 7] !== 0x30;
    this.jsonBytes = 0;
    this.isEventStream = false;
    this.isJson = false;
    this.contentEncoding = "";
    this.location = "";
    this.contentLength = -1;
    this.isChunked = false;
    this.hasTransferEncoding = false;
  }

  /** Reads the few headers that matter; the first letter decides, so others cost one comparison. */
  private readHeader(input: Uint8Array, start: number, end: number): void {
    const first = (input[start] as number) | 0x20;
    if (first === 0x63 /* c */) {
      if (isName(input, start, end, "content-length")) this.readContentLength(input, start + 15, end);
      else if (isName(input, start, end, "connection")) this.readConnection(input, start + 11, end);
      else if (isName(input, start, end, "content-type")) this.readContentType(input, start + 13, end);
      else if (isName(input, start, end, "content-encoding")) {
        const encoding = text(input, start + 17, end)
          .trim()
          .toLowerCase();
        this.contentEncoding = encoding === "identity" ? "" : encoding;
      }
    } else if (first === 0x69 /* i */) {
      if (isName(input, start, end, "inference-header-content-length")) {
        this.jsonBytes = Math.max(0, decimal(input, start + 32, end));
      }
    } else if (first === 0x6c /* l */) {
      if (this.status >= 300 && this.status < 400 && isName(input, start, end, "location"))
        this.location = text(input, start + 9, end).trim();
    } else if (first === 0x74 /* t */) {
      if (isName(input, start, end, "transfer-encoding")) {
        const codings = text(input, start + 18, end)
          .trim()
          .toLowerCase();
        if (!/(^|,\s*)chunked$/.test(codings)) throw new ProtocolError(`unsupported Transfer-Encoding '${codings}'`);
        this.isChunked = true;
        this.hasTransferEncoding = true;
      }
    }
  }

  private readContentLength(input: Uint8Array, start: number, end: number): void {
    const length = decimal(input, start, end);
    if (length < 0) throw new ProtocolError(`bad Content-Length ${quote(input, start, end)}`);
    if (this.contentLength >= 0 && this.contentLength !== length) {
      throw new ProtocolError(`two different Content-Length values: ${this.contentLength} and ${length}`);
    }
    this.contentLength = length;
  }

  private readContentType(input: Uint8Array, start: number, end: number): void {
    const type = text(input, start, end).trimStart().toLowerCase();
    this.isEventStream = type.startsWith("text/event-stream");
    this.isJson = type.startsWith("application/json");
  }

  private readConnection(input: Uint8Array, start: number, end: number): void {
    const options = text(input, start, end).toLowerCase();
    if (/(^|,)\s*close\s*(,|$)/.test(options)) this.keepAlive = false;
    else if (/(^|,)\s*keep-alive\s*(,|$)/.test(options)) this.keepAlive = true;
  }

  private headComplete(): void {
    if (this.status < 200) {
      if (this.status === 101) throw new ProtocolError("server switched protocols (101) although nothing asked for it");
      return;
    }
    this.wantsBody = this.sink.onHead(this);
    if (this.status === 204 || this.status === 304) {
      this.complete();
    } else if (this.isChunked) {
      // Transfer-Encoding overrides Content-Length (RFC 9112, 6.3); both together smell of smuggling, so the connection ends.
      if (this.hasTransferEncoding && this.contentLength >= 0) this.keepAlive = false;
      this.bodyBytes = 0;
      this.state = "chunk-size";
    } else if (this.contentLength === 0) {
      this.complete();
    } else if (this.contentLength > 0) {
      if (this.contentLength > this.maxBodyBytes) throw new ResponseTooLargeError(this.maxBodyBytes);
      this.remaining = this.contentLength;
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

const STATUS_PREFIX = "HTTP/1.";

function checkStatusPrefix(input: Uint8Array, start: number, end: number): void {
  const known = Math.min(STATUS_PREFIX.length, end - start);
  for (let i = 0; i < known; i++) {
    if (input[start + i] !== STATUS_PREFIX.charCodeAt(i)) {
      throw new ProtocolError(`response does not start with HTTP/1: ${quote(input, start, end)}`);
    }
  }
  if (end - start > 7) {
    const minor = input[start + 7];
    if ((minor !== 0x30 && minor !== 0x31) || (end - start > 8 && input[start + 8] !== 0x20)) {
      throw new ProtocolError(`bad HTTP version in ${quote(input, start, end)}`);
    }
  }
}

function describeMissing(state: State, remaining: number): string {
  return state === "length" || state === "chunk-data" ? `${remaining} bytes missing` : `expected ${state}`;
}
