/** Why a request failed, or was given up. A failed request is data on its record, never an exception. */

/**
 * - `connect`: no connection could be made (refused, unknown host, no route)
 * - `tls`: the TLS handshake or the certificate check failed
 * - `closed`: the connection ended before the response was complete
 * - `stalled`: no byte arrived for the stall timeout
 * - `timeout`: no complete answer came within the request timeout
 * - `protocol`: the bytes received are not valid HTTP or gRPC
 * - `limit`: a limit of this client was reached: the largest response, or the open files of its host
 * - `http`: an HTTP status of 400 or more
 * - `grpc`: a gRPC status other than OK
 * - `model`: the server answered, and the answer says that the inference failed
 * - `unreadable`: the server answered with success, but with something that is no answer of the service
 * - `validation`: the output is not the expected one
 * - `cancelled`: given up by this client some time after it was sent, because the plan asks for that
 * - `unfinished`: cancelled by this client, because it had no complete answer when the measurement's grace period was over or the user
 *   ended the run
 * - `aborted`: still in flight when the run was told to stop
 */
export type FailureKind =
  | "connect"
  | "tls"
  | "closed"
  | "stalled"
  | "timeout"
  | "protocol"
  | "limit"
  | "http"
  | "grpc"
  | "model"
  | "unreadable"
  | "validation"
  | "cancelled"
  | "unfinished"
  | "aborted";

/** All kinds, in the order reports list them. */
export const FAILURE_KINDS: readonly FailureKind[] = [
  "connect",
  "tls",
  "closed",
  "stalled",
  "timeout",
  "protocol",
  "limit",
  "http",
  "grpc",
  "model",
  "unreadable",
  "validation",
  "cancelled",
  "unfinished",
  "aborted",
];

/** One failure. */
export interface Failure {
  readonly kind: FailureKind;
  /** The server's or the runtime's own words. */
  readonly message: string;
  /** HTTP status or gRPC status code, for the kinds that have one. */
  readonly status?: number | undefined;
  /** The server it was sent to, where there are several. */
  readonly server?: string | undefined;
  /** What the server answered, as it stood there; only where the service keeps it. */
  readonly answer?: string | undefined;
}

/** The failure of a request that was answered with a status of 300 or more. @param location where a redirect leads; empty without one */
export function statusFailure(status: number, location: string): Failure {
  const what = status < 400 ? "unexpected HTTP status" : "HTTP status";
  const where = location === "" ? "" : `, redirected to ${location}`;
  return { kind: "http", status, message: `${what} ${status}${where}` };
}

/** A failure in words, with its server's name where there are several. */
export function describeFailure({ message, server }: Failure): string {
  return server === undefined ? message : `${server}: ${message}`;
}

/** True when this client gave the request up, whatever the server would have made of it: that is no failure of the server. */
export function isGivenUp({ kind }: Pick<Failure, "kind">): boolean {
  return kind === "cancelled" || kind === "unfinished";
}

/** True when the connection itself failed: the next request on it or on a new one is likely to fail too. */
export function isConnectionFailure({ kind }: Failure): boolean {
  return kind === "connect" || kind === "tls" || kind === "closed" || kind === "protocol" || kind === "limit";
}

/** Most bytes that are kept of an error's body. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024; // 64 KiB are enough to explain it

/** Bytes that are not what the protocol allows; the message says what was wrong. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** The server sends more for one request than this client is to hold in memory. */
export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";

  /** @param maxBytes the limit that was reached */
  constructor(maxBytes: number) {
    super(`the response is longer than the ${maxBytes.toLocaleString("en-US")} bytes allowed for one response`);
  }
}

/** The failure of a request whose response has more than `maxBytes`. */
export function tooLarge(maxBytes: number): Failure {
  return { kind: "limit", message: new ResponseTooLargeError(maxBytes).message };
}

/** What an error thrown while a response is read means for its request. Any other error is a defect of the reader and is thrown again. */
export function failureOfReading(error: unknown): Failure {
  if (error instanceof ProtocolError) return { kind: "protocol", message: error.message };
  if (error instanceof ResponseTooLargeError) return { kind: "limit", message: error.message };
  throw error;
}
