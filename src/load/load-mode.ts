import type { DataOrder, Dataset } from "../inputs/dataset.ts";
import type { PhasePlan } from "../plan/load-options.ts";
import type { LevelsPlan, LoadPlan, SearchPlan } from "../plan/load-plan.ts";
import type { MeasurementModePlan } from "../plan/plan.ts";
import type { Problem } from "../plan/problem.ts";
import type { Schema } from "../plan/schema.ts";
import type { Drive } from "./drive.ts";
import type { LevelUnitName } from "./level-units.ts";

/** The levels of a load and how to search them. */
export interface LevelSearch {
  readonly unit: LevelUnitName;
  readonly levels: LevelsPlan;
  readonly search: SearchPlan;
  /** Largest concurrency, where some phases have one and others a schedule. Absent: the levels have one unit. */
  readonly maxConcurrency?: number;
}

/** A load mode: everything that the rest of the program asks about it, instead of testing its kind. `P` is its part of the plan. */
export interface LoadMode<P extends LoadPlan> {
  /** Returns the schema of the mode's part of a plan. */
  schema(): Schema<P>;
  /** Prepares a load. @param measured how its levels are measured. Absent: for a time @throws UserError when a file of the plan cannot be read */
  prepare(plan: P, measured?: MeasurementModePlan): PreparedMode;
  readonly unit: LevelUnitName;
  /** Returns the unit when it depends on the plan. Absent: `unit`. */
  unitOf?(plan: P): LevelUnitName;
  /** Returns the phases of the load. Absent: it has none. */
  phases?(plan: P): readonly PhasePlan[];
  /** Whether every request takes the next step of the data, whatever its lane. Default: each lane goes through the data. */
  readonly sharesSteps?: true;
  /** Returns the levels of the plan. Absent: the mode has a single level, which `prepare` returns. */
  levels?(plan: P): Pick<LevelSearch, "levels" | "search">;
  /** Describes the load for the head of a report: `concurrency 1, 2, 4`. @param areUsers whether its levels are called users. Default: as `areUsers` says */
  describe(plan: P, areUsers?: boolean): string;
  /** Describes a level when its value and its unit are not enough. */
  describeLevel?(plan: P, level: number): string | undefined;
  /** Returns how the load changes within a level. Absent or undefined: it does not. */
  ramp?(plan: P): LevelRamp | undefined;
  /**
   * Returns the mean load asked for over the first `overNs` of a level, in the unit of its value; undefined when there is no such number, as
   * with conversations that pause, or due times from the data. Absent: the value of the level.
   */
  askedMean?(plan: P, level: number, overNs: number): number | undefined;
  /** Whether a level is a number of users who pause between requests. Absent: it is one of requests. */
  areUsers?(plan: P): boolean;
  /** Returns the time that a level needs to become steady, in milliseconds, which is not measured. Absent: that of a few responses. */
  leadMs?(plan: P): number;
  /** Returns the gaps between requests. Absent: determined by the data, a file, or responses. */
  arrivals?(plan: P): ArrivalsText;
  /** Returns the maximum number of outstanding requests, above which due requests wait. Absent or undefined: no limit. */
  maxOutstanding?(plan: P): number | undefined;
  /**
   * Returns the number of requests if the load itself fixes it, which excludes warm-up requests; null: one per step of the data. Absent or
   * undefined: the measurement decides.
   */
  requestCount?(plan: P): number | null | undefined;
  /** The order in which steps of the data are sent. Default: `in-turn`. */
  readonly dataOrder?: DataOrder;
  /** The problem to report for inputs without that order. */
  readonly lacksOrder?: Problem;
  /** Returns the part of the data that the load sends. @throws UserError when it is too little. Absent: all of it. */
  takeData?(plan: P, data: Dataset): Dataset | Promise<Dataset>;
  /** Whether each outstanding request has its own lane, also with asynchronous requests. Default: these share lanes. */
  readonly hasOwnLanes?: true;
  /** Returns the rules of MLPerf that decide whether the measurement is valid. Absent: there are none. */
  mlperf?(plan: P): MlperfRules;
  /** Exceptions in perf_analyzer's reports. */
  readonly perfAnalyzer?: PerfAnalyzerLoad;
}

/** The rules of a scenario of MLPerf Inference. */
export interface MlperfRules {
  readonly scenario: "single-stream" | "multi-stream" | "server" | "offline";
  /** Requests sent together, whose slowest one decides their latency; 1 except for `multi-stream`. */
  readonly samplesPerQuery: number;
  /** The percentile of latency that is the result or is limited, above 0 and below 100; null for `offline`. */
  readonly percentile: number | null;
  /** The limit of that percentile, from the time when a request was due; null except for `server` without limits on tokens. */
  readonly latencyLimitMs: number | null;
  /** Limits of that percentile of streamed tokens, instead of latency. Absent: there are none. */
  readonly tokenLimits?: { readonly timeToFirstTokenMs: number; readonly timePerOutputTokenMs: number };
}

/** How a load changes within a level. */
export interface LevelRamp {
  readonly overMs: number;
  /** Whether the change lasts the whole level instead of leading to it. */
  readonly isWhole?: true;
}

/** The gaps between scheduled requests. */
export interface ArrivalsText {
  /** perf_analyzer's name of the distribution. */
  readonly distribution: string;
  /** Standard deviation of the gaps over their mean: 0 for constant gaps, 1 for Poisson arrivals. */
  readonly gapDeviationRatio: number;
}

/** Exceptions of a load in perf_analyzer's reports. */
export interface PerfAnalyzerLoad {
  /** Whether no line announces the level. */
  readonly isUnannounced?: true;
  /** Whether the level is rounded down to a whole number. */
  readonly hasWholeLevel?: true;
  /** Whether results are only in the profile export, as one window without bounds. */
  readonly isExportOnly?: true;
  /** The level in the profile export; absent: the level itself. */
  readonly exported?: { readonly unit: LevelUnitName; readonly value: number };
}

/** What a mode makes of its plan. */
export interface PreparedMode extends Omit<PreparedLoad, "search">, Pick<LevelSearch, "maxConcurrency"> {
  /** Its single level. Default: 1, which is not used by a mode with `levels`. */
  readonly level?: number;
}

/** A load with its parameters. */
export interface PreparedLoad {
  readonly search: LevelSearch;
  /**
   * Returns how to send requests at a level.
   * @param timestampsMs due times of the data's steps, for loads that follow the data; ignored by others
   * @param draw number of measurements before this one in the run: random arrivals differ from one to the next. Default: 0
   */
  drive(level: number, timestampsMs: readonly number[], draw?: number): Drive;
  /** The phases, which are run instead of the levels of `search`; these describe them all. Absent: the load is a phase without a name. */
  readonly phases?: readonly PreparedPhase[];
}

/** A load that is to be run, as phases one after the other. */
export type PhasedLoad = Required<PreparedLoad>;

/** A phase of a load. */
export interface PreparedPhase {
  readonly plan: PhasePlan;
  /** Name in reports. Absent: this is the whole load. */
  readonly label?: string;
  readonly load: PreparedLoad;
}
