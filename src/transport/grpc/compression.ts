import { MOST_RESPONSE_BYTES } from "../../plan/response-limit.ts";
import { ProtocolError, ResponseTooLargeError } from "../failure.ts";
import type { MessageCompression } from "../request.ts";
import { adlerOf, CRC_OF_NOTHING, crcOf, joinAdlers, joinCrcs, toCrcShift } from "./checksums.ts";

/** gRPC's compressed messages: gzip as in RFC 1952, and `deflate`, which is zlib's format (RFC 1950). */

/** What `grpc-accept-encoding` says: what {@link decompressMessage} reads, in the words of gRPC's C++ library. */
export const ACCEPTED_ENCODINGS = "identity, deflate, gzip";

/** Bytes before the stamp that are not worth a block of their own. */
const MAX_STORED_BYTES = 512;
const STORED_HEAD_BYTES = 5;

/** A compressed message, and how its stamp is written. */
export interface CompressedMessage {
  readonly bytes: Uint8Array;
  /** Offset of the stamp in `bytes`, where it stands as it is; -1 when the message has none. */
  readonly stampOffset: number;
  /** Set with a stamp. */
  readonly seal: CompressedSeal | undefined;
}

/** What a compressed message says of its own content besides the content: it changes with the stamp. */
export interface CompressedSeal {
  /** Writes the checksum of a message that has been given a stamp. @param bytes the message; whatever precedes it is left alone */
  write(bytes: Uint8Array, stamp: Uint8Array): void;
}

/**
 * Compresses a message, once for all its sendings: the stamp stands between two compressed parts in a block that is not compressed, so
 * that it can be written over and only the checksum is computed anew. Undefined when the message would not become shorter; gRPC sends it
 * as it is then.
 */
export function compressMessage(
  payload: Uint8Array,
  algorithm: MessageCompression,
  stampPlace?: { readonly offset: number; readonly length: number },
): CompressedMessage | undefined {
  const { gzipSync, deflateSync } = zlib();
  const compressed =
    stampPlace === undefined
      ? { bytes: (algorithm === "gzip" ? gzipSync : deflateSync)(payload), stampOffset: -1, seal: undefined }
      : compressAround(payload, algorithm, stampPlace.offset, stampPlace.offset + stampPlace.length);
  return compressed.bytes.length < payload.length ? compressed : undefined;
}

/**
 * The message in a compressed one. Throws {@link ProtocolError} when there is none, or `encoding` is not one of {@link ACCEPTED_ENCODINGS},
 * and {@link ResponseTooLargeError} when it has more than `maxBytes`.
 */
export function decompressMessage(bytes: Uint8Array, encoding: string, maxBytes = MOST_RESPONSE_BYTES): Uint8Array {
  const { gunzipSync, inflateSync } = zlib();
  const decompress = encoding === "gzip" ? gunzipSync : inflateSync;
  try {
    const { buffer, byteOffset, length } = decompress(bytes, { maxOutputLength: maxBytes });
    // A plain Uint8Array, because `Buffer.slice` would share memory where `Uint8Array.slice` copies.
    return new Uint8Array(buffer, byteOffset, length);
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") throw new ResponseTooLargeError(maxBytes);
    throw new ProtocolError(`bad ${encoding} data in a gRPC message: ${(error as Error).message}`);
  }
}

/** Throws {@link ProtocolError} unless messages with this `grpc-encoding` may be compressed. */
export function checkEncoding(encoding: string): void {
  if (encoding === "gzip" || encoding === "deflate") return;
  throw new ProtocolError(
    encoding === "identity"
      ? "compressed gRPC message without a grpc-encoding"
      : `gRPC message compressed with ${encoding}, which was not offered`,
  );
}

/** Loaded when something is compressed, which is seldom. */
function zlib(): typeof import("node:zlib") {
  return process.getBuiltinModule("node:zlib");
}

/** `payload[start, end)` is the stamp. */
function compressAround(
  payload: Uint8Array,
  algorithm: MessageCompression,
  start: number,
  end: number,
): CompressedMessage {
  const { constants, deflateRawSync, deflateSync, gzipSync } = zlib();
  const before = payload.subarray(0, start);
  const after = payload.subarray(end);
  // A flush ends on a whole byte, and nothing after it refers to anything before it.
  const first =
    start <= MAX_STORED_BYTES ? new Uint8Array(0) : deflateRawSync(before, { finishFlush: constants.Z_FULL_FLUSH });
  const stored = payload.subarray(start <= MAX_STORED_BYTES ? 0 : start, end);
  const isGzip = algorithm === "gzip";
  const rest = isGzip ? gzipSync(after) : deflateSync(after);
  const headBytes = isGzip ? 10 : 2;
  const tailBytes = isGzip ? 8 : 4;
  const bytes = new Uint8Array(first.length + STORED_HEAD_BYTES + stored.length + rest.length);
  bytes.set(rest.subarray(0, headBytes));
  bytes.set(first, headBytes);
  const blockAt = headBytes + first.length;
  new DataView(bytes.buffer).setUint16(blockAt + 1, stored.length, true);
  new DataView(bytes.buffer).setUint16(blockAt + 3, ~stored.length, true);
  bytes.set(stored, blockAt + STORED_HEAD_BYTES);
  const storedEnd = blockAt + STORED_HEAD_BYTES + stored.length;
  bytes.set(rest.subarray(headBytes), storedEnd);
  const checksum = new DataView(rest.buffer, rest.byteOffset + rest.length - tailBytes);
  const seal = isGzip
    ? new GzipSeal(before, checksum.getUint32(0, true), after.length)
    : new ZlibSeal(before, checksum.getUint32(0), after.length);
  if (isGzip) new DataView(bytes.buffer).setUint32(bytes.length - 4, payload.length, true);
  seal.write(bytes, payload.subarray(start, end));
  return { bytes, stampOffset: storedEnd - (end - start), seal };
}

/** gzip ends with the content's CRC-32 and its length, both with the lowest byte first. */
class GzipSeal implements CompressedSeal {
  private readonly crcBefore: number;
  private readonly crcAfter: number;
  private readonly shift: number;

  constructor(before: Uint8Array, crcAfter: number, bytesAfter: number) {
    this.crcBefore = crcOf(before, CRC_OF_NOTHING);
    this.crcAfter = crcAfter;
    this.shift = toCrcShift(bytesAfter);
  }

  write(bytes: Uint8Array, stamp: Uint8Array): void {
    const crc = joinCrcs(crcOf(stamp, this.crcBefore), this.crcAfter, this.shift);
    const at = bytes.length - 8;
    bytes[at] = crc;
    bytes[at + 1] = crc >>> 8;
    bytes[at + 2] = crc >>> 16;
    bytes[at + 3] = crc >>> 24;
  }
}

/** zlib's format ends with the content's Adler-32, highest byte first. */
class ZlibSeal implements CompressedSeal {
  private readonly adlerBefore: number;
  private readonly adlerAfter: number;
  private readonly bytesAfter: number;

  constructor(before: Uint8Array, adlerAfter: number, bytesAfter: number) {
    this.adlerBefore = adlerOf(before, 1);
    this.adlerAfter = adlerAfter;
    this.bytesAfter = bytesAfter;
  }

  write(bytes: Uint8Array, stamp: Uint8Array): void {
    const adler = joinAdlers(adlerOf(stamp, this.adlerBefore), this.adlerAfter, this.bytesAfter);
    const at = bytes.length - 4;
    bytes[at] = adler >>> 24;
    bytes[at + 1] = adler >>> 16;
    bytes[at + 2] = adler >>> 8;
    bytes[at + 3] = adler;
  }
}
