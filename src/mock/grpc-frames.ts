import type { ServerHttp2Stream } from "node:http2";
import { gunzipSync, inflateSync } from "node:zlib";
import { messageOf } from "../plan/problem.ts";

/** gRPC over the runtime's HTTP/2 server, so that Rampart's client is not tested against itself. */

/** Status codes that the mock uses. */
export const STATUS = {
  ok: 0,
  invalidArgument: 3,
  notFound: 5,
  failedPrecondition: 9,
  unimplemented: 12,
  internal: 13,
} as const;

const PREFIX_BYTES = 5;
/** Characters that must be percent-encoded in a status message: everything but printable ASCII, and the percent sign. */
const UNPRINTABLE = /[^ -$&-~]+/g;
const CONTENT = { ":status": 200, "content-type": "application/grpc" };

/** A call that ends with a status other than OK. */
export class StatusError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A call whose stream is cut off: the client gets no status. */
export class CutError extends Error {}

/** Sends the headers of a response. @param status returns the trailers; called when the stream ends */
export function openResponse(stream: ServerHttp2Stream, status: () => Record<string, string>): void {
  stream.respond(CONTENT, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers(status()));
}

/** Ends a call without a response. */
export function refuseCall(stream: ServerHttp2Stream, code: number, message: string): void {
  if (!stream.destroyed) stream.respond({ ...CONTENT, ...toTrailers(code, message) }, { endStream: true });
}

/** Returns the trailers of a status. */
export function toTrailers(code: number, message = ""): Record<string, string> {
  const status = { "grpc-status": String(code) };
  return message === "" ? status : { ...status, "grpc-message": message.replace(UNPRINTABLE, encodeURIComponent) };
}

/** Returns a message with its length prefix. */
export function frame(message: Uint8Array): Buffer {
  const framed = Buffer.alloc(PREFIX_BYTES + message.length);
  framed.writeUInt32BE(message.length, 1);
  framed.set(message, PREFIX_BYTES);
  return framed;
}

/** Calls back with each decompressed message of a call as soon as it has arrived. A message that cannot be read is passed as an error. */
export function onMessages(
  stream: ServerHttp2Stream,
  encoding: string,
  onMessage: (read: () => Uint8Array) => void,
): void {
  let buffer = Buffer.alloc(0);
  stream.on("data", (piece: Buffer) => {
    buffer = Buffer.concat([buffer, piece]);
    while (buffer.length >= PREFIX_BYTES) {
      const size = buffer.readUInt32BE(1);
      if (buffer.length < PREFIX_BYTES + size) return;
      const framed = buffer.subarray(0, PREFIX_BYTES + size);
      buffer = buffer.subarray(PREFIX_BYTES + size);
      onMessage(() => unframe(framed, encoding));
    }
  });
}

/** Returns the message of a frame, decompressed if necessary. @throws StatusError */
function unframe(framed: Buffer, encoding: string): Uint8Array {
  const message = framed.subarray(PREFIX_BYTES);
  if (framed[0] !== 1) return new Uint8Array(message);
  const decompress = { gzip: gunzipSync, deflate: inflateSync }[encoding];
  if (decompress === undefined) throw new StatusError(STATUS.unimplemented, `unknown grpc-encoding ${encoding}`);
  try {
    return new Uint8Array(decompress(message));
  } catch (error) {
    throw new StatusError(STATUS.internal, `bad ${encoding} data: ${messageOf(error)}`);
  }
}
