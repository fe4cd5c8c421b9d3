import type { OpenSocket } from "../runtime/socket.ts";
import type { TlsSettings } from "../runtime/tls.ts";
import type { SourceTurns } from "./source-addresses.ts";

/** A header's name and value. */
export type Header = readonly [name: string, value: string];

/** The place in the payload of a request's stamp: the bytes that differ between sends, such as the id and the sequence flags. */
export interface StampPlace {
  /** Byte offset in `payload`. */
  readonly offset: number;
  /** Length of the stamp in bytes. */
  readonly length: number;
  /** Number of decimal digits of the id at the start of the stamp. */
  readonly idDigits: number;
}

/** Matches a header's name. */
export const HEADER_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/** Matches a header's value: a line break could inject a header. */
export const HEADER_VALUE = /^[^\r\n\0]*$/;

/** Matches a path with its query, as in a request. */
export const REQUEST_PATH = /^\/[!-"$-~]*$/;

/** The rule of {@link REQUEST_PATH}, in words. */
export const REQUEST_PATH_RULE =
  "must begin with a slash and have no space, no # and no letters beyond ASCII: encode them with %";

/** Matches the name of a gRPC method: `package.Service/Method`. A service without a package is allowed. */
export const METHOD_NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*\/[A-Za-z_]\w*$/;

/** The methods of HTTP requests that a client sends. */
export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
/** A method of HTTP requests. */
export type HttpMethod = (typeof HTTP_METHODS)[number];

export type MessageCompression = "gzip" | "deflate";

/** Number of messages in a gRPC call: one or any number, from the client and from the server. */
export type GrpcCallType = "unary" | "client-stream" | "server-stream" | "bidi-stream";

/**
 * Time at which the messages of a call are sent. The last one also ends the sending side.
 *
 * - `at-once`: all of them at the start, within the server's flow control
 * - `after-response`: each message, except the first, after one response per message sent so far has arrived
 */
export type MessagePacing = "at-once" | "after-response";

/** A request, encoded once per distinct input and sent many times: an HTTP body or a gRPC message with its destination. */
export interface WireRequest {
  /** HTTP: the path and query. gRPC: `/package.Service/Method`. */
  readonly path: string;
  /** HTTP only; gRPC always POSTs. */
  readonly method: HttpMethod;
  /** Headers of this request, in addition to the client's; lower-case names for gRPC. */
  readonly headers: readonly Header[];
  readonly payload: Uint8Array;
  /** Absent when every send has the same bytes. */
  readonly stampPlace?: StampPlace | undefined;
  /**
   * Only for `grpc-call`: the messages of the call in order, possibly none; `payload` is then empty and there is no stamp. Default: `payload`
   * is the only message.
   */
  readonly messages?: readonly Uint8Array[] | undefined;
  /** Only for `grpc-call`. Decides how many responses are valid. Default: `unary`; with `messages`, `bidi-stream`. */
  readonly callType?: GrpcCallType | undefined;
  /** Only for `grpc-call` with `messages`. Default: `at-once`. */
  readonly pacing?: MessagePacing | undefined;
  /** True if the request is sent once, so that its encoding need not be cached. */
  readonly isOnce?: true;
  /** Index of the member of a mix that it is sent to. Default: 0. */
  readonly member?: number;
}

/** Returns a request's payload with its stamp, as it is sent. */
export function stampedPayload({ payload, stampPlace }: WireRequest, stamp: Uint8Array | undefined): Uint8Array {
  if (stamp === undefined || stampPlace === undefined) return payload;
  const stamped = payload.slice();
  stamped.set(stamp, stampPlace.offset);
  return stamped;
}

/** A server, and common parts of all requests to it. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** Value of `Host` and `:authority`: host and port as the user wrote them. */
  readonly authority: string;
  /** Prefix of each path, from URLs such as `http://proxy/triton`; empty or starting with `/`. */
  readonly pathPrefix: string;
  readonly tls?: TlsSettings | undefined;
  /** Source addresses of the connections. Absent: the system's choice. */
  readonly sources?: SourceTurns | undefined;
  /** Opens connections without a network. Absent: the runtime opens them to host and port. */
  readonly open?: OpenSocket | undefined;
  /** Headers (HTTP) or metadata (gRPC) of every request. */
  readonly headers: readonly Header[];
  /** HTTP only: the statuses of successful responses. Default: 200 to 299. */
  readonly successStatuses?: readonly number[] | undefined;
  /**
   * HTTP only: whether responses may be encoded, because nothing reads them. Default: false; an encoded response is a
   * failure.
   */
  readonly acceptsEncodings?: boolean | undefined;
  /** gRPC only: compression of requests. Default: none. */
  readonly compression?: MessageCompression | undefined;
}

/** Whether a request states the length of its body: if it has one, and for methods whose requests usually have one. */
export function hasContentLength({ method, payload }: Pick<WireRequest, "method" | "payload">): boolean {
  return payload.length > 0 || method === "POST" || method === "PUT" || method === "PATCH";
}

/**
 * Returns the default headers of HTTP requests, without those that the request or its endpoint sets: each name is sent once, as by curl.
 */
export function defaultHeaders(
  request: Pick<WireRequest, "headers">,
  endpoint: Pick<Endpoint, "headers">,
  defaults: readonly Header[],
): readonly Header[] {
  const isGiven = (headers: readonly Header[], name: string): boolean =>
    headers.some(([given]) => given.toLowerCase() === name.toLowerCase());
  return defaults.filter(([name]) => !isGiven(request.headers, name) && !isGiven(endpoint.headers, name));
}

/** Rules for a successful response of an endpoint. */
export type ResponseRules = Pick<Endpoint, "successStatuses" | "acceptsEncodings">;

/** Whether a response's status is a success. */
export function isSuccessStatus(status: number, { successStatuses }: ResponseRules): boolean {
  return successStatuses === undefined ? status < 300 : successStatuses.includes(status);
}
