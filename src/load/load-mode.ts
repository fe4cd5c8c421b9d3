import type { LevelsPlan, LoadPlan, SearchPlan } from "../plan/load-plan.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import type { Arrivals } from "./arrivals.ts";

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
  readonly unit: "concurrency" | "request-rate";
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
}

/** A load mode. `P` is its part of the plan. */
export interface LoadMode<P extends LoadPlan> {
  /** Returns the schema of the mode's part of a plan. */
  schema(v: Builders): Schema<P>;
  /** Prepares a load. @throws UserError when a file of the plan cannot be read */
  prepare(plan: P): PreparedLoad;
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
