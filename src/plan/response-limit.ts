import type { ClientPlan } from "./plan.ts";

/** Bytes that one response may have where a user does not say: 256 MiB. */
export const DEFAULT_MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

/** The largest limit that can be set: what the 32-bit lengths of gRPC's own libraries hold. */
export const MOST_RESPONSE_BYTES = 2 ** 31 - 1;

/** The limit that a plan sets, in bytes. */
export function maxResponseBytesOf({ maxResponseBytes = DEFAULT_MAX_RESPONSE_BYTES }: ClientPlan): number {
  return maxResponseBytes;
}
