/** A model that another one calls. */
export interface ComposingModel {
  readonly name: string;
  /** The version called; empty: the server chooses. */
  readonly version: string;
  readonly composing: readonly ComposingModel[];
}

/** A server's counters: inferred items; executions, each of a whole batch; and the count and duration of each event. */
export const COUNTERS = [
  ...(["inferenceCount", "executionCount", "successCount", "successNs", "failCount", "queueCount", "queueNs"] as const),
  ...(["computeInputCount", "computeInputNs", "computeInferCount", "computeInferNs"] as const),
  ...([
    "computeOutputCount",
    "computeOutputNs",
    "cacheHitCount",
    "cacheHitNs",
    "cacheMissCount",
    "cacheMissNs",
  ] as const),
] as const;

/** A server's counters of one model version since it started. Durations are cumulative nanoseconds. */
export interface ServerCounters extends Readonly<Record<(typeof COUNTERS)[number], number>> {
  readonly name: string;
  readonly version: string;
}
