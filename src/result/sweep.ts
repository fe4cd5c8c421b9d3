import type { Votes } from "../load/search.ts";

/** The points of a sweep and the results of its searches. */

/** One point: a value for each varied parameter, in their order: `[["concurrency", 4], ["input_sequence_length", 128]]`. */
export type PointParameters = readonly (readonly [name: string, value: number])[];

/** A measured point. */
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

/** The search limits that each point breaks, in words, by point name; empty if it meets all. */
export type BrokenLimits = ReadonlyMap<string, readonly string[]>;

/** Result of one search. */
export interface SearchSummary {
  /** The load parameter that was searched. */
  readonly parameter: string;
  /** The other parameters, which are constant in this search. */
  readonly fixed: PointParameters;
  /** Highest load tried that meets all limits; null if none does. */
  readonly highest: number | null;
  /** Lowest load above `highest` that breaks a limit; null if the highest load of the sweep meets all. */
  readonly lowestBroken: number | null;
  /** Whether the client, instead of the server, may have caused `lowestBroken`. */
  readonly isClientLimited: boolean;
  /** Measurements of `highest` and `lowestBroken`, by outcome; null if there is no such load. */
  readonly highestVotes: Votes | null;
  readonly lowestBrokenVotes: Votes | null;
}

/** The measured part of a sweep. */
export interface SweepSummary<Point extends MeasuredPoint> {
  /** In order of measurement. */
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
