/** Why a request failed, or was given up. A failed request is data on its record, never an exception. */

/**
 * - `connect`: no connection could be made (refused, unknown host, no route)
 * - `tls`: the TLS handshake or the certificate check failed
 * - `closed`: the connection ended before the response was complete
 * - `stalled`: no byte arrived for the stall timeout
 * - `protocol`: the bytes received are not valid HTTP or gRPC
 * - `http`: an HTTP status of 400 or more
 * - `grpc`: a gRPC status other than OK
 * - `model`: the server answered, and the answer says that the inference failed
 * - `validation`: the output is not the expected one
 * - `cancelled`: given up by this client some time after it was sent, because the plan asks for that
 * - `unfinished`: given up by this client, as it had no answer when the measurement's grace period was over
 * - `aborted`: still in flight when the run was told to stop
 */
export type FailureKind =
  | "connect"
  | "tls"
  | "closed"
  | "stalled"
  | "protocol"
  | "http"
  | "grpc"
  | "model"
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
  "protocol",
  "http",
  "grpc",
  "model",
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
  return kind === "connect" || kind === "tls" || kind === "closed" || kind === "protocol";
}

/** Bytes that are not what the protocol allows; the message says what was wrong. */
export class ProtocolError extends Error {
  override readonly name = "ProtocolError";
}

const CONNECT_MESSAGES: Readonly<Record<string, string>> = {
  ECONNREFUSED: "Connection refused",
  ENOTFOUND: "Unknown host",
  EAI_AGAIN: "Unknown host",
  EHOSTUNREACH: "No route to host",
  ENETUNREACH: "Network is unreachable",
  ETIMEDOUT: "Connection timed out",
  ECONNRESET: "Connection reset by peer",
};

/** What connecting ran into, in plain words, whatever the runtime calls it. */
export function describeConnectError(error: Error | undefined): string {
  if (error === undefined) return "Connection closed before it was established";
  const code = (error as { code?: string }).code ?? "";
  const known = CONNECT_MESSAGES[code];
  if (known !== undefined) return known;
  const inner = (error as { errors?: Error[] }).errors?.[0];
  if (inner !== undefined) return describeConnectError(inner);
  if (/refused/i.test(error.message)) return "Connection refused";
  if (/ENOTFOUND|getaddrinfo|failed to lookup|name or service not known|DNS/i.test(error.message))
    return "Unknown host";
  return error.message === "" ? code || error.name : error.message;
}

/** True for errors of certificates and handshakes, as the three runtimes name them. */
export function isTlsError(error: Error | undefined): boolean {
  if (error === undefined) return false;
  const code = (error as { code?: string }).code ?? "";
  return (
    /^(ERR_SSL|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/.test(code) ||
    /certificate|handshake|SSL|TLS|UnknownIssuer|self.signed/i.test(error.message)
  );
}

/** The text of a protocol error; anything else thrown while parsing is a defect of the parser and goes on. */
export function messageOfProtocol(error: unknown): string {
  if (error instanceof ProtocolError) return error.message;
  throw error;
}
