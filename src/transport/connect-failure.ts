import { isOutOfFiles } from "../runtime/files.ts";
import { readLimit } from "../runtime/machine.ts";
import type { Failure } from "./failure.ts";

const REFUSED = "Connection refused";
const UNKNOWN_HOST = "Unknown host";
const NO_SOURCE = "No free port or address of this host to connect from";
const MESSAGES: Readonly<Record<string, string>> = {
  EADDRINUSE: NO_SOURCE,
  EADDRNOTAVAIL: NO_SOURCE,
  ECONNREFUSED: REFUSED,
  ENOTFOUND: UNKNOWN_HOST,
  EAI_AGAIN: UNKNOWN_HOST,
  EHOSTUNREACH: "No route to host",
  ENETUNREACH: "Network is unreachable",
  ETIMEDOUT: "Connection timed out",
  UND_ERR_CONNECT_TIMEOUT: "Connection timed out",
  UND_ERR_HEADERS_TIMEOUT: "No response in time",
  ECONNRESET: "Connection reset by peer",
};

/** Returns the failure of a request for which no connection could be opened. */
export function connectFailure(error: Error | undefined): Failure {
  const message = describeConnectError(error);
  if (isFileLimitReached(error, message)) return { kind: "limit", message: describeFileLimit(), isHostExhausted: true };
  return { kind: isTlsError(error) ? "tls" : "connect", message };
}

/** Describes why connecting failed, in the same words on every runtime. */
export function describeConnectError(error: Error | undefined): string {
  if (error === undefined) return "Connection closed before it was established";
  const wrongName = describeWrongName(error.message);
  if (wrongName !== undefined) return wrongName;
  const code = codeOf(error);
  const known = MESSAGES[code];
  if (known !== undefined) return known;
  const inner = (error as { errors?: Error[] }).errors?.[0];
  if (inner !== undefined) return describeConnectError(inner);
  if (/refused/i.test(error.message)) return REFUSED;
  if (/assign requested address/i.test(error.message)) return NO_SOURCE;
  if (/ENOTFOUND|getaddrinfo|failed to lookup|name or service not known|DNS/i.test(error.message)) return UNKNOWN_HOST;
  const [, last] = GRPC_JS_WRAPPER.exec(error.message) ?? [];
  if (last !== undefined) return describeConnectError(new Error(last));
  return error.message === "" ? code || error.name : error.message;
}

/** Wrapper that `@grpc/grpc-js` puts around the reason: a time, and a mostly empty note. */
const GRPC_JS_WRAPPER =
  /^No connection established\. Last error: (?:Error: )?(.+?)(?: \(\d{4}-[\w:.-]+\))?\.? Resolution note: /;

/** Whether the error is about certificates or the TLS handshake, on any of the three runtimes. */
export function isTlsError(error: Error | undefined): boolean {
  if (error === undefined) return false;
  return (
    /^(ERR_SSL|ERR_TLS|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH)/.test(codeOf(error)) ||
    /certificate|handshake|SSL|TLS|UnknownIssuer|self.signed/i.test(error.message)
  );
}

function codeOf(error: Error): string {
  return (error as { code?: string }).code ?? "";
}

/**
 * Whether connecting failed because the process has no free file descriptor. Bun reports that as a refused connection, and every runtime's
 * DNS lookup reports it as an unknown host, so the limit itself is tested.
 */
function isFileLimitReached(error: Error | undefined, message: string): boolean {
  if (error === undefined) return false;
  if (/^(?:EMFILE|ENFILE)$/.test(codeOf(error)) || /\b(?:EMFILE|ENFILE)\b/.test(error.message)) return true;
  return (message === REFUSED || message === UNKNOWN_HOST) && isOutOfFiles();
}

function describeFileLimit(): string {
  const { limit = Number.POSITIVE_INFINITY } = readLimit("Max open files") ?? {};
  const most = Number.isFinite(limit) ? `: this process may have ${limit} open` : "";
  return `this host, not the server, ran out of file descriptors${most}. Raise the limit (ulimit -n), or lower the load`;
}

/** The message of `node:tls` when a certificate does not contain the host's name. */
const WRONG_NAME =
  /does not match certificate's altnames: (?:Host|IP): (\S+?)\.? is not (?:in the cert's (?:altnames|list)|cert's CN): ?([^\n"]*)/;

function describeWrongName(message: string): string | undefined {
  const [, wanted, names] = WRONG_NAME.exec(message) ?? [];
  if (wanted === undefined || names === undefined) return undefined;
  const list = names
    .split(/,\s*/)
    .map((name) => name.replace(/^(?:DNS|IP Address):/, "").trim())
    .filter((name) => name !== "");
  const holder = list.length === 0 ? "names no such address" : `is for ${list.join(", ")}`;
  return `the server's certificate ${holder}, not for ${wanted}`;
}

/** Describes how a connection ended. @param when for example `before any byte of the response` */
export function describeClose(error: Error | undefined, when: string): string {
  return error === undefined ? `server closed the connection ${when}` : `${describeConnectError(error)} ${when}`;
}
