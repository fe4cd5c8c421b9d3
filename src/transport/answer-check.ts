import type { Failure } from "./failure.ts";

/** What a client knows of an answer besides its content. */
export interface AnswerHead {
  /** Length of its leading JSON part; 0 when it did not say. */
  readonly jsonBytes: number;
  /** Whether its content type is JSON. */
  readonly isJson: boolean;
}

/** Why an answer is not valid. */
export interface AnswerFault {
  /** Without the server's own words; one sentence without a full stop. */
  readonly reason: string;
  /** The beginning of what is wrong; empty where there is nothing to show. A copy. */
  readonly bytes: Uint8Array;
}

/**
 * Decides whether what a server answered with success is an answer of its service kind. A slot has one, for one answer after the other. It
 * is asked while the bytes lie in the read buffer, so nothing is copied for it; what it needs longer it copies itself.
 */
export interface AnswerCheck {
  /** An answer that lies whole in `bytes[start, end)`. Undefined when it is one. */
  whole(bytes: Uint8Array, start: number, end: number, head: AnswerHead): AnswerFault | undefined;
  /** An answer begins that comes in pieces or as events. */
  begin(head: AnswerHead): void;
  piece(bytes: Uint8Array, start: number, end: number): void;
  /** An event of a stream, whole, with the empty line at its end. */
  event(bytes: Uint8Array): void;
  /** The answer that `begin` began is complete. Undefined when it is one. */
  end(): AnswerFault | undefined;
}

/** Where checks for slots come from. */
export type CreateAnswerCheck = () => AnswerCheck;

/** Bytes of a faulty answer that are kept to explain it. */
const SHOWN_BYTES = 16 * 1024; // 16 KiB, more than any message shows

/** The fault of an answer whose bytes are to be shown. */
export function faultOf(reason: string, bytes: Uint8Array, start = 0, end = bytes.length): AnswerFault {
  return { reason, bytes: bytes.slice(start, Math.min(end, start + SHOWN_BYTES)) };
}

/** The failure of a request whose answer is not valid; the service adds the server's words. */
export function unreadable(reason: string): Failure {
  return { kind: "unreadable", message: reason };
}

/** Why an answer in a content encoding, such as `gzip`, is not valid. */
export function explainEncoding(encoding: string): string {
  return `the answer is encoded (Content-Encoding: ${encoding}), which Rampart does not ask for and does not read`;
}
