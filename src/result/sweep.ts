import type { Votes } from "../load/search.ts";

/** The points of a sweep and the results of its searches. */

/** One point: a value for each varied parameter, in their order: `[["concurrency", 4], ["input_sequence_length", 128]]`. */
export type PointParameters = readonly (readonly [name: string, value: number])[];

/** One measured point. */
export interface MeasuredPoint {
  readonly name: string;
  readonly parameters: PointParameters;
  /** Number of earlier measurements of the point in a search; absent for the first measurement. */
  readonly repeat?: number;
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
  readonly highestVotes: Votes | null;
  readonly lowestBrokenVotes: Votes | null;
}

/** A sweep as far as it was measured. */
export interface SweepSummary<Point extends MeasuredPoint> {
  /** In the order of their measurement. */
  readonly points: readonly Point[];
  readonly failed: readonly FailedPoint[];
  /** Undefined without a search. */
  readonly search: { readonly limits: readonly string[]; readonly answers: readonly SearchSummary[] } | undefined;
  readonly brokenLimits: BrokenLimits;
}

/** Formats a point: `concurrency 4, input_sequence_length 128`. */
export function formatPoint(parameters: readonly (readonly [name: string, value: number | string])[]): string {
  return parameters.map(([name, value]) => `${name} ${value}`).join(", ");
}
