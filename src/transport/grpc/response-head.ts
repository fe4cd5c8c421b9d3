import { type Failure, ProtocolError } from "../failure.ts";
import type { Header } from "../request.ts";

/** Fields of a gRPC response's headers or trailers that determine its result. */
export interface GrpcHead {
  /** `:status`; 0 in trailers. */
  readonly httpStatus: number;
  /** `grpc-status`; -1 when absent. */
  readonly grpcStatus: number;
  /** `grpc-message`, percent-decoded; empty when absent. */
  readonly grpcMessage: string;
  /** `grpc-encoding`; `identity` when absent. */
  readonly encoding: string;
}

/** Names of gRPC's status codes by number. */
const GRPC_STATUS_NAMES: readonly string[] = [
  "OK",
  "CANCELLED",
  "UNKNOWN",
  "INVALID_ARGUMENT",
  "DEADLINE_EXCEEDED",
  "NOT_FOUND",
  "ALREADY_EXISTS",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "FAILED_PRECONDITION",
  "ABORTED",
  "OUT_OF_RANGE",
  "UNIMPLEMENTED",
  "INTERNAL",
  "UNAVAILABLE",
  "DATA_LOSS",
  "UNAUTHENTICATED",
];

/** Messages in protobuf's binary format, the default. */
const GRPC_CONTENT_TYPE = /^application\/grpc(?:\+proto)?\s*(?:;|$)/i;

const known = new WeakMap<readonly Header[], GrpcHead>();

/** Reads a header list. A list object that is passed again is read only once. @throws ProtocolError */
export function readHead(headers: readonly Header[]): GrpcHead {
  let head = known.get(headers);
  if (head === undefined) {
    head = toHead(headers);
    known.set(headers, head);
  }
  return head;
}

/** Returns the failure that a complete response's last head reports; undefined for OK. */
export function toFailure(head: GrpcHead): Failure | undefined {
  if (head.grpcStatus === 0) return undefined;
  if (head.grpcStatus > 0) {
    const name = GRPC_STATUS_NAMES[head.grpcStatus] ?? String(head.grpcStatus);
    return { kind: "grpc", status: head.grpcStatus, message: head.grpcMessage === "" ? name : head.grpcMessage };
  }
  if (head.httpStatus !== 0 && head.httpStatus !== 200) return toHttpFailure(head);
  return { kind: "protocol", message: "response ended without grpc-status" };
}

/** Returns the failure of a response that is not one of gRPC, often a proxy's page; undefined if messages may follow. */
export function toEarlyFailure(head: GrpcHead): Failure | undefined {
  return head.httpStatus >= 300 && head.grpcStatus < 0 ? toHttpFailure(head) : undefined;
}

function toHttpFailure({ httpStatus: status }: GrpcHead): Failure {
  return { kind: "http", status, message: `HTTP status ${status} instead of a gRPC response` };
}

function toHead(headers: readonly Header[]): GrpcHead {
  const find = (name: string): string | undefined => {
    for (const header of headers) if (header[0] === name) return header[1];
    return undefined;
  };
  const httpStatus = readNumber(find(":status"), 0, ":status");
  const contentType = find("content-type");
  // Other HTTP statuses are failures anyway, often from a proxy.
  if (httpStatus === 200 && contentType !== undefined && !GRPC_CONTENT_TYPE.test(contentType))
    throw new ProtocolError(`the response's content type is ${JSON.stringify(contentType)}, not application/grpc`);
  return {
    httpStatus,
    grpcStatus: readNumber(find("grpc-status"), -1, "grpc-status"),
    grpcMessage: decodePercent(find("grpc-message") ?? ""),
    encoding: find("grpc-encoding") ?? "identity",
  };
}

function readNumber(text: string | undefined, absent: number, name: string): number {
  if (text === undefined) return absent;
  if (text.length > 4 || !isDigits(text)) throw new ProtocolError(`bad ${name} ${JSON.stringify(text)}`);
  return Number(text);
}

function isDigits(text: string): boolean {
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code < 0x30 || code > 0x39) return false;
  }
  return text !== "";
}

/** Decodes gRPC's percent-encoded status message. A bad escape stays unchanged. */
function decodePercent(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
