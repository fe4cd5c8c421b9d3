import { MOST_RESPONSE_BYTES } from "../../plan/defaults.ts";
import { NO_BYTES } from "../../runtime/bytes.ts";
import { ProtocolError, ResponseTooLargeError } from "../failure.ts";
import { GrowingBytes, RESPONSES_BUDGET } from "../growing-bytes.ts";
import { checkEncoding, decompressMessage } from "./compression.ts";

export const MESSAGE_PREFIX_BYTES = 5;

/** Returns a message with its length prefix (gRPC over HTTP/2), ready to be sent as DATA. */
export function frameMessage(message: Uint8Array, isCompressed: boolean): Uint8Array {
  const framed = new Uint8Array(MESSAGE_PREFIX_BYTES + message.length);
  framed[0] = isCompressed ? 1 : 0;
  framed[1] = message.length >>> 24;
  framed[2] = message.length >>> 16;
  framed[3] = message.length >>> 8;
  framed[4] = message.length;
  framed.set(message, MESSAGE_PREFIX_BYTES);
  return framed;
}

/** Receives complete messages. */
export interface MessageSink {
  /** A message `bytes[start, end)`, valid during the call. Start and end are 0 when its bytes are not kept or were passed to `onPiece`. */
  onMessage(bytes: Uint8Array, start: number, end: number): void;
  /** A piece of a message that arrived in pieces, valid during the call. Called only when {@link Keep} is `pieces`. */
  onPiece?(bytes: Uint8Array, start: number, end: number, isFirst: boolean): void;
}

/**
 * Treatment of the bytes of messages.
 * - `whole`: join each message
 * - `pieces`: pass on a message that arrives in pieces piece by piece, unless it is compressed
 * - `none`: count messages only; copy and decompress nothing
 */
export type Keep = "whole" | "pieces" | "none";

const NO_ENCODING = "identity";

/**
 * Splits the data of one stream into gRPC's length-prefixed messages and decompresses them.
 * @throws ProtocolError
 * @throws ResponseTooLargeError when a message is longer than allowed
 */
export class MessageReader {
  /** The stream's `grpc-encoding`: the compression of its compressed messages. */
  encoding = NO_ENCODING;
  /** Bytes of earlier messages that count against the same limit. */
  usedBytes = 0;
  private readonly sink: MessageSink;
  private readonly maxBytes: number;
  private keep: Keep;
  private readonly prefix = new Uint8Array(MESSAGE_PREFIX_BYTES);
  private prefixBytes = 0;
  private size = 0;
  private received = 0;
  private readonly body = new GrowingBytes(RESPONSES_BUDGET);
  /** Whether the message that is passed on has a buffer of its own. */
  private isOwned = false;
  private resetCount = 0;

  /** @param maxBytes maximum size of a message, compressed or not, with the used bytes; default: the maximum of a 32-bit length */
  constructor(sink: MessageSink, keep: Keep, maxBytes = MOST_RESPONSE_BYTES) {
    this.sink = sink;
    this.maxBytes = maxBytes;
    this.keep = keep;
  }

  /** True between messages, when none is incomplete. */
  get isBetweenMessages(): boolean {
    return this.prefixBytes === 0;
  }

  /** Size of the current message on the wire: its compressed size, if it is compressed. */
  get messageBytes(): number {
    return this.size;
  }

  /** Prepares the reader for another stream. The sink may call this; then the rest of the current bytes is ignored. */
  reset(keep: Keep): void {
    this.keep = keep;
    this.encoding = NO_ENCODING;
    this.usedBytes = 0;
    this.resetCount++;
    this.prefixBytes = 0;
    this.received = 0;
    this.body.clear();
  }

  /** Returns a part of the message that is passed on, which the caller owns: a copy, if the next read would overwrite it. */
  own(bytes: Uint8Array, start: number, end: number): Uint8Array {
    return this.isOwned ? bytes.subarray(start, end) : bytes.slice(start, end);
  }

  feed(bytes: Uint8Array, start: number, end: number): void {
    const { resetCount } = this;
    let position = start;
    while (position < end && resetCount === this.resetCount) {
      if (this.prefixBytes < MESSAGE_PREFIX_BYTES) {
        position = this.readPrefix(bytes, position, end);
        if (this.prefixBytes < MESSAGE_PREFIX_BYTES) return;
        if (this.size > 0) continue;
        this.finish(NO_BYTES, 0, 0);
        continue;
      }
      position = this.readBody(bytes, position, end);
    }
  }

  private readPrefix(bytes: Uint8Array, start: number, end: number): number {
    let position = start;
    while (this.prefixBytes < MESSAGE_PREFIX_BYTES && position < end) {
      this.prefix[this.prefixBytes++] = bytes[position++] as number;
    }
    if (this.prefixBytes < MESSAGE_PREFIX_BYTES) return position;
    const prefix = this.prefix;
    if (prefix[0] === 1) checkEncoding(this.encoding);
    else if (prefix[0] !== 0) throw new ProtocolError(`bad gRPC message flag ${prefix[0]}`);
    this.size =
      (prefix[1] as number) * 2 ** 24 +
      (((prefix[2] as number) << 16) | ((prefix[3] as number) << 8) | (prefix[4] as number));
    if (this.size + this.usedBytes > this.maxBytes) throw new ResponseTooLargeError(this.maxBytes);
    this.received = 0;
    return position;
  }

  private readBody(bytes: Uint8Array, position: number, end: number): number {
    const stop = Math.min(end, position + this.size - this.received);
    const isWhole = this.received === 0 && stop - position === this.size;
    const isCollected = this.keep === "whole" || (this.keep === "pieces" && this.prefix[0] === 1);
    if (!isWhole) {
      if (isCollected) {
        if (this.received === 0) this.body.expect(this.size);
        this.body.append(bytes, position, stop);
      } else if (this.keep === "pieces") this.sink.onPiece?.(bytes, position, stop, this.received === 0);
    }
    this.received += stop - position;
    if (this.received === this.size) {
      if (this.keep === "none" || (!isCollected && !isWhole)) this.finish(NO_BYTES, 0, 0);
      else if (isWhole) this.finish(bytes, position, stop);
      else this.finish(this.body.take(), 0, this.size, true);
    }
    return stop;
  }

  private finish(bytes: Uint8Array, start: number, end: number, isOwned = false): void {
    this.prefixBytes = 0;
    this.received = 0;
    this.isOwned = isOwned;
    if (this.prefix[0] === 0 || this.keep === "none") {
      this.sink.onMessage(bytes, start, end);
      return;
    }
    const message = decompressMessage(bytes.subarray(start, end), this.encoding, this.maxBytes, this.usedBytes);
    this.isOwned = true;
    this.sink.onMessage(message, 0, message.length);
  }
}
