import type { Tags } from "../plan/groups/tags.ts";
import { showValue } from "../plan/show-value.ts";
import { formatDurationNs } from "../plan/units.ts";

/**
 * Reason why a request failed or was cancelled. A failed request is data on its record, never an exception.
 *
 * - `connect`: no connection could be opened (refused, unknown host, no route)
 * - `tls`: the TLS handshake or the certificate check failed
 * - `closed`: the connection closed before the response was complete
 * - `stalled`: no byte arrived within the stall timeout
 * - `timeout`: no complete response arrived within the request timeout
 * - `protocol`: the received bytes are not valid HTTP or gRPC
 * - `limit`: a limit of this client was reached: response size, or open files
 * - `http`: an HTTP status of 400 or more
 * - `grpc`: a gRPC status other than OK
 * - `model`: the response reports that the inference failed
 * - `unreadable`: the server reported success, but the response is not valid for the service
 * - `validation`: the output differs from the expected one
 * - `check`: the scenario's function `check` reported that the response is wrong
 * - `cancelled`: cancelled by this client some time after sending, as the plan requests
 * - `unfinished`: cancelled by this client, because no complete response had arrived when the measurement's grace period ended or the user
 * ended the run
 * - `aborted`: still in flight when the run was stopped
 */
export type FailureKind = (typeof FAILURE_KINDS)[number];

/** All kinds, in the order reports list them. */
export const FAILURE_KINDS = [
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
  "check",
  "cancelled",
  "unfinished",
  "aborted",
] as const;

/** One failure. */
export interface Failure {
  readonly kind: FailureKind;
  /** The message of the server or the runtime. */
  readonly message: string;
  /** HTTP status or gRPC status code, for the kinds that have one. */
  readonly status?: number | undefined;
  /** Name of the server, when there are several. */
  readonly server?: string | undefined;
  /** The server's response, unchanged, when the service keeps it. */
  readonly response?: string | undefined;
  /** The beginning of a wrong response as text, for reports. Only of kind `check`. */
  readonly excerpt?: string;
  /** The tags of its request, if it has any. Only of kind `unfinished`. */
  readonly tags?: Tags;
  /** The end mark that its stream lacks, where other streams had it. */
  readonly cutMark?: string;
  /**
   * True if this host has no free file descriptor, or no memory for responses: later requests will fail too, whatever the
   * server does.
   */
  readonly isHostExhausted?: true;
  /** True if the host lacks memory. Default: it lacks file descriptors. */
  readonly isMemory?: true;
  /** True if the server has ended for good: no later request can reach it. */
  readonly isServerGone?: true;
}

/** The failure of a request that is in flight when the run ends. */
export const ABORTED: Failure = { kind: "aborted", message: "still in flight when the run ended" };

/** The parts of a response's head that explain its status; each is empty without its header. */
export interface StatusHead {
  readonly status: number;
  /** Target of a redirect (3xx). */
  readonly location: string;
  /** Value of `Retry-After` of a response with the status 429 or 503: seconds, or a date. */
  readonly retryAfter: string;
}

/** Whether a response with this status may say when to try again. */
export function mayRetryLater(status: number): boolean {
  return status === 429 || status === 503;
}

/** Returns the failure for an HTTP status of 300 or more. */
export function statusFailure({ status, location, retryAfter }: StatusHead): Failure {
  const what = status < 400 ? "unexpected HTTP status" : "HTTP status";
  const where = location === "" ? "" : `, redirected to ${location}`;
  const when = retryAfter === "" ? "" : `, Retry-After ${retryAfter}`;
  return { kind: "http", status, message: `${what} ${status}${where}${when}` };
}

/** Returns the failure's message, with the server's name when there are several. */
export function describeFailure({ message, server }: Failure): string {
  return server === undefined ? message : `${server}: ${message}`;
}

/** Whether this client cancelled the request, which is not a failure of the server. */
export function isCancelled({ kind }: Pick<Failure, "kind">): boolean {
  return kind === "cancelled" || kind === "unfinished";
}

/** Whether the connection itself failed, so that the next request is likely to fail too. */
export function isConnectionFailure({ kind }: Failure): boolean {
  return kind === "connect" || kind === "tls" || kind === "closed" || kind === "protocol" || kind === "limit";
}

/** Maximum bytes kept of the body of an error response. */
export const MAX_ERROR_BODY_BYTES = 64 * 1024; // 64 KiB

/** The received bytes violate the protocol; the message describes how. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

/** A response is larger than this client may keep in memory. */
export class ResponseTooLargeError extends Error {
  override readonly name = "ResponseTooLargeError";

  /** @param maxBytes the limit that was reached */
  constructor(maxBytes: number) {
    super(`the response is longer than the ${maxBytes.toLocaleString("en-US")} bytes allowed for one response`);
  }
}

/**
 * Maximum number of bytes of incomplete responses that are kept, of all requests of a thread together: 1 GiB. A single response
 * may be larger.
 */
export const MOST_RESPONSES_BYTES = 1024 * 1024 * 1024;

/** The incomplete responses together are larger than this client may keep in memory. */
export class ResponsesTooLargeError extends Error {
  override readonly name = "ResponsesTooLargeError";

  /** @param maxBytes the limit that was reached @param bytes of the response that is refused, as far as they are known */
  constructor(maxBytes: number, bytes: number) {
    const limit = `the ${maxBytes.toLocaleString("en-US")} bytes allowed for all of a thread`;
    const refused = `a response of ${bytes.toLocaleString("en-US")} bytes or more is refused`;
    super(`${refused}: those that are kept have together more than ${limit}`);
  }
}

/** An event of a stream is larger than this client may keep in memory. */
export class EventTooLargeError extends Error {
  override readonly name = "EventTooLargeError";

  /** @param maxBytes the limit that was reached */
  constructor(maxBytes: number) {
    super(`an event of the stream has no end after ${maxBytes.toLocaleString("en-US")} bytes`);
  }
}

/**
 * Returns the failure of a request without a byte for the stall timeout.
 * @param strayId id of a response that arrived meanwhile and belongs to no request in flight. Default: there was none
 */
export function silentFor(stallTimeoutNs: number, strayId?: string): Failure {
  const time = formatDurationNs(stallTimeoutNs);
  if (strayId === undefined) return { kind: "stalled", message: `no byte received for ${time}` };
  const stray = `one came with the id ${showValue(strayId)}, which no request in flight has`;
  return { kind: "stalled", message: `no response with the request's id for ${time}; ${stray}` };
}

/** Returns the failure of a request whose response has more than `maxBytes`. */
export function tooLarge(maxBytes: number): Failure {
  return { kind: "limit", message: new ResponseTooLargeError(maxBytes).message };
}

/** Converts an error thrown while reading a response into a failure. Rethrows any other error, which is a defect of the reader. */
export function failureOfReading(error: unknown): Failure {
  if (error instanceof ProtocolError) return { kind: "protocol", message: error.message };
  if (error instanceof ResponseTooLargeError || error instanceof EventTooLargeError)
    return { kind: "limit", message: error.message };
  if (error instanceof ResponsesTooLargeError)
    return { kind: "limit", message: error.message, isHostExhausted: true, isMemory: true };
  throw error;
}
