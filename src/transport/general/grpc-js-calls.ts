import { status as grpcStatus } from "@grpc/grpc-js";
import { connectFailure } from "../connect-failure.ts";
import { type Failure, tooLarge } from "../failure.ts";

/** What unary calls and streams through @grpc/grpc-js have in common. */

/** Messages are bytes already: nothing is left to serialize. */
export const sameBytes = (bytes: Buffer): Buffer => bytes;

/** What a status of gRPC says of a request. @param maxResponseBytes grpc-js reports a longer response as a status of its own */
export function toFailure(code: number, details: string, maxResponseBytes: number): Failure {
  // A server says the same of requests, with another number.
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
