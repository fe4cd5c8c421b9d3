import type { DataOrder, Dataset } from "../inputs/dataset.ts";
import type { LevelsPlan, LoadPlan, SearchPlan } from "../plan/load-plan.ts";
import type { Problem } from "../plan/problem.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import type { Arrivals } from "./arrivals.ts";
import type { LevelUnitName } from "./level-units.ts";

/** What a load mode is to the rest of the program, which asks its entry and never tests its kind. One file per mode. */

/** How requests are sent at one level. */
export type Drive =
  /** A fixed number of outstanding requests. */
  | { readonly kind: "closed"; readonly concurrency: number }
  /** A changing number of outstanding requests: `concurrencyAt(elapsedNs)`, with the maximum `maxConcurrency`. */
  | { readonly kind: "ramp"; readonly maxConcurrency: number; readonly concurrencyAt: (elapsedNs: number) => number }
  /** Requests at due times. Requests wait while `maxOutstanding` requests are outstanding. */
  | { readonly kind: "scheduled"; readonly arrivals: Arrivals; readonly maxOutstanding?: number }
  /**
   * `start` requests, then groups of `step` up to a total of `end`. Each group starts when every request before it has `periodResponses`
   * responses.
   */
  | {
      readonly kind: "periodic";
      readonly start: number;
      readonly end: number;
      readonly step: number;
      readonly periodResponses: number;
    }
  /** A fixed number of concurrent sessions, each with one outstanding request or waiting for its next turn. */
  | { readonly kind: "sessions"; readonly concurrency: number };

/** The levels of a load and how to search them. */
export interface LevelSearch {
  readonly unit: LevelUnitName;
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
}

/** A load mode. `P` is its part of the plan. */
export interface LoadMode<P extends LoadPlan> {
  /** Returns the schema of the mode's part of a plan. */
  schema(v: Builders): Schema<P>;
  /** Prepares a load. @throws UserError when a file of the plan cannot be read */
  prepare(plan: P): PreparedLoad;
  readonly unit: LevelUnitName;
  /** The levels the plan asks for. Absent: the mode has a single level of its own. */
  levels?(plan: P): { readonly levels: LevelsPlan; readonly search: SearchPlan };
  /** The load in words, for the head of a report: `concurrency 1, 2, 4`. */
  describe(plan: P): string;
  /** One level in words, where its value and its unit do not say enough. */
  describeLevel?(plan: P, level: number): string | undefined;
  /** How the load changes within a level. Absent or undefined: it does not. */
  ramp?(plan: P): LevelRamp | undefined;
  /** How requests follow one another. Absent: at times that the data or a file gives, or after their answers. */
  arrivals?(plan: P): ArrivalsText;
  /** Most requests outstanding, where requests that are due wait for others to end. Absent or undefined: no limit. */
  maxOutstanding?(plan: P): number | undefined;
  /**
   * The number of requests that the load itself fixes, so that a warm-up has none to take; null: one for each step of the data. Absent:
   * the measurement decides.
   */
  requestCount?(plan: P): number | null;
  /** Which steps of the data are sent when. Default: `in-turn`. */
  readonly dataOrder?: DataOrder;
  /** What to tell a user whose inputs have no such order. */
  readonly lacksOrder?: Problem;
  /** The data that the load sends of all there is. Throws `UserError` when it is too little. Absent: all of it. */
  takeData?(plan: P, data: Dataset): Dataset | Promise<Dataset>;
  /** Every request outstanding has a lane of its own, asynchronous ones too. Default: asynchronous ones share lanes. */
  readonly hasOwnLanes?: true;
  /** How perf_analyzer's reports treat it, where that is not as usual. */
  readonly perfAnalyzer?: PerfAnalyzerLoad;
}

/** How a load changes within a level. */
export interface LevelRamp {
  readonly overMs: number;
  /** The change lasts the whole level: it is not a way to reach it. */
  readonly isWhole?: true;
}

/** How scheduled requests follow one another. */
export interface ArrivalsText {
  /** The distribution as perf_analyzer names it. */
  readonly distribution: string;
  /** Deviation of a gap between two requests over its mean: 0 where gaps are constant, 1 for Poisson arrivals. */
  readonly gapDeviationRatio: number;
}

/** How perf_analyzer's reports treat a load. */
export interface PerfAnalyzerLoad {
  /** No line announces the level. */
  readonly isUnannounced?: true;
  /** The text says nothing of its results, which are in the profile export alone, as one window without bounds. */
  readonly isExportOnly?: true;
  /** The level in the profile export, where it is not the level itself. */
  readonly exported?: { readonly mode: "concurrency" | "request_rate"; readonly value: number };
}

/** A load with its parameters. */
export interface PreparedLoad {
  readonly search: LevelSearch;
  /**
   * Returns how to send requests at a level.
   * @param timestampsMs due times of the data's steps, for loads that follow the data; ignored by others
   */
  drive(level: number, timestampsMs: readonly number[]): Drive;
}
