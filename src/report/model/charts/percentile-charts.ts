import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import { REPORTED_PERCENTILES } from "../../../measure/intervals/percentile-interval.ts";
import { metricOf } from "../../../measure/metrics/catalogue.ts";
import { type Plot, pickEvenly, roundForPlot, type XySeries } from "../../plot.ts";
import type { SpreadJson } from "../../schema/metrics.ts";
import { findSpread, readerOf } from "../../schema/read-metrics.ts";
import { nameInRun, type ReportView } from "../report-view.ts";
import { spreadCell } from "../tables.ts";
import { timeUnitFor } from "../values.ts";

/** Distributions of latencies and token times: a curve over the percentiles for each level. */

/** Maximum number of lines that can be distinguished. */
const MOST_CURVES = 8;
const NINES_STEP = 0.05;

/** Token times that have charts. */
export const TOKEN_TIMES = ["timeToFirstToken", "interTokenLatency"] as const;

export function titleOf(metric: string): string {
  const { label } = metricOf({ key: metric });
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}

/** Draws the distributions of latency at each level. */
export function latencyCurves(view: ReportView): Plot[] {
  return drawCurves("Latency", "Latency", curvesOf(view, "latency"));
}

/** Draws the distributions of token times at each level. */
export function tokenCurves(view: ReportView): Plot[] {
  return TOKEN_TIMES.flatMap((metric) => drawCurves(titleOf(metric), "Time", curvesOf(view, metric)));
}

function curvesOf(view: ReportView, metric: string): Curve[] {
  return view.levels.flatMap(({ run, name, json: { metrics } }) => {
    const found = readerOf(metrics)(metric, "mean") && findSpread(metrics, metric);
    if (found === undefined) return [];
    return [
      { name: nameInRun(run, name), mostUs: found.max ?? 0, points: spreadCurve(found), uncertain: uncertainIn(found) },
    ];
  });
}

interface Curve {
  readonly name: string;
  readonly mostUs: number;
  /** Points by number of nines, in microseconds. */
  readonly points: readonly (readonly [nines: number, us: number])[];
  /** Numbers of nines of the percentiles that are marked in tables. */
  readonly uncertain: ReadonlySet<number>;
}

function drawCurves(what: string, label: string, curves: readonly Curve[]): Plot[] {
  if (curves.length === 0) return [];
  const shown = pickEvenly(curves, MOST_CURVES);
  const time = timeUnitFor(Math.max(...shown.map(({ mostUs }) => mostUs)));
  const series = shown.map(
    ({ name, points, uncertain }, index): XySeries => ({
      name,
      style: "line",
      shade: shown.length === 1 ? 0 : index / (shown.length - 1),
      hasMarkers: false,
      points: points.map(([nines, us]) => [nines, roundForPlot(us / time.us)]),
      uncertain: points.map(([nines]) => uncertain.has(nines)),
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
  return roundForPlot(-Math.log10(1 - percentile / 100));
}

function uncertainIn(found: SpreadJson): ReadonlySet<number> {
  const marked = REPORTED_PERCENTILES.filter((one) => spreadCell(found, `p${one}`)?.mark === "uncertain");
  return new Set(marked.map(ninesOf));
}

/** Returns the curve of the histogram, if there is one, with the reported percentiles, the minimum and the maximum. */
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

/** Sorts points by their nines. Later points replace earlier ones at the same position, and the curve never falls. */
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
