import { ExponentialHistogram } from "../../../measure/exponential-histogram.ts";
import type { Plan } from "../../../plan/plan.ts";
import { nsToUs, usToNs } from "../../../plan/units.ts";
import { throughputUnitOf } from "../../../registry/service-kinds.ts";
import type { OverTimeJson } from "../../schema/over-time.ts";
import { type LevelJson, type ReportJson, type RunJson, runsOf } from "../../schema/report-schema.ts";
import { nameLevel } from "../report-view.ts";
import { timeUnitOf } from "../values.ts";

/** What charts of a report are made of. */
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
  /** Absent in files of earlier versions: the charts over time are left out. */
  readonly times?: RunTimes | undefined;
}

/** A level with its name in charts. */
export interface NamedLevel {
  readonly name: string;
  readonly json: LevelJson;
}

/** A run over time. */
export interface RunTimes extends Omit<OverTimeJson, "steps"> {
  readonly columns: readonly TimeColumn[];
}

/** An interval of the run. */
export interface TimeColumn extends Omit<OverTimeJson["steps"][number], "latencyBuckets"> {
  readonly latency: ExponentialHistogram;
}

/** Reads a run over time from JSON. */
export function toRunTimes({ steps, ...rest }: OverTimeJson): RunTimes {
  const columns = steps.map(({ latencyBuckets, ...step }) => ({
    ...step,
    latency: ExponentialHistogram.parse(latencyBuckets),
  }));
  return { ...rest, columns };
}

/** Creates the source of charts. */
export function chartSource(plan: Plan, json: ReportJson): ChartSource {
  const runs = runsOf(json);
  return {
    plan,
    json,
    unit: throughputUnitOf(plan.target),
    runs: runs.map((run, index) => ({
      name: runs.length === 1 ? "" : `run ${index + 1}`,
      json: run,
      levels: run.levels.map((level) => ({ name: nameLevel(plan, level), json: level })),
      times: run.overTime && toRunTimes(run.overTime),
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
