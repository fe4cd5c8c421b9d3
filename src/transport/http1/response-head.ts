import { isSameBytes } from "../../runtime/bytes.ts";
import { mayRetryLater, ProtocolError } from "../failure.ts";
import { latin1Text } from "../latin1.ts";
import { decimal, digits, isName, quote } from "./text.ts";

export const MAX_HEAD_BYTES = 64 * 1024; // 64 KiB, status line and headers

const LF = 10;
const CR = 13;

/** The parsed status line and headers of an HTTP/1.1 response (RFC 9112, sections 3 to 6). */
export interface ResponseHead {
  /** Status code, 100 to 599. */
  readonly status: number;
  /** Value of `Inference-Header-Content-Length`; 0 when absent. */
  readonly jsonBytes: number;
  /** Whether the content is server-sent events. */
  readonly isEventStream: boolean;
  /** Whether the content type is JSON. */
  readonly isJson: boolean;
  /** Content encoding, such as `gzip`; empty when there is none. */
  readonly contentEncoding: string;
  /** Target of a redirect (3xx); empty otherwise. */
  readonly location: string;
  /** Value of `Retry-After` of a response with the status 429 or 503; empty otherwise. */
  readonly retryAfter: string;
  /** Whether the headers allow another request on the connection. */
  readonly keepAlive: boolean;
  /** Length of the content in bytes; -1 when the head does not give it. */
  readonly contentLength: number;
  readonly isChunked: boolean;
}

type Draft = { -readonly [Name in keyof ResponseHead]: ResponseHead[Name] };

/** On cache misses, one in this many heads is cached, so that connections whose heads all differ make few copies. */
const REMEMBER_EVERY = 8;

/**
 * Reads the heads of one connection. Most are identical, so it caches one and does not parse it again. There is one reader per
 * connection, because the length of a request's id, which responses repeat, differs between slots.
 */
export class HeadReader {
  /** The last head that was read. */
  head: ResponseHead = draft(0, true);
  private known: ResponseHead = this.head;
  private knownBytes = new Uint8Array(0);
  private misses = 0;

  /** Reads the head in `input[start, end)`. Returns its end, or -1 when it is incomplete. @throws ProtocolError */
  read(input: Uint8Array, start: number, end: number): number {
    const { knownBytes } = this;
    const { length } = knownBytes;
    if (length > 0 && end - start >= length && isSameBytes(knownBytes, 0, input, start, length)) {
      this.head = this.known;
      this.misses = 0;
      return start + length;
    }
    const stop = this.readLines(input, start, end);
    if (stop >= 0 && this.misses++ % REMEMBER_EVERY === 0) {
      this.known = this.head;
      this.knownBytes = input.slice(start, stop);
    }
    return stop;
  }

  private readLines(input: Uint8Array, start: number, end: number): number {
    let lineStart = start;
    let head: Draft | undefined;
    for (;;) {
      const lineFeed = input.indexOf(LF, lineStart);
      const isCut = lineFeed < 0 || lineFeed >= end;
      const stop = isCut ? end : lineFeed;
      if (stop - start > MAX_HEAD_BYTES)
        throw new ProtocolError(`response head is longer than ${MAX_HEAD_BYTES} bytes`);
      if (isCut) {
        // Reject bytes that cannot start a response early, not only at the size limit.
        if (head === undefined) checkStatusPrefix(input, start, end);
        return -1;
      }
      const lineEnd = lineFeed > lineStart && input[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
      if (head === undefined) head = readStatusLine(input, lineStart, lineEnd);
      else if (lineEnd > lineStart) readHeader(head, input, lineStart, lineEnd);
      else {
        this.head = head;
        return lineFeed + 1;
      }
      lineStart = lineFeed + 1;
    }
  }
}

function draft(status: number, keepAlive: boolean): Draft {
  return {
    status,
    jsonBytes: 0,
    isEventStream: false,
    isJson: false,
    contentEncoding: "",
    location: "",
    retryAfter: "",
    keepAlive,
    contentLength: -1,
    isChunked: false,
  };
}

function readStatusLine(input: Uint8Array, start: number, end: number): Draft {
  checkStatusPrefix(input, start, end);
  // Three digits, then a space or the end of the line.
  const isWhole = end - start === 12 || (end - start > 12 && input[start + 12] === 0x20);
  const status = isWhole ? digits(input, start + 9, start + 12) : -1;
  if (status < 100 || status > 599) throw new ProtocolError(`bad status line ${quote(input, start, end)}`);
  // HTTP/1.0 closes by default.
  return draft(status, input[start + 7] !== 0x30);
}

/** Reads the relevant headers. Compares the first letter first, so that other headers cost one comparison. */
function readHeader(head: Draft, input: Uint8Array, start: number, end: number): void {
  const first = (input[start] as number) | 0x20;
  if (first === 0x63 /* c */) {
    if (isName(input, start, end, "content-length")) readContentLength(head, input, start + 15, end);
    else if (isName(input, start, end, "connection")) readConnection(head, input, start + 11, end);
    else if (isName(input, start, end, "content-type")) readContentType(head, input, start + 13, end);
    else if (isName(input, start, end, "content-encoding")) {
      const encoding = latin1Text(input, start + 17, end)
        .trim()
        .toLowerCase();
      head.contentEncoding = encoding === "identity" ? "" : encoding;
    }
  } else if (first === 0x69 /* i */) {
    if (isName(input, start, end, "inference-header-content-length"))
      head.jsonBytes = Math.max(0, decimal(input, start + 32, end));
  } else if (first === 0x6c /* l */) {
    if (head.status >= 300 && head.status < 400 && isName(input, start, end, "location"))
      head.location = latin1Text(input, start + 9, end).trim();
  } else if (first === 0x72 /* r */) {
    if (mayRetryLater(head.status) && isName(input, start, end, "retry-after"))
      head.retryAfter = latin1Text(input, start + 12, end).trim();
  } else if (first === 0x74 /* t */) {
    if (isName(input, start, end, "transfer-encoding")) {
      const codings = latin1Text(input, start + 18, end)
        .trim()
        .toLowerCase();
      if (!/(^|,\s*)chunked$/.test(codings)) throw new ProtocolError(`unsupported Transfer-Encoding '${codings}'`);
      head.isChunked = true;
    }
  }
}

function readContentLength(head: Draft, input: Uint8Array, start: number, end: number): void {
  const length = decimal(input, start, end);
  if (length < 0) throw new ProtocolError(`bad Content-Length ${quote(input, start, end)}`);
  if (head.contentLength >= 0 && head.contentLength !== length)
    throw new ProtocolError(`two different Content-Length values: ${head.contentLength} and ${length}`);
  head.contentLength = length;
}

function readContentType(head: Draft, input: Uint8Array, start: number, end: number): void {
  const type = latin1Text(input, start, end).trimStart().toLowerCase();
  head.isEventStream = type.startsWith("text/event-stream");
  head.isJson = type.startsWith("application/json");
}

function readConnection(head: Draft, input: Uint8Array, start: number, end: number): void {
  const options = latin1Text(input, start, end).toLowerCase();
  if (/(^|,)\s*close\s*(,|$)/.test(options)) head.keepAlive = false;
  else if (/(^|,)\s*keep-alive\s*(,|$)/.test(options)) head.keepAlive = true;
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
