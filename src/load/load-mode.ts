import type { LevelsPlan, LoadPlan, SearchPlan } from "../plan/load-plan.ts";
import type { Builders, Schema } from "../plan/schema.ts";
import type { Arrivals } from "./arrivals.ts";

/** What a load mode is to the run: the levels it visits and how requests come about at each. One file per mode. */

/** How requests come about at one level. */
export type Drive =
  /** So many requests are always outstanding. */
  | { readonly kind: "closed"; readonly concurrency: number }
  /** The number outstanding changes with time: `concurrencyAt(elapsedNs)`, whose largest value is `maxConcurrency`. */
  | { readonly kind: "ramp"; readonly maxConcurrency: number; readonly concurrencyAt: (elapsedNs: number) => number }
  /** Requests are due at given times; while `maxOutstanding` of them are under way, the others wait. */
  | { readonly kind: "scheduled"; readonly arrivals: Arrivals; readonly maxOutstanding?: number }
  /** `start` requests, then groups of `step` up to `end` in all, each once all of the one before have brought `periodResponses`. */
  | {
      readonly kind: "periodic";
      readonly start: number;
      readonly end: number;
      readonly step: number;
      readonly periodResponses: number;
    }
  /** So many sessions of the data are under way, each with one request outstanding or waiting to ask its next turn. */
  | { readonly kind: "sessions"; readonly concurrency: number };

/** The levels of a mode: their unit, their values and the way through them. */
export interface LevelSearch {
  readonly unit: "concurrency" | "request-rate";
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
}

/** A load mode. `P` is its part of the plan. */
export interface LoadMode<P extends LoadPlan> {
  /** Describes the mode's part of a plan. */
  schema(v: Builders): Schema<P>;
  /** Makes the mode ready. Throws `UserError` when something the plan names cannot be read. */
  prepare(plan: P): PreparedLoad;
}

/** A load mode with its part of the plan filled in. */
export interface PreparedLoad {
  readonly search: LevelSearch;
  /**
   * How requests come about at a level.
   * @param timestampsMs when each step of the data is due, for loads that follow the data; otherwise it is not looked at
   */
  drive(level: number, timestampsMs: readonly number[]): Drive;
}
