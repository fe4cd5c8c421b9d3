import type { GenAiPerfResult } from "../result.ts";

/** A sweep's points: what `analyze` measured, for its reports and plots. */

/** One measured point. */
export interface SweepPoint {
  /** As GenAI-Perf calls it: `tiny_run_config_0`. */
  readonly name: string;
  /** What was varied, in the sweep's order: `[["concurrency", 4], ["input_sequence_length", 128]]`. */
  readonly parameters: readonly (readonly [name: string, value: number])[];
  readonly result: GenAiPerfResult;
  /** Where the point's own files are. */
  readonly folder: string;
  /** How often a search had measured the point before; absent for its first measurement. */
  readonly repeat?: number;
}
