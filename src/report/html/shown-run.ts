import type { Plan } from "../../plan/plan.ts";
import type { LevelResult, RunResult } from "../../result/run-result.ts";
import type { LevelJson, ReportJson } from "../schema/report-schema.ts";
import type { RunFollower } from "./run-follower.ts";

/** A run as the page shows it. */
export interface ShownRun {
  /** `run 2`; empty for the only one. */
  readonly name: string;
  readonly result: RunResult;
  readonly levels: readonly ShownLevel[];
  readonly follower: RunFollower;
  /** Start of the run, on the clock of the follower. */
  readonly startNs: number;
}

/** A level with its part of the JSON report, which has all numbers that the page shows in tables. */
export interface ShownLevel {
  readonly name: string;
  readonly json: LevelJson;
  readonly result: LevelResult;
}

/** What a page is made from. */
export interface ShownReport {
  readonly plan: Plan;
  readonly json: ReportJson;
  /** One or more. */
  readonly runs: readonly ShownRun[];
  /** The unit of throughput: `infer/s`. */
  readonly unit: string;
}

/** Returns the name of a series: the run, where there are several, and what it shows. */
export function seriesName(run: ShownRun, what: string): string {
  return run.name === "" ? what : `${run.name}, ${what}`;
}

/** Returns the levels of all runs, each with its name. */
export function levelRows({ runs }: ShownReport): (ShownLevel & { readonly run: ShownRun })[] {
  return runs.flatMap((run) => run.levels.map((level) => ({ ...level, name: seriesName(run, level.name), run })));
}

/** A unit of time for the axis of a chart. */
export interface TimeUnit {
  readonly name: string;
  readonly us: number;
}

const TIME_UNITS: readonly TimeUnit[] = [
  { name: "s", us: 1e6 },
  { name: "ms", us: 1e3 },
  { name: "us", us: 1 },
];

/** Returns the unit for latencies up to this one. */
export function timeUnitFor(mostUs: number): TimeUnit {
  return TIME_UNITS.find(({ us }) => mostUs >= 2 * us) ?? { name: "us", us: 1 };
}
