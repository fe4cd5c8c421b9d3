import { MOST_RESPONSE_BYTES } from "../../plan/defaults.ts";
import { ProtocolError, ResponseTooLargeError } from "../failure.ts";
import type { MessageCompression } from "../request.ts";
import { adlerOf, CRC_OF_NOTHING, crcOf, joinAdlers, joinCrcs, toCrcShift } from "./checksums.ts";

/** gRPC message compression: gzip (RFC 1952) and `deflate`, which is the zlib format (RFC 1950). */

/**
 * The value of `grpc-accept-encoding`: the encodings that {@link decompressMessage} supports, in the format of gRPC's
 * C++ library.
 */
export const ACCEPTED_ENCODINGS = "identity, deflate, gzip";

/** Up to this many bytes before the stamp are stored together with it instead of compressed separately. */
const MAX_STORED_BYTES = 512;
const STORED_HEAD_BYTES = 5;

/** A compressed message and the place of its stamp. */
export interface CompressedMessage {
  readonly bytes: Uint8Array;
  /** Offset of the stamp in `bytes`, where it is stored uncompressed; -1 when the message has no stamp. */
  readonly stampOffset: number;
  /** Present when the message has a stamp. */
  readonly seal: CompressedSeal | undefined;
}

/** Updates the checksum of a compressed message after its stamp has changed. */
export interface CompressedSeal {
  /** Writes the checksum for the stamp. @param bytes must end with the message; bytes before the message are not changed */
  write(bytes: Uint8Array, stamp: Uint8Array): void;
}

/**
 * Compresses a message once for all its sends: the stamp is in an uncompressed block between two compressed parts, so that only the stamp
 * and the checksum change with each send. Returns undefined when compression does not make the message shorter; gRPC then sends it
 * uncompressed.
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
 * Decompresses a message. `encoding` is `gzip` or `deflate`.
 * @throws ProtocolError when the data is not valid
 * @param usedBytes bytes of earlier messages that count against `maxBytes`
 * @throws ResponseTooLargeError when the total with this message is more than `maxBytes`
 */
export function decompressMessage(
  bytes: Uint8Array,
  encoding: string,
  maxBytes = MOST_RESPONSE_BYTES,
  usedBytes = 0,
): Uint8Array {
  const { gunzipSync, inflateSync } = zlib();
  const decompress = encoding === "gzip" ? gunzipSync : inflateSync;
  try {
    const { buffer, byteOffset, length } = decompress(bytes, { maxOutputLength: Math.max(1, maxBytes - usedBytes) });
    // A plain Uint8Array, because `Buffer.slice` would share memory where `Uint8Array.slice` copies.
    return new Uint8Array(buffer, byteOffset, length);
  } catch (error) {
    if ((error as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") throw new ResponseTooLargeError(maxBytes);
    throw new ProtocolError(`bad ${encoding} data in a gRPC message: ${(error as Error).message}`);
  }
}

/** Checks that messages with this `grpc-encoding` may be compressed. @throws ProtocolError */
export function checkEncoding(encoding: string): void {
  if (encoding === "gzip" || encoding === "deflate") return;
  throw new ProtocolError(
    encoding === "identity"
      ? "compressed gRPC message without a grpc-encoding"
      : `gRPC message compressed with ${encoding}, which was not offered`,
  );
}

/** Loaded on first use, because compression is rare. */
function zlib(): typeof import("node:zlib") {
  return process.getBuiltinModule("node:zlib");
}

/** Compresses around the stamp `payload[start, end)`. */
function compressAround(
  payload: Uint8Array,
  algorithm: MessageCompression,
  start: number,
  end: number,
): CompressedMessage {
  const { constants, deflateRawSync, deflateSync, gzipSync } = zlib();
  const before = payload.subarray(0, start);
  const after = payload.subarray(end);
  // A full flush ends on a byte boundary, and later data does not refer to earlier data.
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

/** A gzip stream ends with the CRC-32 and the length of its content, both little-endian. */
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

/** A zlib stream ends with the Adler-32 of its content, big-endian. */
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
