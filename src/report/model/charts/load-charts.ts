import { LEVEL_UNITS } from "../../../load/level-units.ts";
import { scaleInterval, UNKNOWN } from "../../../measure/intervals/certainty.ts";
import { levelTitles } from "../../../registry/level-names.ts";
import { levelUnitOf } from "../../../registry/load-modes.ts";
import {
  type BarPlot,
  type Meaning,
  type Plot,
  type PlotPoint,
  pickEvenly,
  roundForPlot,
  type XyPlot,
  type XySeries,
} from "../../plot.ts";
import { type ReadEstimate, type ReadMetric, readerOf, readerOver } from "../../schema/read-metrics.ts";
import type { LevelJson } from "../../schema/report-schema.ts";
import type { CombinedLevelJson } from "../../schema/runs.ts";
import type { ReportView } from "../report-view.ts";
import { estimateCell } from "../tables.ts";
import { type TimeUnit, timeUnitOf } from "../values.ts";
import { TOKEN_TIMES, titleOf } from "./percentile-charts.ts";

/** Throughput, latency and token times over the load: of one run, or means over several runs. */

/** Loads that grow by more than this factor in total have a logarithmic axis. */
const LOG_FROM = 8;
const MOST_TICKS = 12;
const FRAME = { group: "", notes: [] } as const;

/** The charts over the load. A chart with fewer than two points is absent. */
interface LoadCharts {
  readonly throughput: readonly Plot[];
  readonly latency: readonly Plot[];
  /** Latency against throughput. */
  readonly knee: readonly Plot[];
  /** Output tokens per second, time to first token, inter-token latency. */
  readonly tokens: readonly Plot[];
}

/** Draws the charts over the load. */
export function loadCharts(view: ReportView): LoadCharts {
  const points = loadPointsOf(view);
  if (points.length < 2) return { throughput: [], latency: [], knee: [], tokens: [] };
  const { plan, words } = view;
  const load = LEVEL_UNITS[levelUnitOf(plan.load)];
  const { axis } = levelTitles(plan);
  const loads = points.map((point) => point.load);
  const over = { ...FRAME, ...loadAxis(loads, axis, load.isWhole) };
  return {
    throughput: drawThroughput(points, over, words.unit, load.isScheduled),
    latency: drawLatency(points, over),
    knee: drawKnee(points, words.unit, axis),
    tokens: drawTokens(points, over),
  };
}

type LoadAxis = Pick<XyPlot, "kind" | "xLabel" | "isFromZero" | "isWhole" | "isLogX" | "xTicks">;

/** Returns the axis of loads. @param loads at least one */
export function loadAxis(loads: readonly number[], xLabel: string, isWhole: boolean): LoadAxis {
  const [least, most] = [Math.min(...loads), Math.max(...loads)];
  const isLogX = least > 0 && most / least >= LOG_FROM;
  return { kind: "xy", xLabel, isFromZero: true, isWhole, isLogX, xTicks: pickEvenly(loads, MOST_TICKS) };
}

type OverLoad = LoadAxis & typeof FRAME;

/** Draws the line of an estimate over the load with its intervals; empty if no point has it. */
export function lineOf<P extends { readonly load: number }>(
  name: string,
  meaning: Meaning | undefined,
  points: readonly P[],
  pick: (point: P) => ReadEstimate | undefined,
  scale = 1,
): XySeries[] {
  const known = points.flatMap((point) => {
    const found = pick(point);
    return found === undefined ? [] : [{ load: point.load, found }];
  });
  if (known.length === 0) return [];
  const at = (value: number): number => roundForPlot(value / scale);
  const cells = known.map(({ found }) => estimateCell(found));
  return [
    {
      name,
      style: "line",
      meaning,
      points: known.map(({ load, found }): PlotPoint => [load, at(found.value)]),
      intervals: cells.map(({ interval }) => interval && scaleInterval(interval, at)),
      uncertain: cells.map(({ mark }) => mark !== undefined),
    },
  ];
}

/** Reports whether an estimate is marked in tables. */
export function isMarked(found: ReadEstimate | undefined): boolean {
  return found !== undefined && estimateCell(found).mark !== undefined;
}

/** Returns the values of bars, and whether each is uncertain. @param size of the unit of the axis */
export function barsOf(
  found: readonly (ReadEstimate | undefined)[],
  size: number,
): Pick<BarPlot["series"][number], "values" | "uncertain"> {
  const values = found.map((one) => (one === undefined ? null : roundForPlot(one.value / size)));
  return { values, uncertain: found.map(isMarked) };
}

function drawThroughput(points: readonly LoadPoint[], over: OverLoad, unit: string, isRate: boolean): Plot[] {
  const hasFailed = points.some(({ failedPerSec }) => failedPerSec > 0);
  const asked = (value: number): ReadEstimate => ({ value, ...UNKNOWN });
  const series = [
    ...lineOf("throughput", "throughput", points, ({ read }) => read("throughput")),
    ...(isRate ? [askedLine(points)] : []),
    ...(hasFailed ? lineOf("failed", "failed", points, ({ failedPerSec }) => asked(failedPerSec)) : []),
  ];
  return [{ ...over, title: "Throughput over load", yLabel: `Throughput (${unit})`, series }];
}

function askedLine(points: readonly LoadPoint[]): XySeries {
  const line = points.map(({ load }): PlotPoint => [load, load]);
  return { name: "asked for", style: "line", meaning: "limit", isDashed: true, hasMarkers: false, points: line };
}

/** Returns the unit for the largest p99 of some metrics. */
export function unitOf(points: readonly LoadPoint[], ...keys: readonly string[]): TimeUnit {
  const p99s = points.flatMap(({ read }) => keys.map((key) => read(key, "p99")?.value ?? 0));
  return timeUnitOf([Math.max(0, ...p99s)]);
}

function linesOf(points: readonly LoadPoint[], key: string, { ns }: TimeUnit): XySeries[] {
  return PERCENTILES.flatMap((name) => lineOf(name, name, points, ({ read }) => read(key, name), ns));
}

function drawLatency(points: readonly LoadPoint[], over: OverLoad): Plot[] {
  const time = unitOf(points, "latency", "scheduledLatency");
  const scheduled = lineOf("scheduled p99", "p99", points, ({ read }) => read("scheduledLatency", "p99"), time.ns);
  const series = [
    ...linesOf(points, "latency", time),
    ...scheduled.map((line): XySeries => ({ ...line, isDashed: true })),
  ];
  if (series.length === 0) return [];
  return [{ ...over, title: "Latency over load", yLabel: `Latency (${time.name})`, series }];
}

function drawKnee(points: readonly LoadPoint[], unit: string, load: string): Plot[] {
  const time = unitOf(points, "latency");
  const labelled = points.map((point) => ({ point, label: String(roundForPlot(point.load)) }));
  const series = (["p50", "p99"] as const).flatMap((name) =>
    kneeLine(labelled, name, time).map((line): XySeries => ({ ...line, name, style: "line", meaning: name })),
  );
  const notes = [`The numbers at the points are the load: ${load.toLowerCase()}.`];
  return kneePlot(series, unit, `Latency (${time.name})`, notes);
}

/** Returns the points of a line of latency against throughput; empty if no point has both. */
export function kneeLine(
  labelled: readonly { readonly point: LoadPoint; readonly label?: string }[],
  percentile: (typeof PERCENTILES)[number],
  { ns }: TimeUnit,
): Pick<XySeries, "points" | "labels" | "uncertain">[] {
  const known = labelled.flatMap(({ point: { read }, label }) => {
    const [x, y] = [read("throughput"), read("latency", percentile)];
    return x === undefined || y === undefined ? [] : [{ x, y, label }];
  });
  if (known.length === 0) return [];
  const points = known.map(({ x, y }): PlotPoint => [roundForPlot(x.value), roundForPlot(y.value / ns)]);
  // Only the highest line has labels, because labels of several lines would overlap.
  const labels = percentile === "p99" ? known.flatMap(({ label }) => label ?? []) : [];
  const uncertain = known.map(({ x, y }) => isMarked(x) || isMarked(y));
  return [{ points, uncertain, ...(labels.length === 0 ? {} : { labels }) }];
}

/** Draws lines of latency against throughput; empty if there are none. */
export function kneePlot(series: readonly XySeries[], unit: string, yLabel: string, notes: readonly string[]): Plot[] {
  const frame = { title: "Latency against throughput", xLabel: `Throughput (${unit})`, yLabel, group: "", notes };
  return series.length === 0 ? [] : [{ kind: "xy", ...frame, series, isFromZero: true, isXFromZero: true }];
}

function drawTokens(points: readonly LoadPoint[], over: OverLoad): Plot[] {
  const times = TOKEN_TIMES.flatMap((metric): Plot[] => {
    const time = unitOf(points, metric);
    const series = linesOf(points, metric, time);
    return series.length === 0
      ? []
      : [{ ...over, title: `${titleOf(metric)} over load`, yLabel: `Time (${time.name})`, series }];
  });
  const rate = lineOf("output tokens/s", "throughput", points, ({ read }) => read("outputTokensPerSec"));
  const rates: Plot[] =
    rate.length === 0 ? [] : [{ ...over, title: "Output tokens per second", yLabel: "Tokens/s", series: rate }];
  return [...times, ...rates];
}

const PERCENTILES = ["p50", "p90", "p99"] as const;

/** A load and its measurements. */
export interface LoadPoint {
  /** Requests in flight, or per second. */
  readonly load: number;
  readonly failedPerSec: number;
  readonly read: ReadMetric;
}

/** Returns the points in order of load; empty if levels have no order, because they are phases. */
export function loadPointsOf({ json, runs }: ReportView): LoadPoint[] {
  const [first] = runs;
  if (first === undefined || first.json.levels.some(({ phase }) => phase !== undefined)) return [];
  const points = "runs" in json ? json.combination.levels.map(ofRuns) : first.json.levels.map(ofLevel);
  return points.toSorted((a, b) => a.load - b.load);
}

function ofLevel({ level, durationSec, failed, metrics }: LevelJson): LoadPoint {
  return { load: level, read: readerOf(metrics), failedPerSec: durationSec > 0 ? failed / durationSec : 0 };
}

function ofRuns({ level, metrics }: CombinedLevelJson): LoadPoint {
  const read = readerOver(metrics);
  const failed = read("errorRate")?.value ?? 0;
  const perSec = read("throughput")?.value ?? 0;
  return { load: level, read, failedPerSec: failed >= 1 ? 0 : (perSec * failed) / (1 - failed) };
}
