import { status as grpcStatus, type Metadata } from "@grpc/grpc-js";
import { connectFailure } from "../connect-failure.ts";
import { type Failure, tooLarge } from "../failure.ts";
import type { Header } from "../request.ts";

/** Messages are bytes already, so serialization is the identity. */
export const sameBytes = (bytes: Buffer): Buffer => bytes;

/**
 * Converts a gRPC status into a failure. @param maxResponseBytes size limit, used to recognise grpc-js's status for a
 * larger response
 */
export function toFailure(code: number, details: string, maxResponseBytes: number): Failure {
  // A server reports its limit in the same words, with another number.
  const [, most] =
    /^Received message (?:larger than max \(\d+ vs|that decompresses to a size larger than) (\d+)/.exec(details) ?? [];
  if (code === grpcStatus.RESOURCE_EXHAUSTED && Number(most) === maxResponseBytes) return tooLarge(maxResponseBytes);
  if (
    code === grpcStatus.UNAVAILABLE &&
    /No connection established|ECONNREFUSED|ENOTFOUND|Name resolution/.test(details)
  ) {
    return connectFailure(new Error(details));
  }
  return { kind: "grpc", status: code, message: details === "" ? (grpcStatus[code] ?? String(code)) : details };
}

/** Adds headers to metadata. Binary values are base64, as on the wire. */
export function addHeaders(metadata: Metadata, headers: readonly Header[]): void {
  for (const [name, value] of headers)
    metadata.add(name, name.toLowerCase().endsWith("-bin") ? Buffer.from(value, "base64") : value);
}

/** Returns metadata as headers. Binary values are base64, as on the wire. */
export function toHeaders(metadata: Metadata): Header[] {
  return Object.keys(metadata.getMap()).flatMap((name) =>
    metadata.get(name).map((value): Header => [name, typeof value === "string" ? value : value.toString("base64")]),
  );
}
