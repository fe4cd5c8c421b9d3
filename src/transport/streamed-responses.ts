import type { Call } from "./client.ts";
import type { Failure } from "./failure.ts";

/** Requests on a stream, each of which may have any number of responses. */

/** What a service reads from one message of a stream. */
export interface StreamedResponse {
  /** The request's id, as it was sent; empty when the message does not say. */
  readonly id: string;
  readonly failure: Failure | undefined;
  /** No more responses follow for the request. */
  readonly isFinal: boolean;
  /** It has no content and only says that it is the last. */
  readonly isEmpty: boolean;
  /** Where the response's own message, without the stream's wrapping, begins in the bytes that were read, and where it ends. */
  readonly bodyStart: number;
  readonly bodyEnd: number;
}

/** Reads one message of a stream, `bytes[start, end)`. Throws `ProtocolError` when it cannot. */
export type ReadStreamed = (bytes: Uint8Array, start: number, end: number) => StreamedResponse;

/** Makes a call ready for a request whose responses are to be counted. */
export function expectResponses(call: Call): void {
  call.responseCount = 0;
  call.messageCount = 0;
  call.responseBytes = 0;
  call.lastMessageNs = 0;
  if (call.responses.length > 0) call.responses = [];
}

/** What is held of a response besides its bytes, roughly. */
const BYTES_PER_RESPONSE = 256;
const MIN_RESPONSES = 4096;

/** Whether the responses of one request are more, in bytes or however small in number, than the largest response may be. */
export function isTooLarge({ messageCount, responseBytes }: Call, maxBytes: number): boolean {
  return responseBytes > maxBytes || (messageCount > MIN_RESPONSES && messageCount * BYTES_PER_RESPONSE > maxBytes);
}

/** Adds a response to its call; after the last one, or a failure, the call is over. @param kept its own message, where responses are kept */
export function addResponse(
  call: Call,
  response: StreamedResponse,
  readNs: number,
  kept: Uint8Array | undefined,
): void {
  const { failure, isEmpty, bodyStart, bodyEnd } = response;
  call.messageCount++;
  call.responseBytes += bodyEnd - bodyStart;
  call.lastMessageNs = readNs;
  if (call.messageCount === 1) call.firstByteNs = readNs;
  // The latency of a request is that of its last response with content.
  if (!isEmpty || call.responseCount === 0 || failure !== undefined) call.endNs = readNs;
  if (!isEmpty) call.responseCount++;
  call.failure = failure;
  if (kept === undefined) return;
  call.body = kept;
  call.responses.push({ readNs, body: kept, isEmpty });
}
