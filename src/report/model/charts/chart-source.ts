import type { GpuMetric } from "../../../measure/gpu-tally.ts";
import type { Plan } from "../../../plan/plan.ts";
import { nsToUs, usToNs } from "../../../plan/units.ts";
import { throughputUnitOf } from "../../../registry/service-kinds.ts";
import { type LevelJson, type ReportJson, type RunJson, runsOf } from "../../schema/report-schema.ts";
import { nameLevel } from "../report-view.ts";
import { timeUnitOf } from "../values.ts";

/** What charts of a report are made of: its JSON, and what was seen of its runs over time. */
export interface ChartSource {
  readonly plan: Plan;
  readonly json: ReportJson;
  /** The unit of throughput: `infer/s`. */
  readonly unit: string;
  readonly runs: readonly ChartRun[];
}

/** A run in charts. */
export interface ChartRun {
  /** `run 2`; empty for the only one. */
  readonly name: string;
  readonly json: RunJson;
  readonly levels: readonly NamedLevel[];
  /** Absent if it was not followed. */
  readonly times?: RunTimes | undefined;
}

/** A level with its name in charts. */
export interface NamedLevel {
  readonly name: string;
  readonly json: LevelJson;
}

/** A run over time, as plain data. Times are seconds since its start. */
export interface RunTimes {
  readonly columns: readonly TimeColumn[];
  readonly windows: readonly TimeWindow[];
  readonly spans: readonly TimeSpan[];
  readonly gpus: readonly GpuReadings[];
}

/** An interval of the run. */
export interface TimeColumn {
  readonly startSec: number;
  readonly endSec: number;
  /** Successful requests that ended in it. */
  readonly requests: number;
  readonly failed: number;
  readonly inFlightMean: number;
  /** Counts of the latencies of the successful requests: bins that have any, ascending. See {@link binStartUs}. */
  readonly latencyBins: readonly (readonly [bin: number, count: number])[];
}

/** A measuring window. */
export interface TimeWindow {
  /** From 1, in its level. */
  readonly trial: number;
  readonly startSec: number;
  readonly endSec: number;
  readonly inferPerSec: number;
  /** The latency that stability is based on. */
  readonly latencyUs: number;
  /** Means in the server; absent without its statistics. */
  readonly server?: { readonly queueUs: number; readonly computeUs: number };
}

/** A part of the run: a warm-up or a level. */
export interface TimeSpan {
  readonly label: string;
  readonly isWarmup: boolean;
  readonly startSec: number;
  readonly endSec: number;
}

/** A metric of a GPU over time. */
export interface GpuReadings {
  readonly metric: GpuMetric;
  readonly uuid: string;
  readonly timesSec: readonly number[];
  readonly values: readonly number[];
}

/** Latencies within a bin differ by 1 %. */
export const BINS_PER_DECADE = 240;

/** Returns the lowest latency of a bin in microseconds. */
export function binStartUs(bin: number): number {
  return 10 ** (bin / BINS_PER_DECADE);
}

/** Creates the source of charts. @param times of each run. Default: the charts over time are left out */
export function chartSource(plan: Plan, json: ReportJson, times: readonly RunTimes[] = []): ChartSource {
  const runs = runsOf(json);
  return {
    plan,
    json,
    unit: throughputUnitOf(plan.target),
    runs: runs.map((run, index) => ({
      name: runs.length === 1 ? "" : `run ${index + 1}`,
      json: run,
      levels: run.levels.map((level) => ({ name: nameLevel(plan, level), json: level })),
      times: times[index],
    })),
  };
}

/** Returns the name of a series: the run, where there are several, and what it shows. */
export function seriesName(run: ChartRun, what: string): string {
  return run.name === "" ? what : `${run.name}, ${what}`;
}

/** Returns the levels of all runs, each with its name. */
export function levelRows({ runs }: Pick<ChartSource, "runs">): (NamedLevel & { readonly run: ChartRun })[] {
  return runs.flatMap((run) => run.levels.map((level) => ({ ...level, name: seriesName(run, level.name), run })));
}

/** A unit of time for the axis of a chart. */
export interface TimeUnit {
  readonly name: string;
  readonly us: number;
}

/** Returns the unit for latencies up to this one. */
export function timeUnitFor(mostUs: number): TimeUnit {
  const { name, ns } = timeUnitOf([usToNs(mostUs)]);
  return { name, us: nsToUs(ns) };
}
