import type { Endpoint, Header, MessageCompression, WireRequest } from "../request.ts";
import type { StampedBytes } from "../stamp-scratch.ts";
import { ACCEPTED_ENCODINGS, compressMessage } from "./compression.ts";
import { frameMessage, MESSAGE_PREFIX_BYTES } from "./messages.ts";

/** A gRPC message with its prefix, and the place of its stamp. */
export interface GrpcMessage extends StampedBytes {
  /** Number of digits of the id at the start of the stamp. */
  readonly idDigits: number;
}

/** Frames a request, compressed if that makes it shorter. */
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

/** Returns the header list of a gRPC call. */
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
