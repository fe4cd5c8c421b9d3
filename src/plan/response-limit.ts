/** Default limit of a response's size: 256 MiB. */
export const DEFAULT_MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

/** Largest limit: the maximum message length of gRPC's libraries. */
export const MOST_RESPONSE_BYTES = 2 ** 31 - 1;

/** Returns a plan's limit of a response's size in bytes. @param client the plan's client */
export function maxResponseBytesOf(client: { readonly maxResponseBytes?: number | undefined }): number {
  return client.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES;
}
