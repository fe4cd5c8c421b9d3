import type { Endpoint, Header, WireRequest } from "../request.ts";
import { frameMessage, MESSAGE_PREFIX_BYTES } from "./messages.ts";

/** A gRPC message with its prefix, and where its stamp goes. */
export interface GrpcMessage {
  readonly bytes: Uint8Array;
  /** Offset of the stamp in `bytes`; -1 when it has none. */
  readonly stampOffset: number;
  /** How many digits of the id the stamp begins with. */
  readonly idDigits: number;
}

export function encodeGrpcMessage(request: WireRequest): GrpcMessage {
  return {
    bytes: frameMessage(request.payload),
    stampOffset: request.stampPlace === undefined ? -1 : MESSAGE_PREFIX_BYTES + request.stampPlace.offset,
    idDigits: request.stampPlace?.idDigits ?? 0,
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
    ["user-agent", userAgent],
  ];
  for (const [name, value] of endpoint.headers) headers.push([name.toLowerCase(), value]);
  return headers;
}

/** An encoding with a stamp written in: each slot keeps one, so that bytes under way are never changed. */
export class StampScratch {
  private bytes = new Uint8Array(0);

  fill(message: GrpcMessage, stamp: Uint8Array): Uint8Array {
    if (this.bytes.length !== message.bytes.length) this.bytes = new Uint8Array(message.bytes.length);
    this.bytes.set(message.bytes);
    this.bytes.set(stamp, message.stampOffset);
    return this.bytes;
  }
}
