/** Defaults of every front door, for settings that the user omits. */

/** Default measurement of a level: perf_analyzer's windows. */
export const DEFAULT_WINDOWS: {
  readonly windowMs: number;
  readonly stabilityPct: number;
  readonly maxTrials: number;
} = { windowMs: 5000, stabilityPct: 10, maxTrials: 10 };

/** A request that receives no byte for this time fails. */
export const DEFAULT_STALL_TIMEOUT_MS = 60_000;

/** Time that a run over a bus waits for the bus and its agents. */
export const DEFAULT_AGENTS_WAIT_MS = 10_000;

/** Lengths of prompts and responses of language models, in tokens. */
export const DEFAULT_ISL = 550;
export const DEFAULT_OSL = 128;

/** Default limit of a response's size: 256 MiB. */
export const DEFAULT_MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

/** Largest limit: the maximum message length of gRPC's libraries. */
export const MOST_RESPONSE_BYTES = 2 ** 31 - 1;

/** Returns a plan's limit of a response's size in bytes. @param client the plan's client */
export function maxResponseBytesOf(client: { readonly maxResponseBytes?: number | undefined }): number {
  return client.maxResponseBytes ?? DEFAULT_MAX_RESPONSE_BYTES;
}
