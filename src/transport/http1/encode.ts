import { defaultHeaders, type Endpoint, type Header, hasContentLength, type WireRequest } from "../request.ts";
import type { StampedBytes } from "../stamp-scratch.ts";
import { USER_AGENT } from "../user-agent.ts";

/** The bytes of an HTTP/1.1 request and the place of its stamp. */
export interface Http1Message extends StampedBytes {
  /** Whether the response has no body, whatever its head says. */
  readonly isHead: boolean;
}

const encoder = new TextEncoder();

/** Encodes a request once, head and body together, so that a single write sends it. */
export function encodeHttp1(request: WireRequest, endpoint: Endpoint): Http1Message {
  const head = encoder.encode(formatHead(request, endpoint));
  const bytes = new Uint8Array(head.length + request.payload.length);
  bytes.set(head);
  bytes.set(request.payload, head.length);
  const stampOffset = request.stampPlace === undefined ? -1 : head.length + request.stampPlace.offset;
  return { bytes, stampOffset, isHead: request.method === "HEAD" };
}

function formatHead(request: WireRequest, endpoint: Endpoint): string {
  const defaults: readonly Header[] = [
    ["Host", endpoint.authority],
    ["User-Agent", USER_AGENT],
    ["Accept", "*/*"],
  ];
  let head = `${request.method} ${endpoint.pathPrefix}${request.path} HTTP/1.1\r\n`;
  for (const header of defaultHeaders(request, endpoint, defaults)) head += `${header[0]}: ${header[1]}\r\n`;
  for (const header of request.headers) head += `${header[0]}: ${header[1]}\r\n`;
  for (const header of endpoint.headers) head += `${header[0]}: ${header[1]}\r\n`;
  if (hasContentLength(request)) head += `Content-Length: ${request.payload.length}\r\n`;
  return `${head}\r\n`;
}

/** Returns the head of an encoded request as text, for traces. */
export function headOf(message: Uint8Array): string {
  const text = new TextDecoder("latin1").decode(message);
  return text.slice(0, text.indexOf("\r\n\r\n") + 4);
}
