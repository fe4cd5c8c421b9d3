import { decodeFromCompressedBase64 } from "hdr-histogram-js";
import { entryOf, nameOfMetric, type TokenMetric } from "../../../measure/tokens/metrics.ts";
import type { Plot, XySeries } from "../../plots/plot.ts";
import { pickEvenly, roundForPlot } from "../../plots/sample.ts";
import type { LevelJson } from "../../schema/report-schema.ts";
import { type ChartSource, levelRows, timeUnitFor } from "./chart-source.ts";

/** How latencies and times of tokens are distributed: a curve over the percentiles for each level. */

/** More lines cannot be distinguished. */
const MOST_CURVES = 8;
const NINES_STEP = 0.05;

/** The times of tokens that have charts. */
export const TOKEN_TIMES: readonly TokenMetric[] = ["timeToFirstTokenNs", "interTokenLatencyNs"];

export function jsonNameOf(metric: TokenMetric): string {
  return `${nameOfMetric(metric)}Us`;
}

export function titleOf(metric: TokenMetric): string {
  const { label } = entryOf(metric);
  return `${label.charAt(0).toUpperCase()}${label.slice(1)}`;
}

/** Draws the distributions of latency at each level. */
export function latencyCurves(source: ChartSource): Plot[] {
  const curves = levelRows(source).flatMap(({ name, json: { latency } }) =>
    latency === null ? [] : [{ name, mostUs: latency.maxUs, points: latencyCurve(latency) }],
  );
  return drawCurves("Latency", "Latency", curves);
}

/** Draws the distributions of the times of tokens at each level. */
export function tokenCurves(source: ChartSource): Plot[] {
  return TOKEN_TIMES.flatMap((metric) => {
    const curves = levelRows(source).flatMap(({ name, json: { tokens } }) => {
      const found = tokens?.metrics[jsonNameOf(metric)];
      return found === undefined ? [] : [{ name, mostUs: found.max, points: spreadCurve(found) }];
    });
    return drawCurves(titleOf(metric), "Time", curves);
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

type LatencyJson = NonNullable<LevelJson["latency"]>;

/** Returns the number of nines of a percentile: 2 for p99. */
function ninesOf(percentile: number): number {
  return -Math.log10(1 - percentile / 100);
}

/** Returns the curve of the histogram, with the reported percentiles and the maximum in it. */
function latencyCurve({ count, maxUs, percentiles, hdrHistogramUs }: LatencyJson): [number, number][] {
  const most = Math.log10(count);
  const histogram = decodeFromCompressedBase64(hdrHistogramUs);
  const steps = Array.from({ length: Math.ceil(most / NINES_STEP) }, (_, i): [number, number] => [
    i * NINES_STEP,
    histogram.getValueAtPercentile(100 * (1 - 10 ** -(i * NINES_STEP))),
  ]);
  const reported = Object.entries(percentiles).map(([name, { us }]): [number, number] => [
    ninesOf(Number(name.slice(1))),
    us,
  ]);
  return toCurve([...steps, ...reported.filter(([nines]) => nines < most), [most, Math.floor(maxUs)]]);
}

/** Returns the curve of the reported statistics. */
function spreadCurve(found: NonNullable<LevelJson["tokens"]>["metrics"][string]): [number, number][] {
  const most = Math.log10(Math.max(1, found.count));
  const names = ["p50", "p90", "p99", "p99.9", "p99.99"] as const;
  const inner = names.map((name): [number, number] => [ninesOf(Number(name.slice(1))), found[name]]);
  return toCurve([[0, found.min], ...inner.filter(([nines]) => nines < most), [most, found.max]]);
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
