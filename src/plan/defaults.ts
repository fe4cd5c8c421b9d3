/** Defaults of every front door, for settings that the user omits. */

/** Default measurement of a level: perf_analyzer's windows. */
export const DEFAULT_WINDOWS: {
  readonly windowMs: number;
  readonly stabilityPct: number;
  readonly maxTrials: number;
} = { windowMs: 5000, stabilityPct: 10, maxTrials: 10 };

/** A request that receives no byte for this time fails. */
export const DEFAULT_STALL_TIMEOUT_MS = 60_000;

/** Lengths of prompts and responses of language models, in tokens. */
export const DEFAULT_ISL = 550;
export const DEFAULT_OSL = 128;
