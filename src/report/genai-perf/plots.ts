import { readdir, rm } from "node:fs/promises";
import { basename, dirname, join, relative } from "node:path";
import type { Plan } from "../../plan/plan.ts";
import type { TelemetryMetric } from "../../telemetry/series.ts";
import { type PageText, writePlots } from "../html/write-plots.ts";
import {
  joinPlots,
  PLOT_PAGE_FILE,
  type PlotFormat,
  type PlotPoint,
  type PlotSet,
  roundForPlot,
  type XySeries,
} from "../plot.ts";
import { asSet, leaveOut, type PlottedRun } from "../plots/plotted-run.ts";
import { standardPlots } from "../plots/standard-plots.ts";
import { distributionPlots, timePlots } from "../plots/time-plots.ts";
import type { Report, TextSink } from "../report.ts";
import { metricLabel } from "./layout.ts";
import { type Measured, measuredOf } from "./measured.ts";
import type { GenaiOutputs } from "./outputs.ts";
import { chooseAxes, findPareto, type SweepPoint } from "./sweep/sweep.ts";
import { toTelemetrySeries } from "./telemetry/telemetry.ts";

/** Plots of runs, merged runs and sweeps. */

/** Creates the report. @param folder folder of the run's files, inside the folder of the results */
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

/** The parts of plots that depend on the runs of a sweep. */
export interface SweptRuns extends Pick<GenaiOutputs, "endpointType" | "plotFormats"> {
  readonly models: readonly string[];
}

/** Draws a sweep's plots. @param what the varied parameters, in words @throws RunError when a file cannot be written */
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
    facts: [`Points ${points.length}`],
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

/** Removes the plots of an earlier run, so that they are not mistaken for those of a later one. Keeps other files in the folder. */
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
        : [`${statistics.length > 1 ? `${label}, ${statistic}` : label} ${value.toFixed(2)}`];
    });
  });
  const isFailing = counts !== undefined && counts.failed > 0;
  const failed = isFailing ? [`Failed ${counts.failed} of ${counts.sent}`] : [];
  const count = runs.reduce((sum, { columns }) => sum + columns.count, 0);
  return {
    title,
    subtitle: `${models.join(", ")}, ${outputs.endpointType}, drawn by Rampart`,
    facts: [`Requests ${count}`, ...failed, ...facts],
  };
}

/** Returns all plots of one run, or of several overlaid runs. */
export function runPlots(runs: readonly PlottedRun[]): PlotSet {
  return joinPlots([standardPlots(runs), distributionPlots(runs), timePlots(runs)]);
}

/** A server's metrics over the time of a run: one plot per metric, with a line for each GPU or series. */

const GROUP = "Server";
/** Maximum number of lines that can be distinguished. */
const MOST_LINES = 24;

/** Returns one plot for each metric. */
export function telemetryPlots(metrics: readonly TelemetryMetric[]): PlotSet {
  return joinPlots(metrics.map(drawTelemetry));
}

function drawTelemetry({ name, unit, series }: TelemetryMetric): PlotSet {
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

/** Plots of a sweep: throughput against latency, and each metric over the varied parameters. */

const NOT_STREAMED = "responses were not streamed";
const TRADE = "Trade-off";
const OVER_SWEEP = "Over the sweep";
const RATES = ["output_token_throughput", "request_throughput", "request_goodput"];
const TIMES = ["time_to_first_token", "inter_token_latency", "request_latency"];

/** Returns all plots of a sweep; empty without points. */
export function sweepPlots(points: readonly SweepPoint[]): PlotSet {
  if (points.length === 0) return { plots: [], leftOut: [] };
  return joinPlots([
    drawPareto(points),
    drawFirstTokens(points),
    ...RATES.map((name) => drawMetric(points, name, ["avg"])),
    ...TIMES.map((name) => drawMetric(points, name, ["avg", "p99"])),
  ]);
}

type Statistic = "avg" | "p99";

function statisticOf({ result }: SweepPoint, metric: string, statistic: Statistic): number {
  return result.statistics.get(metric)?.values.get(statistic) ?? Number.NaN;
}

/** Returns the varied values: `4`, or `4, 128`. */
function labelOf({ parameters }: SweepPoint): string {
  return parameters.map(([, value]) => String(value)).join(", ");
}

function drawPareto(points: readonly SweepPoint[]): PlotSet {
  const axes = chooseAxes(points);
  const per = axes.gpuCounts === undefined ? "" : " per GPU";
  const [what, unit] =
    axes.throughput === "output_token_throughput"
      ? ["Output Token Throughput", "tokens/sec"]
      : ["Request Throughput", "requests/sec"];
  const title = `${what}${per} vs Request Latency`;
  const placed = findPareto(points, axes)
    .map((place, i) => ({ ...place, label: labelOf(points[i] as SweepPoint) }))
    .filter(({ throughput, latencyMs }) => Number.isFinite(throughput) && Number.isFinite(latencyMs));
  if (placed.length === 0) return leaveOut(title, "no point has both");
  const toSeries = (name: string, style: XySeries["style"], chosen: typeof placed): XySeries => ({
    name,
    style,
    points: chosen.map(({ latencyMs, throughput }) => [roundForPlot(latencyMs), roundForPlot(throughput)]),
    labels: chosen.map(({ label }) => label),
  });
  const best = placed.filter(({ isOptimal }) => isOptimal).sort((a, b) => a.latencyMs - b.latencyMs);
  const beaten = placed.filter(({ isOptimal }) => !isOptimal);
  const series = [
    toSeries("Pareto front: no other point beats these", "line", best),
    ...(beaten.length === 0 ? [] : [toSeries("other points", "points", beaten)]),
  ];
  const frame = { title, xLabel: "Request Latency, p99 (ms)", yLabel: `${what}${per} (${unit})`, group: TRADE };
  return asSet({ kind: "xy", ...frame, notes: noteLabels(points), series, isFromZero: true });
}

/** AIPerf's plot, with points joined in the order of the sweep. */
function drawFirstTokens(points: readonly SweepPoint[]): PlotSet {
  const title = "TTFT vs Throughput";
  const isStreaming = points.some(({ result }) => result.isStreaming);
  const drawn = points.filter(
    (point) =>
      point.result.isStreaming &&
      Number.isFinite(statisticOf(point, "time_to_first_token", "avg")) &&
      Number.isFinite(statisticOf(point, "request_throughput", "avg")),
  );
  if (drawn.length === 0) return leaveOut(title, isStreaming ? "no point has both" : NOT_STREAMED);
  const series = groupByOthers(drawn).map(
    ([name, group]): XySeries => ({
      name,
      style: "line",
      points: group.map((point) => [
        roundForPlot(statisticOf(point, "time_to_first_token", "avg")),
        roundForPlot(statisticOf(point, "request_throughput", "avg")),
      ]),
      labels: group.map(labelOf),
    }),
  );
  const frame = { title, xLabel: "Time to First Token, avg (ms)", yLabel: "Request Throughput (requests/sec)" };
  return asSet({ kind: "xy", ...frame, group: TRADE, notes: noteLabels(points), series, isFromZero: true });
}

function noteLabels([point]: readonly SweepPoint[]): string[] {
  const names = (point?.parameters ?? []).map(([name]) => titleOf(name));
  return names.length === 0 ? [] : [`Points are labelled with their ${names.join(" and ")}.`];
}

/** Groups by the parameters after the first; ascending in the first. */
function groupByOthers(points: readonly SweepPoint[]): [name: string, group: SweepPoint[]][] {
  const groups = new Map<string, SweepPoint[]>();
  for (const point of points) {
    const name = point.parameters
      .slice(1)
      .map(([other, value]) => `${other} ${value}`)
      .join(", ");
    groups.set(name, [...(groups.get(name) ?? []), point]);
  }
  const byFirst = (a: SweepPoint, b: SweepPoint): number => (a.parameters[0]?.[1] ?? 0) - (b.parameters[0]?.[1] ?? 0);
  return [...groups].map(([name, group]) => [name === "" ? "all points" : name, group.toSorted(byFirst)]);
}

function drawMetric(points: readonly SweepPoint[], metric: string, statistics: readonly Statistic[]): PlotSet {
  const parameter = titleOf(points[0]?.parameters[0]?.[0] ?? "point");
  const title = `${titleOf(metric)} vs ${parameter}`;
  if (metric === "time_to_first_token" && !points.some(({ result }) => result.isStreaming))
    return leaveOut(title, NOT_STREAMED);
  const groups = groupByOthers(points);
  const series = groups.flatMap(([name, group]) =>
    statistics.flatMap((statistic, i): XySeries[] => {
      const drawn = group
        .map((point): PlotPoint => [point.parameters[0]?.[1] ?? 0, roundForPlot(statisticOf(point, metric, statistic))])
        .filter(([, value]) => Number.isFinite(value));
      if (drawn.length === 0) return [];
      if (groups.length === 1) return [{ name: statistic, style: "line", points: drawn }];
      return [{ name, style: "line", points: drawn, isPartOfLast: i > 0, isDashed: i > 0 }];
    }),
  );
  // A goodput that was not requested does not count as missing.
  if (series.length === 0)
    return metric === "request_goodput" ? { plots: [], leftOut: [] } : leaveOut(title, "no point has it");
  const notes = groups.length > 1 && statistics.length > 1 ? [`Dashed: ${statistics.slice(1).join(", ")}.`] : [];
  const unit = points.map(({ result }) => result.statistics.get(metric)?.unit).find((one) => one !== undefined) ?? "";
  const frame = { title, xLabel: parameter, yLabel: metricLabel({ name: metric, unit }), group: OVER_SWEEP, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true });
}

function titleOf(name: string): string {
  return metricLabel({ name, unit: "" }).replace(/ \(\)$/, "");
}
