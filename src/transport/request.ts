/** Requests as they are handed from a service to a transport: encoded once per distinct input, sent many times. */

/** A header's name and value. */
export type Header = readonly [name: string, value: string];

/** Where in the payload a request's stamp goes: what differs from one sending to the next, as its id and its place in a sequence. */
export interface StampPlace {
  /** Byte offset in `payload`. */
  readonly offset: number;
  /** Bytes of the stamp; one of another length needs another encoding. */
  readonly length: number;
  /** The stamp begins with so many decimal digits of the id. */
  readonly idDigits: number;
}

/** How gRPC messages are compressed. */
export type MessageCompression = "gzip" | "deflate";

/** An encoded request: an HTTP body or a gRPC message, and where it goes. */
export interface WireRequest {
  /** HTTP: the path and query. gRPC: `/package.Service/Method`. */
  readonly path: string;
  /** HTTP only; gRPC always POSTs. */
  readonly method: "GET" | "POST";
  /** Headers of this request besides the client's own; lower-case names for gRPC. */
  readonly headers: readonly Header[];
  readonly payload: Uint8Array;
  /** Absent when the same bytes are sent every time. */
  readonly stampPlace?: StampPlace | undefined;
  /** It is sent once: nothing that is made of it is worth keeping. */
  readonly isOnce?: true;
}

/** Where a client connects to and what it says there with every request. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** What stands in `Host` and `:authority`: host and port as the user wrote them. */
  readonly authority: string;
  /** Put before each path, from URLs such as `http://proxy/triton`; empty or starting with `/`. */
  readonly pathPrefix: string;
  readonly tls?: import("../runtime/socket.ts").TlsSettings | undefined;
  /** Headers (HTTP) or metadata (gRPC) of every request. */
  readonly headers: readonly Header[];
  /** gRPC only: how requests are compressed; default: not at all. */
  readonly compression?: MessageCompression | undefined;
}
