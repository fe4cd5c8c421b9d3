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
  /** Largest concurrency, if some phases have a concurrency and others a schedule. Absent: all levels have the same unit. */
  readonly maxConcurrency?: number;
}

/**
 * A load mode: everything that the rest of the program asks about the mode, instead of testing its kind. `P` is its part of the
 * plan.
 */
export interface LoadMode<P extends LoadPlan> {
  /** Returns the schema of the mode's part of a plan. */
  schema(): Schema<P>;
  /**
   * Prepares a load. @param measured measurement mode of its levels. Absent: for a duration @throws UserError when a file of the plan
   * cannot be read
   */
  prepare(plan: P, measured?: MeasurementModePlan): PreparedMode;
  readonly unit: LevelUnitName;
  /** Returns the unit when it depends on the plan. Absent: `unit`. */
  unitOf?(plan: P): LevelUnitName;
  /** Returns the phases of the load. Absent: no phases. */
  phases?(plan: P): readonly PhasePlan[];
  /** Whether every request takes the next step of the data, whatever its lane. Default: each lane goes through the data. */
  readonly sharesSteps?: true;
  /** Returns the levels of the plan. Absent: the mode has a single level, which `prepare` returns. */
  levels?(plan: P): Pick<LevelSearch, "levels" | "search">;
  /**
   * Describes the load for the head of a report: `concurrency 1, 2, 4`. @param areUsers whether to call its levels users. Default: the
   * result of `areUsers`
   */
  describe(plan: P, areUsers?: boolean): string;
  /** Describes a level whose value and unit are not enough. */
  describeLevel?(plan: P, level: number): string | undefined;
  /** Returns how the load changes within a level. Absent or undefined: the load is constant. */
  ramp?(plan: P): LevelRamp | undefined;
  /**
   * Returns the mean requested load over the first `overNs` of a level, in the unit of its value; undefined when there is no such number,
   * as with conversations that pause, or due times from the data. Absent: the value of the level.
   */
  askedMean?(plan: P, level: number, overNs: number): number | undefined;
  /** Whether a level is a number of users who pause between requests. Absent: it is a number of requests. */
  areUsers?(plan: P): boolean;
  /** Returns the unmeasured time that a level needs to become steady, in milliseconds. Absent: the time of a few responses. */
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
  readonly lacksOrder?: Problem;
  /** Returns the part of the data that the load sends. @throws UserError when the data is not enough. Absent: all of it. */
  takeData?(plan: P, data: Dataset): Dataset | Promise<Dataset>;
  /**
   * Whether each outstanding request has its own lane, even if requests are asynchronous. Default: asynchronous
   * requests share lanes.
   */
  readonly hasOwnLanes?: true;
  /** Returns the rules of MLPerf that decide whether the measurement is valid. Absent: no rules. */
  mlperf?(plan: P): MlperfRules;
  /** Exceptions in perf_analyzer's reports. */
  readonly perfAnalyzer?: PerfAnalyzerLoad;
}

/** The rules of a scenario of MLPerf Inference. */
export interface MlperfRules {
  readonly scenario: "single-stream" | "multi-stream" | "server" | "offline";
  /** Number of requests sent together, whose slowest one decides their latency; 1 except for `multi-stream`. */
  readonly samplesPerQuery: number;
  /** Percentile of latency that is the result or has a limit, above 0 and below 100; null for `offline`. */
  readonly percentile: number | null;
  /** Limit of that percentile, from the time when a request was due; null except for `server` without limits on tokens. */
  readonly latencyLimitMs: number | null;
  /** Limits of that percentile of streamed tokens, instead of latency. Absent: no limits. */
  readonly tokenLimits?: { readonly timeToFirstTokenMs: number; readonly timePerOutputTokenMs: number };
}

/** Change of a load within a level. */
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

/** A mode's preparation of its plan. */
export interface PreparedMode extends Omit<PreparedLoad, "search">, Pick<LevelSearch, "maxConcurrency"> {
  /** The single level of the mode. Default: 1, which a mode with `levels` does not use. */
  readonly level?: number;
}

/** A load with its parameters. */
export interface PreparedLoad {
  readonly search: LevelSearch;
  /**
   * Returns the drive of a level.
   * @param timestampsMs due times of the data's steps, for loads that follow the data; ignored by others
   * @param draw number of earlier measurements in the run: random arrivals differ from one to the next. Default: 0
   */
  drive(level: number, timestampsMs: readonly number[], draw?: number): Drive;
  /**
   * The phases, which run instead of the levels of `search`; `search` describes all of them. Absent: the load is a single unnamed
   * phase.
   */
  readonly phases?: readonly PreparedPhase[];
}

/** A load that is ready to run, as consecutive phases. */
export type PhasedLoad = Required<PreparedLoad>;

/** A phase of a load. */
export interface PreparedPhase {
  readonly plan: PhasePlan;
  /** Name in reports. Absent: this is the whole load. */
  readonly label?: string;
  readonly load: PreparedLoad;
}
