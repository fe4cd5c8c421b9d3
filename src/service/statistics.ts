/** A model that another one calls. */
export interface ComposingModel {
  readonly name: string;
  /** The version called; empty: the server chooses. */
  readonly version: string;
  readonly composing: readonly ComposingModel[];
}

/** A server's counters of one model version since it started. Durations are cumulative nanoseconds. */
export interface ServerCounters {
  readonly name: string;
  readonly version: string;
  /** Number of inferred items. */
  readonly inferenceCount: number;
  /** Number of executions, each of a whole batch. */
  readonly executionCount: number;
  readonly successCount: number;
  readonly successNs: number;
  readonly failCount: number;
  readonly queueCount: number;
  readonly queueNs: number;
  readonly computeInputCount: number;
  readonly computeInputNs: number;
  readonly computeInferCount: number;
  readonly computeInferNs: number;
  readonly computeOutputCount: number;
  readonly computeOutputNs: number;
  readonly cacheHitCount: number;
  readonly cacheHitNs: number;
  readonly cacheMissCount: number;
  readonly cacheMissNs: number;
}
