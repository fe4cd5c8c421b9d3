import { joinBytes } from "../../runtime/bytes.ts";
import type { Endpoint, Header, MessageCompression, WireRequest } from "../request.ts";
import type { StampedBytes } from "../stamp-scratch.ts";
import { USER_AGENT } from "../user-agent.ts";
import { expectsOneResponse } from "./call-type.ts";
import { ACCEPTED_ENCODINGS, compressMessage } from "./compression.ts";
import { frameMessage, MESSAGE_PREFIX_BYTES } from "./messages.ts";

/** The messages of a request with their prefixes, and the place of the stamp. */
export interface GrpcMessage extends StampedBytes {
  /** Number of digits of the id at the start of the stamp. */
  readonly idDigits: number;
  /** Messages that are sent only after responses to the messages before them. */
  readonly later: readonly Uint8Array[];
  /** Whether exactly one response is valid. */
  readonly expectsOne: boolean;
  /** Headers of this request, in addition to the client's. */
  readonly headers: readonly Header[];
}

/**
 * Frames the messages of a request. Each message is compressed if that makes it shorter. Messages that are sent together are one block
 * of bytes.
 */
export function encodeGrpcMessage(request: WireRequest, compression: MessageCompression | undefined): GrpcMessage {
  const { messages, pacing, headers } = request;
  const expectsOne = expectsOneResponse(request);
  if (messages === undefined) return { ...encodePayload(request, compression), later: NONE, expectsOne, headers };
  const framed = messages.map((message) => encodePayload({ payload: message }, compression).bytes);
  const isPaced = pacing === "after-response" && framed.length > 1;
  const bytes = isPaced ? (framed[0] as Uint8Array) : joinBytes(framed);
  return { bytes, stampOffset: -1, idDigits: 0, later: isPaced ? framed.slice(1) : NONE, expectsOne, headers };
}

const NONE: readonly Uint8Array[] = [];

function encodePayload(
  { payload, stampPlace }: Pick<WireRequest, "payload" | "stampPlace">,
  compression: MessageCompression | undefined,
): StampedBytes & { readonly idDigits: number } {
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
export function grpcHeaders(endpoint: Endpoint, path: string): Header[] {
  const headers: Header[] = [
    [":method", "POST"],
    [":scheme", endpoint.tls === undefined ? "http" : "https"],
    [":path", `${endpoint.pathPrefix}${path}`],
    [":authority", endpoint.authority],
    ["te", "trailers"],
    ["content-type", "application/grpc"],
    ["grpc-accept-encoding", ACCEPTED_ENCODINGS],
    ["user-agent", USER_AGENT],
  ];
  if (endpoint.compression !== undefined) headers.push(["grpc-encoding", endpoint.compression]);
  for (const [name, value] of endpoint.headers) headers.push([name.toLowerCase(), value]);
  return headers;
}
