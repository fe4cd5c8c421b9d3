import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import { LEVEL_UNITS } from "../../../load/level-units.ts";
import { REPORTED_PERCENTILES } from "../../../measure/intervals/percentile-interval.ts";
import { metricOf } from "../../../measure/metrics/catalogue.ts";
import { levelUnitOf } from "../../../registry/load-modes.ts";
import { findSpread } from "../../json/read-metrics.ts";
import type { Meaning, Plot, PlotPoint, XyPlot, XySeries } from "../../plots/plot.ts";
import { pickEvenly, roundForPlot } from "../../plots/sample.ts";
import type { SpreadJson } from "../../schema/metrics.ts";
import { type ChartSource, levelRows, type TimeUnit, timeUnitFor } from "./chart-source.ts";
import { type Estimate, type LoadPoint, loadPointsOf, PERCENTILES, type Spread, TOKEN_TIMES } from "./load-points.ts";

/** Throughput, latency and times of tokens over the load, and their distributions. */

/** Loads that grow by more than this in all have a logarithmic axis. */
const LOG_FROM = 8;
const MOST_TICKS = 12;
/** More lines cannot be distinguished. */
const MOST_CURVES = 8;
const NINES_STEP = 0.05;
const FRAME = { group: "", notes: [] } as const;

/** The charts over the load. Each is absent where it has less than two points. */
export interface LoadCharts {
  readonly throughput: readonly Plot[];
  readonly latency: readonly Plot[];
  /** Latency against throughput. */
  readonly knee: readonly Plot[];
  /** Output tokens per second, time to first token, inter-token latency. */
  readonly tokens: readonly Plot[];
}

/** Draws the charts over the load. */
export function loadCharts(source: ChartSource): LoadCharts {
  const points = loadPointsOf(source);
  if (points.length < 2) return { throughput: [], latency: [], knee: [], tokens: [] };
  const { plan, unit } = source;
  const load = LEVEL_UNITS[levelUnitOf(plan.load)];
  const over = overLoad(points, load.axis, load.isWhole);
  return {
    throughput: drawThroughput(points, over, unit, load.isScheduled),
    latency: drawLatency(points, over),
    knee: drawKnee(points, unit, load.axis),
    tokens: drawTokens(points, over),
  };
}

type OverLoad = Pick<XyPlot, "kind" | "xLabel" | "isFromZero" | "isWhole" | "isLogX" | "xTicks" | "group" | "notes">;

function overLoad(points: readonly LoadPoint[], xLabel: string, isWhole: boolean): OverLoad {
  const loads = points.map(({ load }) => load);
  const [least, most] = [Math.min(...loads), Math.max(...loads)];
  const isLogX = least > 0 && most / least >= LOG_FROM;
  const xTicks = pickEvenly(loads, MOST_TICKS);
  return { kind: "xy", xLabel, isFromZero: true, isWhole, isLogX, xTicks, ...FRAME };
}

/** Draws the line of an estimate over the load with its intervals; nothing where no point has it. */
function lineOf(
  name: string,
  meaning: Meaning | undefined,
  points: readonly LoadPoint[],
  pick: (point: LoadPoint) => Estimate | undefined,
  scale = 1,
): XySeries[] {
  const known = points.flatMap((point) => {
    const found = pick(point);
    return found === undefined ? [] : [{ load: point.load, found }];
  });
  if (known.length === 0) return [];
  const at = (value: number): number => roundForPlot(value / scale);
  const end = (value: number | null): number | null => (value === null ? null : at(value));
  return [
    {
      name,
      style: "line",
      meaning,
      points: known.map(({ load, found }): PlotPoint => [load, at(found.value)]),
      intervals: known.map(({ found: { low, high } }) =>
        low === null && high === null ? undefined : { low: end(low), high: end(high) },
      ),
    },
  ];
}

function drawThroughput(points: readonly LoadPoint[], over: OverLoad, unit: string, isRate: boolean): Plot[] {
  const hasFailed = points.some(({ failedPerSec }) => failedPerSec > 0);
  const asked = (value: number): Estimate => ({ value, low: null, high: null });
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
function unitOf(spreads: readonly (Spread | undefined)[]): TimeUnit {
  return timeUnitFor(Math.max(0, ...spreads.map((found) => found?.p99?.value ?? 0)));
}

function drawLatency(points: readonly LoadPoint[], over: OverLoad): Plot[] {
  const time = unitOf(points.flatMap(({ latencyUs, scheduledUs }) => [latencyUs, scheduledUs]));
  const series = [
    ...PERCENTILES.flatMap((name) => lineOf(name, name, points, ({ latencyUs }) => latencyUs[name], time.us)),
    ...lineOf("p99 from due time", "p99", points, ({ scheduledUs }) => scheduledUs?.p99, time.us).map((line) => ({
      ...line,
      isDashed: true,
    })),
  ];
  if (series.length === 0) return [];
  return [{ ...over, title: "Latency over load", yLabel: `Latency (${time.name})`, series }];
}

function drawKnee(points: readonly LoadPoint[], unit: string, load: string): Plot[] {
  const time = unitOf(points.map(({ latencyUs }) => latencyUs));
  const series = (["p50", "p99"] as const).flatMap((name): XySeries[] => {
    const known = points.filter(({ latencyUs, throughputPerSec }) => latencyUs[name] && throughputPerSec);
    if (known.length === 0) return [];
    const at = ({ throughputPerSec, latencyUs }: LoadPoint): PlotPoint => [
      roundForPlot(throughputPerSec?.value ?? 0),
      roundForPlot((latencyUs[name]?.value ?? 0) / time.us),
    ];
    // The highest line has the names, because those of several lines would overlap.
    const labels = name === "p99" ? { labels: known.map((point) => String(roundForPlot(point.load))) } : {};
    return [{ name, style: "line", meaning: name, points: known.map(at), ...labels }];
  });
  if (series.length === 0) return [];
  const frame = {
    title: "Latency against throughput",
    xLabel: `Throughput (${unit})`,
    yLabel: `Latency (${time.name})`,
  };
  const notes = [`The numbers at the points are the load: ${load.toLowerCase()}.`];
  return [{ kind: "xy", ...FRAME, ...frame, notes, series, isFromZero: true, isXFromZero: true }];
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

function titleOf(metric: string): string {
  const { label } = metricOf({ key: metric });
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}

/** Draws the distributions of latency at each level. */
export function latencyCurves(source: ChartSource): Plot[] {
  return drawCurves("Latency", "Latency", curvesOf(source, "latency"));
}

/** Draws the distributions of the times of tokens at each level. */
export function tokenCurves(source: ChartSource): Plot[] {
  return TOKEN_TIMES.flatMap((metric) => drawCurves(titleOf(metric), "Time", curvesOf(source, metric)));
}

function curvesOf(source: ChartSource, metric: string): Curve[] {
  return levelRows(source).flatMap(({ name, json: { metrics } }) => {
    const found = findSpread(metrics, metric);
    return found === undefined ? [] : [{ name, mostUs: found.max ?? 0, points: spreadCurve(found) }];
  });
}

interface Curve {
  readonly name: string;
  readonly mostUs: number;
  /** By number of nines, in microseconds. */
  readonly points: readonly (readonly [nines: number, us: number])[];
}

function drawCurves(what: string, label: string, curves: readonly Curve[]): Plot[] {
  if (curves.length === 0) return [];
  const shown = pickEvenly(curves, MOST_CURVES);
  const time = timeUnitFor(Math.max(...shown.map(({ mostUs }) => mostUs)));
  const series = shown.map(
    ({ name, points }, index): XySeries => ({
      name,
      style: "line",
      shade: shown.length === 1 ? 0 : index / (shown.length - 1),
      hasMarkers: false,
      points: points.map(([nines, us]) => [roundForPlot(nines), roundForPlot(us / time.us)]),
    }),
  );
  const notes = [
    "The scale spreads the slowest requests: from each mark to the next there are ten times fewer.",
    ...(shown.length < curves.length ? [`${shown.length} of ${curves.length} levels.`] : []),
  ];
  const frame = { title: `${what} by percentile`, xLabel: "Percentile", yLabel: `${label} (${time.name})`, group: "" };
  return [{ kind: "xy", ...frame, notes, series, isFromZero: true, isPercentile: true }];
}

/** Returns the number of nines of a percentile: 2 for p99. */
function ninesOf(percentile: number): number {
  return -Math.log10(1 - percentile / 100);
}

/** Returns the curve of the histogram, where there is one, with the reported percentiles and the ends in it. */
function spreadCurve({ count, min = 0, max = 0, hdrHistogram, ...statistics }: SpreadJson): [number, number][] {
  const most = Math.log10(Math.max(1, count));
  const reported = REPORTED_PERCENTILES.flatMap((percentile): [number, number][] => {
    const us = statistics[`p${percentile}`];
    return us === undefined ? [] : [[ninesOf(percentile), us]];
  });
  const inner = [...histogramCurve(hdrHistogram, most), ...reported.filter(([nines]) => nines < most)];
  return toCurve([
    ...(hdrHistogram === undefined ? [[0, min] as [number, number]] : []),
    ...inner,
    [most, Math.floor(max)],
  ]);
}

function histogramCurve(encoded: string | undefined, most: number): [number, number][] {
  if (encoded === undefined) return [];
  const histogram = decodeFromCompressedBase64(encoded);
  return Array.from({ length: Math.ceil(most / NINES_STEP) }, (_, i): [number, number] => [
    i * NINES_STEP,
    histogram.getValueAtPercentile(100 * (1 - 10 ** -(i * NINES_STEP))),
  ]);
}

/** Sorts points by their nines. Later ones replace earlier ones at the same place, and no curve falls. */
function toCurve(points: readonly [number, number][]): [number, number][] {
  const at = new Map(points.map(([nines, us]) => [roundForPlot(nines), us]));
  const sorted = [...at].sort(([a], [b]) => a - b);
  let least = Number.POSITIVE_INFINITY;
  return sorted
    .toReversed()
    .map(([nines, us]): [number, number] => {
      least = Math.min(least, us);
      return [nines, least];
    })
    .toReversed();
}
