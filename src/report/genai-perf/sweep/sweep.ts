import type { GenAiPerfResult } from "../result.ts";

/** The points of a sweep and the answers of its searches, for reports and plots. */

/** One point: a value for each varied parameter, in their order: `[["concurrency", 4], ["input_sequence_length", 128]]`. */
export type PointParameters = readonly (readonly [name: string, value: number])[];

/** One measured point. */
export interface SweepPoint {
  /** GenAI-Perf's name: `tiny_run_config_0`. */
  readonly name: string;
  readonly parameters: PointParameters;
  readonly result: GenAiPerfResult;
  /** Folder of the point's own files. */
  readonly folder: string;
  /** Number of earlier measurements of the point in a search; absent for the first measurement. */
  readonly repeat?: number;
}

/** A point with the values of its row in GenAI-Perf's table. */
export interface SweepRow extends SweepPoint {
  /** Concurrency, or requests per second. */
  readonly load: number;
  readonly datasetEntries: number;
}

/** A point without results. */
export interface FailedPoint {
  readonly parameters: PointParameters;
  readonly reason: string;
}

/** By point name, the search limits that a point breaks, in words; empty if it meets all. */
export type BrokenLimits = ReadonlyMap<string, readonly string[]>;

/** Result of one search. */
export interface SearchSummary {
  /** The load parameter that was searched. */
  readonly parameter: string;
  /** The other parameters, which are constant in this search. */
  readonly fixed: PointParameters;
  /** Highest load tried that meets all limits; null if none does. */
  readonly highest: number | null;
  /** Lowest load tried above it that breaks a limit; null if the highest load of the sweep meets them. */
  readonly lowestBroken: number | null;
  /** Whether `lowestBroken` may be caused by the client instead of the server. */
  readonly isClientLimited: boolean;
  /** Measurements of each of the two loads, by outcome; null if there is no such load. */
  readonly highestVotes: SearchVotes | null;
  readonly lowestBrokenVotes: SearchVotes | null;
}

/** Number of measurements of a load that met all limits, and of those that did not. */
export interface SearchVotes {
  readonly kept: number;
  readonly broken: number;
}

/** A sweep as far as it was measured. */
export interface SweepSummary<Point extends SweepPoint = SweepRow> {
  /** In the order of their measurement. */
  readonly points: readonly Point[];
  readonly failed: readonly FailedPoint[];
  /** Undefined without a search. */
  readonly search: { readonly limits: readonly string[]; readonly answers: readonly SearchSummary[] } | undefined;
  readonly brokenLimits: BrokenLimits;
}

/** Formats a point: `concurrency 4, input_sequence_length 128`. */
export function formatPoint(parameters: PointParameters): string {
  return parameters.map(([name, value]) => `${name} ${value}`).join(", ");
}
