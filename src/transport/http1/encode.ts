import type { Endpoint, WireRequest } from "../request.ts";
import type { StampedBytes } from "../stamp-scratch.ts";
import { USER_AGENT } from "../user-agent.ts";

/** The bytes of an HTTP/1.1 request and the place of its stamp. */
export type Http1Message = StampedBytes;

const encoder = new TextEncoder();

/** Encodes a request once, head and body together, so that sending takes one write. */
export function encodeHttp1(request: WireRequest, endpoint: Endpoint): Http1Message {
  const head = encoder.encode(formatHead(request, endpoint));
  const bytes = new Uint8Array(head.length + request.payload.length);
  bytes.set(head);
  bytes.set(request.payload, head.length);
  return { bytes, stampOffset: request.stampPlace === undefined ? -1 : head.length + request.stampPlace.offset };
}

function formatHead(request: WireRequest, endpoint: Endpoint): string {
  let head = `${request.method} ${endpoint.pathPrefix}${request.path} HTTP/1.1\r\nHost: ${endpoint.authority}\r\nUser-Agent: ${USER_AGENT}\r\nAccept: */*\r\n`;
  for (const header of request.headers) head += `${header[0]}: ${header[1]}\r\n`;
  for (const header of endpoint.headers) head += `${header[0]}: ${header[1]}\r\n`;
  if (request.method === "POST") head += `Content-Length: ${request.payload.length}\r\n`;
  return `${head}\r\n`;
}

/** Returns the head of an encoded request as text, for traces. */
export function headOf(message: Uint8Array): string {
  const text = new TextDecoder("latin1").decode(message);
  return text.slice(0, text.indexOf("\r\n\r\n") + 4);
}
