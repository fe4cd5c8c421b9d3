import { LEVEL_UNITS } from "../../../load/level-units.ts";
import { scaleInterval, UNKNOWN } from "../../../measure/intervals/certainty.ts";
import { nsToUs } from "../../../plan/units.ts";
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
import { type ReadEstimate, readMetric, readOver } from "../../schema/read-metrics.ts";
import type { LevelJson } from "../../schema/report-schema.ts";
import type { CombinedLevelJson } from "../../schema/runs.ts";
import { isCutAt, isCutOver } from "../level-columns.ts";
import type { ReportView } from "../report-view.ts";
import { estimateCell } from "../tables.ts";
import { timeUnitFor } from "../values.ts";
import { TOKEN_TIMES, titleOf } from "./percentile-charts.ts";

/** Throughput, latency and times of tokens over the load: of one run, or the means over several runs. */

/** Loads that grow by more than this in all have a logarithmic axis. */
const LOG_FROM = 8;
const MOST_TICKS = 12;
const FRAME = { group: "", notes: [] } as const;

/** The charts over the load. Each is absent where it has less than two points. */
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
  const {
    plan,
    words: { unit },
  } = view;
  const load = LEVEL_UNITS[levelUnitOf(plan.load)];
  const { axis } = levelTitles(plan);
  const over = {
    ...FRAME,
    ...loadAxis(
      points.map((point) => point.load),
      axis,
      load.isWhole,
    ),
  };
  return {
    throughput: drawThroughput(points, over, unit, load.isScheduled),
    latency: drawLatency(points, over),
    knee: drawKnee(points, unit, axis),
    tokens: drawTokens(points, over),
  };
}

/** The axis of loads. */
type LoadAxis = Pick<XyPlot, "kind" | "xLabel" | "isFromZero" | "isWhole" | "isLogX" | "xTicks">;

/** Returns the axis of loads. @param loads at least one */
export function loadAxis(loads: readonly number[], xLabel: string, isWhole: boolean): LoadAxis {
  const [least, most] = [Math.min(...loads), Math.max(...loads)];
  const isLogX = least > 0 && most / least >= LOG_FROM;
  return { kind: "xy", xLabel, isFromZero: true, isWhole, isLogX, xTicks: pickEvenly(loads, MOST_TICKS) };
}

type OverLoad = LoadAxis & typeof FRAME;

/** Draws the line of an estimate over the load with its intervals; nothing where no point has it. */
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

/** Reports whether an estimate has the mark in tables. */
export function isMarked(found: ReadEstimate | undefined): boolean {
  return found !== undefined && estimateCell(found).mark !== undefined;
}

/** Returns the values of bars, and which are uncertain. @param size of the unit of the axis */
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
    ...lineOf("throughput", "throughput", points, ({ throughputPerSec }) => throughputPerSec),
    ...(isRate ? [askedLine(points)] : []),
    ...(hasFailed ? lineOf("failed", "failed", points, ({ failedPerSec }) => asked(failedPerSec)) : []),
  ];
  return [{ ...over, title: "Throughput over load", yLabel: `Throughput (${unit})`, series }];
}

function askedLine(points: readonly LoadPoint[]): XySeries {
  const line = points.map(({ load }): PlotPoint => [load, load]);
  return { name: "asked for", style: "line", meaning: "limit", isDashed: true, hasMarkers: false, points: line };
}

/** Returns the unit for the largest p99. */
export function unitOf(spreads: readonly (Spread | undefined)[]): ReturnType<typeof timeUnitFor> {
  return timeUnitFor(Math.max(0, ...spreads.map((found) => found?.p99?.value ?? 0)));
}

function drawLatency(points: readonly LoadPoint[], over: OverLoad): Plot[] {
  const time = unitOf(points.flatMap(({ latencyUs, scheduledUs }) => [latencyUs, scheduledUs]));
  const series = [
    ...PERCENTILES.flatMap((name) => lineOf(name, name, points, ({ latencyUs }) => latencyUs[name], time.us)),
    ...lineOf("scheduled p99", "p99", points, ({ scheduledUs }) => scheduledUs?.p99, time.us).map((line) => ({
      ...line,
      isDashed: true,
    })),
  ];
  if (series.length === 0) return [];
  return [{ ...over, title: "Latency over load", yLabel: `Latency (${time.name})`, series }];
}

function drawKnee(points: readonly LoadPoint[], unit: string, load: string): Plot[] {
  const time = unitOf(points.map(({ latencyUs }) => latencyUs));
  const labelled = points.map((point) => ({ point, label: String(roundForPlot(point.load)) }));
  const series = (["p50", "p99"] as const).flatMap((name) =>
    kneeLine(labelled, name, time.us).map((line): XySeries => ({ ...line, name, style: "line", meaning: name })),
  );
  const notes = [`The numbers at the points are the load: ${load.toLowerCase()}.`];
  return kneePlot(series, unit, `Latency (${time.name})`, notes);
}

/** Returns the points of a line of latency against throughput; nothing where no point has both. */
export function kneeLine(
  labelled: readonly { readonly point: LoadPoint; readonly label?: string }[],
  percentile: PercentileName,
  us: number,
): Pick<XySeries, "points" | "labels" | "uncertain">[] {
  const known = labelled.filter(({ point }) => point.latencyUs[percentile] && point.throughputPerSec);
  if (known.length === 0) return [];
  const points = known.map(({ point: { throughputPerSec, latencyUs } }): PlotPoint => {
    return [roundForPlot(throughputPerSec?.value ?? 0), roundForPlot((latencyUs[percentile]?.value ?? 0) / us)];
  });
  // The highest line has the names, because those of several lines would overlap.
  const labels = percentile === "p99" ? known.flatMap(({ label }) => label ?? []) : [];
  const uncertain = known.map(({ point: { throughputPerSec, latencyUs } }) =>
    [throughputPerSec, latencyUs[percentile]].some(isMarked),
  );
  return [{ points, uncertain, ...(labels.length === 0 ? {} : { labels }) }];
}

/** Draws lines of latency against throughput; nothing without any. */
export function kneePlot(series: readonly XySeries[], unit: string, yLabel: string, notes: readonly string[]): Plot[] {
  const frame = { title: "Latency against throughput", xLabel: `Throughput (${unit})`, yLabel, group: "", notes };
  return series.length === 0 ? [] : [{ kind: "xy", ...frame, series, isFromZero: true, isXFromZero: true }];
}

function drawTokens(points: readonly LoadPoint[], over: OverLoad): Plot[] {
  const times = TOKEN_TIMES.flatMap((metric): Plot[] => {
    const spreadOf = ({ tokenTimesUs }: LoadPoint): Spread | undefined => tokenTimesUs[metric];
    const time = unitOf(points.map(spreadOf));
    const series = PERCENTILES.flatMap((name) =>
      lineOf(name, name, points, (point) => spreadOf(point)?.[name], time.us),
    );
    return series.length === 0
      ? []
      : [{ ...over, title: `${titleOf(metric)} over load`, yLabel: `Time (${time.name})`, series }];
  });
  const rate = lineOf("output tokens/s", "throughput", points, ({ tokensPerSec }) => tokensPerSec);
  const rates: Plot[] =
    rate.length === 0 ? [] : [{ ...over, title: "Output tokens per second", yLabel: "Tokens/s", series: rate }];
  return [...times, ...rates];
}

const PERCENTILES = ["p50", "p90", "p99"] as const;
type PercentileName = (typeof PERCENTILES)[number];

type Spread = Readonly<Record<PercentileName, ReadEstimate | undefined>>;

/** A load and what was measured at it. */
export interface LoadPoint {
  /** Requests in flight, or per second. */
  readonly load: number;
  readonly throughputPerSec: ReadEstimate | undefined;
  readonly failedPerSec: number;
  readonly latencyUs: Spread;
  /** From the time when a request was due. */
  readonly scheduledUs: Spread;
  readonly tokensPerSec: ReadEstimate | undefined;
  /** By the keys of their metrics. */
  readonly tokenTimesUs: Readonly<Record<string, Spread>>;
}

/** Returns the points in the order of their loads; empty where levels have no order, because they are phases. */
export function loadPointsOf({ json, runs }: ReportView): LoadPoint[] {
  const [first] = runs;
  if (first === undefined || first.json.levels.some(({ phase }) => phase !== undefined)) return [];
  const points = "runs" in json ? json.combination.levels.map(ofRuns) : first.json.levels.map(ofLevel);
  return points.toSorted((a, b) => a.load - b.load);
}

function ofLevel({ level, durationSec, failed, metrics }: LevelJson): LoadPoint {
  return {
    load: level,
    failedPerSec: durationSec > 0 ? failed / durationSec : 0,
    ...pointOf(
      (key, statistic) => readMetric(metrics, key, statistic),
      (key) => isCutAt(metrics, key),
    ),
  };
}

function ofRuns({ level, metrics }: CombinedLevelJson): LoadPoint {
  const read: Read = (key, statistic) => readOver(metrics, key, statistic);
  const failed = read("errorRate")?.value ?? 0;
  const perSec = read("throughput")?.value ?? 0;
  return {
    load: level,
    failedPerSec: failed >= 1 ? 0 : (perSec * failed) / (1 - failed),
    ...pointOf(read, (key) => isCutOver(metrics, key)),
  };
}

type Read = (key: string, statistic?: PercentileName) => ReadEstimate | undefined;

/** @param isLeftOut whether the tables leave out a metric here */
function pointOf(read: Read, isLeftOut: (key: string) => boolean): Omit<LoadPoint, "load" | "failedPerSec"> {
  const spread = (key: string): Spread => {
    const of = (name: PercentileName): ReadEstimate | undefined => (isLeftOut(key) ? undefined : inUs(read(key, name)));
    return { p50: of("p50"), p90: of("p90"), p99: of("p99") };
  };
  return {
    throughputPerSec: read("throughput"),
    latencyUs: spread("latency"),
    scheduledUs: spread("scheduledLatency"),
    tokensPerSec: read("outputTokensPerSec"),
    tokenTimesUs: Object.fromEntries(TOKEN_TIMES.map((key) => [key, spread(key)])),
  };
}

function inUs(found: ReadEstimate | undefined): ReadEstimate | undefined {
  return found && { ...found, value: nsToUs(found.value), ...scaleInterval(found, nsToUs) };
}
