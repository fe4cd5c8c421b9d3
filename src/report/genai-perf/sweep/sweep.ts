import type { MeasuredPoint } from "../../../result/sweep.ts";
import type { GenAiPerfResult } from "../result.ts";

/** A point of a sweep, for plots and reports. Its name is GenAI-Perf's: `tiny_run_config_0`. */
export interface SweepPoint extends MeasuredPoint {
  readonly result: GenAiPerfResult;
  /** Folder of the point's own files. */
  readonly folder: string;
}

/** A point with the values of its row in GenAI-Perf's table. */
export interface SweepRow extends SweepPoint {
  /** Concurrency, or requests per second. */
  readonly load: number;
  readonly datasetEntries: number;
}
