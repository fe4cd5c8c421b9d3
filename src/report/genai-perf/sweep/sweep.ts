import type { GenAiPerfResult } from "../result.ts";

/** The points that `analyze` measured, for its reports and plots. */

/** One measured point. */
export interface SweepPoint {
  /** GenAI-Perf's name: `tiny_run_config_0`. */
  readonly name: string;
  /** The varied parameters, in the sweep's order: `[["concurrency", 4], ["input_sequence_length", 128]]`. */
  readonly parameters: readonly (readonly [name: string, value: number])[];
  readonly result: GenAiPerfResult;
  /** Folder of the point's own files. */
  readonly folder: string;
  /** Number of earlier measurements of the point in a search; absent for the first measurement. */
  readonly repeat?: number;
}
