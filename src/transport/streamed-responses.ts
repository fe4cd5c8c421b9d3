import type { Call, ReceivedResponse } from "./call.ts";
import type { ClientOptions } from "./client.ts";
import { type Failure, failureOfReading, type ResponsesTooLargeError, ResponseTooLargeError } from "./failure.ts";
import { RESPONSES_BUDGET } from "./growing-bytes.ts";

/** One message of a stream, as decoded by a service. */
export interface StreamedResponse {
  /** The request's id; empty when the message has none. */
  id: string;
  failure: Failure | undefined;
  /** Whether this is the last response to the request. */
  isFinal: boolean;
  /** Whether it has no content and only marks the end. */
  isEmpty: boolean;
  /** Range of the response message itself in the received bytes, without the stream's wrapper. */
  bodyStart: number;
  bodyEnd: number;
}

/**
 * Reads one message of a stream, `bytes[start, end)`. The result is valid until the next message is read. @throws ProtocolError
 */
export type ReadStreamed = (bytes: Uint8Array, start: number, end: number) => StreamedResponse;

/** Resets a call for a request that may have several responses. */
export function expectResponses(call: Call): void {
  call.responseCount = 0;
  call.messageCount = 0;
  call.responseBytes = 0;
  call.lastMessageNs = 0;
  call.clearResponses();
}

/** Resets a call for a request with one response. */
export function expectOneResponse(call: Call): void {
  expectResponses(call);
  call.responseCount = 1;
  call.messageCount = 1;
}

/** Approximate memory per response besides its bytes. */
const BYTES_PER_RESPONSE = 256;
const MIN_RESPONSES = 4096;

/** Returns the error when the responses of one request exceed the maximum response size, by bytes or by number, or with others the budget. */
export function excessOf(
  { messageCount, responseBytes, heldBytes }: Call,
  maxBytes: number,
): ResponseTooLargeError | ResponsesTooLargeError | undefined {
  const isTooMany = messageCount > MIN_RESPONSES && messageCount * BYTES_PER_RESPONSE > maxBytes;
  if (responseBytes > maxBytes || isTooMany) return new ResponseTooLargeError(maxBytes);
  return heldBytes === 0 ? undefined : RESPONSES_BUDGET.excess(heldBytes);
}

/** Large enough for an image or a minute of sound in base64. */
const LARGE_EVENT_BYTES = 32 * 1024 * 1024; // 32 MiB
const EVENTS_IN_RESPONSE = 8;

/**
 * Returns the maximum bytes of one event of a stream: a part of the maximum of a response, because an event is kept until its end in a
 * buffer that is copied as it grows. @param maxBytes maximum of the whole response
 */
export function mostEventBytes(maxBytes: number): number {
  return Math.min(maxBytes, Math.max(LARGE_EVENT_BYTES, Math.floor(maxBytes / EVENTS_IN_RESPONSE)));
}

/** Counts a response of a call, and keeps it. @param kept the response's bytes, when responses are kept */
export function addMessage(call: Call, byteCount: number, readNs: number, kept: Uint8Array | undefined): void {
  call.messageCount++;
  call.responseCount++;
  call.responseBytes += byteCount;
  call.lastMessageNs = readNs;
  if (kept !== undefined) keepResponse(call, { readNs, body: kept, isEmpty: false });
}

/** Counts a response of a stream, and keeps it. @param kept the response message, when responses are kept */
export function addResponse(
  call: Call,
  response: Readonly<StreamedResponse>,
  readNs: number,
  kept: Uint8Array | undefined,
): void {
  const { failure, isEmpty, bodyStart, bodyEnd } = response;
  call.messageCount++;
  call.responseBytes += bodyEnd - bodyStart;
  call.lastMessageNs = readNs;
  if (call.messageCount === 1) call.firstByteNs = readNs;
  // A request's latency ends with its last response with content.
  if (!isEmpty || call.responseCount === 0 || failure !== undefined) call.endNs = readNs;
  if (!isEmpty) call.responseCount++;
  call.failure = failure;
  if (kept !== undefined) keepResponse(call, { readNs, body: kept, isEmpty });
}

function keepResponse(call: Call, response: ReceivedResponse): void {
  call.body = response.body;
  call.responses.push(response);
  call.hold(response.body.length + BYTES_PER_RESPONSE);
}

/** Whether a response is the last one of its request. */
export function isLastResponse({ isFinal, failure }: StreamedResponse): boolean {
  return isFinal || failure !== undefined;
}

/**
 * Reports a call to which a response was added. The last response ends the call.
 * @returns false when the responses exceed the maximum size; then the call has not ended
 */
export function concludeResponse(call: Call, isLast: boolean, options: ClientOptions): Failure | undefined {
  const excess = excessOf(call, options.maxResponseBytes);
  if (excess !== undefined) return failureOfReading(excess);
  if (isLast) {
    call.isActive = false;
    options.onDone(call);
  } else options.onResponse?.(call);
  return undefined;
}
