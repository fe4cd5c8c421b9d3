import { percentileOf } from "../../measure/numpy-statistics.ts";
import type { TokenMetric } from "../../measure/tokens/metrics.ts";
import {
  type BoxSeries,
  type HeatMapPlot,
  joinPlots,
  type PlotPoint,
  type PlotSet,
  pickEvenly,
  roundForPlot,
  type XySeries,
} from "../plot.ts";
import {
  asSet,
  type Bins,
  dropCovered,
  findBin,
  findLack,
  leaveOut,
  MS_PER_NS,
  noteCovered,
  type PlottedRun,
  samplesOf,
} from "./plotted-run.ts";

/** GenAI-Perf's five plots, with its titles and axes, for one run or for several overlaid runs. */

const GROUP = "GenAI-Perf's plots";
const ISL = "Input Sequence Length";
const OSL = "Output Sequence Length";
const TTFT = "Time to First Token (ms)";
const MOST_CELLS = 24;
const FEWEST_CELLS = 5;

/** Returns the five plots, in GenAI-Perf's order. */
export function standardPlots(runs: readonly PlottedRun[]): PlotSet {
  return joinPlots([
    drawBox("Time to First Token", TTFT, "timeToFirstTokenNs", runs),
    drawBox("Request Latency", "Request Latency (ms)", "requestLatencyNs", runs),
    drawLengths(runs),
    drawFirstTokens(runs),
    drawGaps(runs),
  ]);
}

function drawBox(title: string, xLabel: string, metric: TokenMetric, runs: readonly PlottedRun[]): PlotSet {
  const lack = findLack(runs, metric);
  if (lack !== undefined) return leaveOut(title, lack);
  const samples = samplesOf(runs, metric);
  const series = samples.map(({ name, values }) => toBox(name, values));
  const drawn = series.reduce((sum, { points }) => sum + points.length, 0);
  const all = samples.reduce((sum, { values }) => sum + values.length, 0);
  const notes =
    drawn === all ? [] : [`The boxes are of all ${all} requests; of their points ${drawn} are drawn, at even ranks.`];
  return asSet({ kind: "box", title, xLabel, yLabel: "", group: GROUP, notes, series });
}

const MOST_BOX_POINTS = 500;
const WHISKER_REACH = 1.5;

/** Returns a sample's box. @param values not empty, without NaN */
export function toBox(name: string, values: Float64Array): BoxSeries {
  const sorted = values.toSorted();
  const [q1, median, q3] = [25, 50, 75].map((percentile) => percentileOf(sorted, percentile)) as [
    number,
    number,
    number,
  ];
  const reach = WHISKER_REACH * (q3 - q1);
  const low = sorted.find((value) => value >= q1 - reach) ?? q1;
  const high = sorted.findLast((value) => value <= q3 + reach) ?? q3;
  return {
    name,
    whiskers: [roundForPlot(low), roundForPlot(high)],
    quartiles: [roundForPlot(q1), roundForPlot(median), roundForPlot(q3)],
    points: pickEvenly(sorted, MOST_BOX_POINTS).map(roundForPlot),
  };
}

function drawLengths(runs: readonly PlottedRun[]): PlotSet {
  const title = "Distribution of Input Sequence Lengths to Output Sequence Lengths";
  const lack = findLack(runs, "inputTokens", "outputTokens");
  if (lack !== undefined) return leaveOut(title, lack);
  const pairs = runs.map(({ columns }) =>
    pairsOf(columns.metrics.inputTokens.view(), columns.metrics.outputTokens.view()),
  );
  const [columns, rows] = [0, 1].map((axis) =>
    binLengths(pairs.flatMap((all) => all.map((pair) => pair[axis] as number))),
  ) as [Bins, Bins];
  const panels = runs.map(({ name }, i): HeatMapPlot["panels"][number] => ({
    name,
    cells: countCells(pairs[i] as [number, number][], columns, rows),
  }));
  const names = (bins: Bins): string[] => Array.from({ length: bins.count }, (_, i) => nameBin(bins, i));
  const frame = { title, xLabel: ISL, yLabel: OSL, group: GROUP, notes: [] };
  return asSet({ kind: "heat-map", ...frame, columns: names(columns), rows: names(rows), panels });
}

/** Pairs the values of two columns in rows where both were measured. */
function pairsOf(xs: Float64Array, ys: Float64Array): [number, number][] {
  return Array.from(xs, (x, row): [number, number] => [x, ys[row] as number]).filter(
    ([x, y]) => !Number.isNaN(x) && !Number.isNaN(y),
  );
}

/** Adds cells around lengths that are all equal, so that they appear as one cell. */
function binLengths(lengths: readonly number[]): Bins {
  const least = lengths.reduce((least, length) => Math.min(least, length), Number.POSITIVE_INFINITY);
  const greatest = lengths.reduce((greatest, length) => Math.max(greatest, length), 0);
  const lacking = Math.max(0, FEWEST_CELLS - 1 - (greatest - least));
  const start = Math.max(0, least - Math.floor(lacking / 2));
  return binWhole(start, Math.max(greatest, start + FEWEST_CELLS - 1), MOST_CELLS);
}

function countCells(pairs: readonly [number, number][], columns: Bins, rows: Bins): [number, number, number][] {
  const counts = new Map<number, number>();
  for (const [x, y] of pairs) {
    const cell = findBin(columns, x) * rows.count + findBin(rows, y);
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
  }
  return [...counts]
    .sort(([a], [b]) => a - b)
    .map(([cell, count]) => [Math.floor(cell / rows.count), cell % rows.count, count]);
}

function drawFirstTokens(runs: readonly PlottedRun[]): PlotSet {
  const title = "Time to First Token vs Input Sequence Lengths";
  const lack = findLack(runs, "timeToFirstTokenNs", "inputTokens");
  if (lack !== undefined) return leaveOut(title, lack);
  const series = runs.map(({ name, columns }): XySeries => {
    const pairs = pairsOf(columns.metrics.inputTokens.view(), columns.metrics.timeToFirstTokenNs.view());
    return { name, style: "points", points: dropCovered(pairs.map(([x, y]) => [x, roundForPlot(y * MS_PER_NS)])) };
  });
  const all = runs.reduce((sum, { columns }) => sum + columns.count, 0);
  const frame = { title, xLabel: ISL, yLabel: TTFT, group: GROUP, notes: noteCovered(series, all, "requests") };
  return asSet({ kind: "xy", ...frame, series, isFromZero: false });
}

function drawGaps(runs: readonly PlottedRun[]): PlotSet {
  const title = "Token-to-Token Latency vs Output Token Position";
  const streamed = runs.filter(({ gaps }) => gaps !== undefined && gaps.count > 0);
  const lack =
    findLack(runs, "timeToFirstTokenNs") ??
    (streamed.length === 0 ? "no response came in more than one piece" : undefined);
  if (lack !== undefined) return leaveOut(title, lack);
  const toPoint = ({ position, gapNs }: { readonly position: number; readonly gapNs: number }): PlotPoint => [
    position,
    roundForPlot(gapNs * MS_PER_NS),
  ];
  const series = streamed.flatMap(({ name, gaps }): XySeries[] => [
    { name, style: "points", points: dropCovered(gaps?.gaps.map(toPoint) ?? []) },
    { name, style: "line", points: dropCovered(gaps?.means.map(toPoint) ?? []), isPartOfLast: true },
  ]);
  const all = streamed.reduce((sum, { gaps }) => sum + (gaps?.count ?? 0), 0);
  const notes = [
    "The line is the mean at each position.",
    ...noteBunched(streamed),
    ...noteCovered(series, all, "gaps"),
  ];
  const frame = { title, xLabel: "Output Token Position", yLabel: "Token-to-Token Latency (ms)", group: GROUP, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: false });
}

const BUNCHED_RATIO = 0.01;

/** Returns a note if reads contain several tokens: then a position is the position of a read. */
function noteBunched(runs: readonly PlottedRun[]): string[] {
  const isBunched = runs.some(({ columns }) => {
    const ratios = columns.metrics.bunchedRatio.measured();
    return ratios.length > 0 && ratios.reduce((sum, ratio) => sum + ratio, 0) > BUNCHED_RATIO * ratios.length;
  });
  return isBunched
    ? ["Some tokens came together: positions and gaps are those of the pieces that responses came in."]
    : [];
}

/** Returns at most `most` bins of integers whose width is 1, 2 or 5 times a power of ten. */
export function binWhole(least: number, greatest: number, most: number): Bins {
  const low = Math.floor(least);
  const high = Math.ceil(greatest);
  for (let power = 1; ; power *= 10)
    for (const factor of [1, 2, 5]) {
      const width = power * factor;
      const start = Math.floor(low / width) * width;
      const count = Math.floor((high - start) / width) + 1;
      if (count <= most) return { start, width, count };
    }
}

/** Returns the label of a bin of integers: `47`, `40–49`. */
export function nameBin({ start, width }: Bins, index: number): string {
  const low = start + index * width;
  return width === 1 ? String(low) : `${low}–${low + width - 1}`;
}
