import type { Failure } from "./failure.ts";

/** Facts about a response that a check needs, besides its content. */
export interface ResponseHead {
  /** Length in bytes of the leading JSON part; 0 if the response does not give it. */
  readonly jsonBytes: number;
  /** Whether its content type is JSON. */
  readonly isJson: boolean;
}

/** Reason why a response is not valid. */
export interface ResponseFault {
  /** One sentence without a full stop. It does not quote the server. */
  readonly reason: string;
  /** A copy of the beginning of the faulty bytes; empty if there is nothing to show. */
  readonly bytes: Uint8Array;
}

/**
 * Checks that a successful response is a valid response of its service kind. Each slot has one check and uses it for one response after
 * another. Calls pass views of the read buffer, so a check must copy what it needs after the call.
 */
export interface ResponseCheck {
  /** Checks a response that is complete in `bytes[start, end)`. Returns undefined when it is valid. */
  whole(bytes: Uint8Array, start: number, end: number, head: ResponseHead): ResponseFault | undefined;
  /** Starts a response that arrives in pieces or as events. Drops what is kept of one that did not end. */
  begin(head: ResponseHead): void;
  piece(bytes: Uint8Array, start: number, end: number): void;
  /** A complete server-sent event, including the empty line at its end. */
  event(bytes: Uint8Array, start: number, end: number): void;
  /** Ends the response that `begin` started. Returns undefined when it is valid. */
  end(): ResponseFault | undefined;
}

/** Accepts every response. */
export const ANY_RESPONSE: ResponseCheck = {
  whole: () => undefined,
  begin: () => {},
  piece: () => {},
  event: () => {},
  end: () => undefined,
};

/** Creates the check of one slot. */
export type CreateResponseCheck = () => ResponseCheck;

/** Number of bytes of a faulty response that are kept to explain it. No message shows more. */
const SHOWN_BYTES = 16 * 1024; // 16 KiB

/** Returns a fault that shows the first bytes of `bytes[start, end)`. */
export function faultOf(reason: string, bytes: Uint8Array, start = 0, end = bytes.length): ResponseFault {
  return { reason, bytes: bytes.slice(start, Math.min(end, start + SHOWN_BYTES)) };
}

/** Returns the failure of a request whose response is not valid. */
export function unreadable(reason: string): Failure {
  return { kind: "unreadable", message: reason };
}

/** Describes a response with a content encoding such as `gzip`, which is not supported. */
export function explainEncoding(encoding: string): string {
  return `the response is encoded (Content-Encoding: ${encoding}), which Rampart does not ask for and does not read`;
}
