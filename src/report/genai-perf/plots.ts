import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Plan } from "../../plan/plan.ts";
import type { TelemetryMetric } from "../../telemetry/series.ts";
import { joinPlots, PLOT_PAGE_FILE, type PlotFormat, type PlotSet, type XySeries } from "../plot.ts";
import { roundForPlot } from "../plot-points.ts";
import { asSet, leaveOut, type PlottedRun } from "../plots/plotted-run.ts";
import { standardPlots } from "../plots/standard-plots.ts";
import { distributionPlots, timePlots } from "../plots/time-plots.ts";
import { type PageText, writePlots } from "../plots/write-plots.ts";
import type { Report, TextSink } from "../report.ts";
import { metricLabel } from "./layout.ts";
import { type Measured, measuredOf } from "./measured.ts";
import type { GenaiOutputs } from "./outputs.ts";
import type { SweepPoint } from "./sweep/sweep.ts";
import { sweepPlots } from "./sweep-plots.ts";
import { toTelemetrySeries } from "./telemetry/telemetry.ts";

/** Plots of runs, merged runs and sweeps. */

/** Creates the report. @param folder of its files, inside the folder of the results */
export function createPlots({ outputs }: Plan, sink: TextSink, folder: string): Report {
  return {
    finish: async (run) => {
      const measured = measuredOf(run);
      const gaps = measured?.columns.gaps;
      if (measured === undefined || gaps === undefined) return;
      const { columns, result } = measured;
      const name = relative(dirname(folder), outputs.files.profileExport ?? "").replace(/\.json$/, "");
      const drawn = { name, columns, gaps, isStreaming: result.isStreaming };
      await drawRuns(measured, [drawn], folder, sink, run.scrape && toTelemetrySeries(run.scrape));
    },
  };
}

/**
 * Draws all plots of one run, or of several overlaid runs, and reports those that could not be drawn.
 * @param telemetry metrics of the server
 * @throws RunError when a file cannot be written
 */
export async function drawRuns(
  measured: Measured,
  runs: readonly PlottedRun[],
  folder: string,
  sink: TextSink,
  telemetry: readonly TelemetryMetric[] = [],
): Promise<void> {
  const text = toPageText(measured, runs, basename(dirname(folder)));
  await write(text, joinPlots([runPlots(runs), telemetryPlots(telemetry)]), folder, measured.outputs.plotFormats, sink);
}

/** What the plots say of the runs of a sweep. */
export interface SweptRuns extends Pick<GenaiOutputs, "endpointType" | "plotFormats"> {
  readonly models: readonly string[];
}

/**
 * Draws a sweep's plots.
 * @param what the varied parameters, in words
 * @throws RunError when a file cannot be written
 */
export async function drawSweep(
  { models, endpointType, plotFormats }: SweptRuns,
  points: readonly SweepPoint[],
  what: string,
  folder: string,
  sink: TextSink,
): Promise<void> {
  const text = {
    title: `${models.join(", ")}: ${what}`,
    subtitle: `${endpointType}, drawn by Rampart`,
    facts: [{ label: "Points", value: String(points.length) }],
  };
  await write(text, sweepPlots(points), folder, plotFormats, sink);
}

async function write(
  text: PageText,
  set: PlotSet,
  folder: string,
  formats: readonly PlotFormat[],
  sink: TextSink,
): Promise<void> {
  const paths = await writePlots(text, set, folder, formats);
  for (const [reason, plots] of Map.groupBy(set.leftOut, ({ reason }) => reason))
    sink.err(`rampart: not drawn: ${plots.map(({ title }) => title).join("; ")}: ${reason}.\n`);
  const [first] = paths;
  if (first !== undefined)
    sink.err(`rampart: ${paths.length === 1 ? "plots" : `${paths.length} files of plots`}: ${first}\n`);
}

/** Removes the plots of an earlier run, so that they are not taken for those of a later one. Keeps other files in the folder. */
export async function removePlots(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names)
    if (name === PLOT_PAGE_FILE || name.endsWith(".svg")) await rm(join(folder, name), { force: true });
}

/** Metrics at the top of the page, with the statistics to show. */
const FACTS: readonly (readonly [metric: string, statistics: readonly ("avg" | "p99")[]])[] = [
  ["request_throughput", ["avg"]],
  ["output_token_throughput", ["avg"]],
  ["time_to_first_token", ["avg", "p99"]],
  ["inter_token_latency", ["avg", "p99"]],
  ["request_latency", ["avg", "p99"]],
];

function toPageText(
  { models, outputs, result, summary: { counts } }: Measured,
  runs: readonly PlottedRun[],
  title: string,
): PageText {
  const facts = FACTS.flatMap(([metric, statistics]) => {
    const found = result.statistics.get(metric);
    if (found === undefined || (metric === "time_to_first_token" && !result.isStreaming)) return [];
    return statistics.flatMap((statistic) => {
      const value = found.values.get(statistic);
      const label = metricLabel({ name: metric, unit: found.unit });
      return value === undefined
        ? []
        : [{ label: statistics.length > 1 ? `${label}, ${statistic}` : label, value: value.toFixed(2) }];
    });
  });
  const isFailing = counts !== undefined && counts.failed > 0;
  const failed = isFailing ? [{ label: "Failed", value: `${counts.failed} of ${counts.sent}` }] : [];
  const count = runs.reduce((sum, { columns }) => sum + columns.count, 0);
  return {
    title,
    subtitle: `${models.join(", ")}, ${outputs.endpointType}, drawn by Rampart`,
    facts: [{ label: "Requests", value: String(count) }, ...failed, ...facts],
  };
}

/** Returns all plots of one run, or of several overlaid runs. */
export function runPlots(runs: readonly PlottedRun[]): PlotSet {
  return joinPlots([standardPlots(runs), distributionPlots(runs), timePlots(runs)]);
}

/** A server's metrics over the time of a run: one plot per metric, with a line for each GPU or series. */

const GROUP = "Server";
/** More lines than this cannot be distinguished. */
const MOST_LINES = 24;

/** Returns one plot for each metric. */
export function telemetryPlots(metrics: readonly TelemetryMetric[]): PlotSet {
  return joinPlots(metrics.map(drawMetric));
}

function drawMetric({ name, unit, series }: TelemetryMetric): PlotSet {
  const title = `${name} Over Time`;
  const read = series.filter(({ values }) => values.some(Number.isFinite));
  if (read.length === 0) return leaveOut(title, "no value of it was read");
  const lines = read.slice(0, MOST_LINES).map(
    ({ label, timesSec, values }): XySeries => ({
      name: label === "" ? name : label,
      style: "line",
      points: values.flatMap((value, i): [number, number][] => {
        const sec = timesSec[i];
        return sec === undefined || !Number.isFinite(value) ? [] : [[roundForPlot(sec), roundForPlot(value)]];
      }),
    }),
  );
  const notes = read.length > lines.length ? [`The first ${lines.length} of ${read.length} series.`] : [];
  const frame = { title, xLabel: "Time (s)", yLabel: unit === "" ? name : `${name} (${unit})`, group: GROUP, notes };
  return asSet({ kind: "xy", ...frame, series: lines, isFromZero: false });
}
