import type { Endpoint, Header, MessageCompression, WireRequest } from "../request.ts";
import { ACCEPTED_ENCODINGS, type CompressedSeal, compressMessage } from "./compression.ts";
import { frameMessage, MESSAGE_PREFIX_BYTES } from "./messages.ts";

/** A gRPC message with its prefix, and where its stamp goes. */
export interface GrpcMessage {
  readonly bytes: Uint8Array;
  /** Offset of the stamp in `bytes`; -1 when it has none. */
  readonly stampOffset: number;
  /** How many digits of the id the stamp begins with. */
  readonly idDigits: number;
  /** Writes what else depends on the stamp. */
  readonly seal?: CompressedSeal | undefined;
}

/** Frames a request, compressed where that makes it shorter. */
export function encodeGrpcMessage(
  { payload, stampPlace }: WireRequest,
  compression: MessageCompression | undefined,
): GrpcMessage {
  const idDigits = stampPlace?.idDigits ?? 0;
  const place = stampPlace === undefined ? undefined : { offset: stampPlace.offset, length: stampPlace.length };
  const compressed = compression === undefined ? undefined : compressMessage(payload, compression, place);
  if (compressed === undefined) {
    const stampOffset = place === undefined ? -1 : MESSAGE_PREFIX_BYTES + place.offset;
    return { bytes: frameMessage(payload, false), stampOffset, idDigits };
  }
  return {
    bytes: frameMessage(compressed.bytes, true),
    stampOffset: place === undefined ? -1 : MESSAGE_PREFIX_BYTES + compressed.stampOffset,
    idDigits,
    seal: compressed.seal,
  };
}

/** The header list of a gRPC call. */
export function grpcHeaders(endpoint: Endpoint, path: string, userAgent: string): Header[] {
  const headers: Header[] = [
    [":method", "POST"],
    [":scheme", endpoint.tls === undefined ? "http" : "https"],
    [":path", `${endpoint.pathPrefix}${path}`],
    [":authority", endpoint.authority],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
    ["grpc-accept-encoding", ACCEPTED_ENCODINGS],
    ["user-agent", userAgent],
  ];
  if (endpoint.compression !== undefined) headers.push(["grpc-encoding", endpoint.compression]);
  for (const [name, value] of endpoint.headers) headers.push([name.toLowerCase(), value]);
  return headers;
}

/** An encoding with a stamp written in: each slot keeps one, so that bytes under way are never changed. */
export class StampScratch {
  private bytes = new Uint8Array(0);
  /** What `bytes` was copied from. */
  private source: Uint8Array | undefined;

  fill(message: GrpcMessage, stamp: Uint8Array): Uint8Array {
    if (this.source !== message.bytes) {
      this.source = message.bytes;
      if (this.bytes.length !== message.bytes.length) this.bytes = new Uint8Array(message.bytes.length);
      this.bytes.set(message.bytes);
    }
    this.bytes.set(stamp, message.stampOffset);
    message.seal?.write(this.bytes, stamp);
    return this.bytes;
  }
}
