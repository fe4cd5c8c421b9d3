import { percentileOf } from "../../measure/numpy-statistics.ts";
import { Timeline, type TimelineColumn } from "../../measure/timeline.ts";
import type { TokenMetric } from "../../measure/tokens/metrics.ts";
import { nsToSec, secToNs } from "../../plan/units.ts";
import {
  joinPlots,
  type PlotPoint,
  type PlotSet,
  type RequestSpan,
  roundForPlot,
  type XyPlot,
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
  SEC_PER_NS,
  samplesOf,
} from "./plotted-run.ts";

/** Distributions of requests' times, and their changes over the run. Times are seconds after the first send. */

const DISTRIBUTIONS = "Distributions";
const OVER_TIME = "Over time";
const TIME = "Time (s)";
const MOST_SLICES = 60;
const SHORTEST_SLICE_SEC = 0.5;
const FEWEST_SLICES = 3;
const MEDIAN_SLICES = 30;
const MOST_STEPS = 1_000;
const MOST_SPANS = 400;
/** Above this number of requests, draws a line through the medians of slices. */
const ENOUGH_FOR_MEDIANS = 200;

const REQUEST_TIMES: readonly (readonly [title: string, metric: TokenMetric])[] = [
  ["Time to First Token", "timeToFirstTokenNs"],
  ["Inter Token Latency", "interTokenLatencyNs"],
  ["Request Latency", "requestLatencyNs"],
];

/** Returns the distribution of each time. */
export function distributionPlots(runs: readonly PlottedRun[]): PlotSet {
  return joinPlots(
    REQUEST_TIMES.map(([name, metric]) => {
      const title = `Distribution of ${name}`;
      const lack = findLack(runs, metric);
      if (lack !== undefined) return leaveOut(title, lack);
      return asSet(toHistogram({ title, group: DISTRIBUTIONS }, `${name} (ms)`, samplesOf(runs, metric)));
    }),
  );
}

const FEWEST_BINS = 8;
const MOST_BINS = 60;
/** Above this number of values, clips the axis so that outliers do not flatten the rest. */
const ENOUGH_TO_CUT = 100;
const CUT_REACH = 3;
const MARKED_PERCENTILES = [50, 90, 99];

interface HistogramSample {
  readonly name: string;
  /** Not empty, without NaN. */
  readonly values: Float64Array;
}

/** Creates a histogram. A single sample has marks for its percentiles. @param label of the values, with the unit */
export function toHistogram(
  frame: Pick<XyPlot, "title" | "group">,
  label: string,
  samples: readonly HistogramSample[],
): XyPlot {
  const all = Float64Array.from(samples.flatMap(({ values }) => Array.from(values))).sort();
  const end = endOf(all);
  const bins = binNumbers(all, end);
  const beyond = all.length - all.filter((value) => value <= end).length;
  const { values } = samples[0] as HistogramSample;
  const sorted = values.toSorted();
  return {
    kind: "xy",
    ...frame,
    xLabel: label,
    yLabel: "Requests",
    series: samples.map((sample) => ({ name: sample.name, style: "area", points: countInto(bins, sample, end) })),
    marks:
      samples.length > 1
        ? []
        : MARKED_PERCENTILES.map((percentile) => ({
            x: roundForPlot(percentileOf(sorted, percentile)),
            label: `p${percentile}`,
          })),
    notes:
      beyond === 0
        ? []
        : [
            `${beyond} of ${all.length} values are above ${roundForPlot(end)} and not drawn; the greatest is ${roundForPlot(all.at(-1) as number)}.`,
          ],
    isFromZero: true,
  };
}

/** Returns the last value to draw. */
function endOf(sorted: Float64Array): number {
  const greatest = sorted.at(-1) as number;
  if (sorted.length < ENOUGH_TO_CUT) return greatest;
  const [p50, p99] = [50, 99].map((percentile) => percentileOf(sorted, percentile)) as [number, number];
  return Math.min(greatest, p99 + CUT_REACH * (p99 - p50));
}

/** Uses the square root of the sample size as the number of bins. */
function binNumbers(sorted: Float64Array, end: number): Bins {
  const start = sorted[0] as number;
  const range = end - start;
  if (range === 0) return { start: start - 0.5, width: 1, count: 1 };
  const count = Math.min(MOST_BINS, Math.max(FEWEST_BINS, Math.ceil(Math.sqrt(sorted.length))));
  return { start, width: range / count, count };
}

/** Returns steps: each bin's count at its start, and 0 at both ends. */
function countInto(bins: Bins, { values }: HistogramSample, end: number): [number, number][] {
  const counts = new Array<number>(bins.count).fill(0);
  for (const value of values)
    if (value <= end) counts[findBin(bins, value)] = (counts[findBin(bins, value)] as number) + 1;
  const edge = (index: number): number => roundForPlot(bins.start + index * bins.width);
  return [[edge(0), 0], ...counts.map((count, i): [number, number] => [edge(i), count]), [edge(bins.count), 0]];
}

/** Returns plots over time, with several runs overlaid. Bars of single requests are drawn only for a single run. */
export function timePlots(runs: readonly PlottedRun[]): PlotSet {
  return joinPlots([
    ...REQUEST_TIMES.map(([name, metric]) => drawOverTime(name, metric, runs)),
    drawInFlight(runs),
    drawThroughput(runs),
    ...(runs.length === 1 ? [drawSpans(runs[0] as PlottedRun)] : []),
  ]);
}

interface Times {
  readonly rows: readonly number[];
  readonly sends: Float64Array;
  readonly ends: Float64Array;
}

/** Returns a run's requests in the order of their sends, with times in seconds after the first send. */
function timesOf({ columns }: PlottedRun): Times {
  const sendsNs = columns.sendNs.view();
  const firstNs = sendsNs.reduce((least, sendNs) => Math.min(least, sendNs), Number.POSITIVE_INFINITY);
  const rows = Array.from(sendsNs.keys()).sort((a, b) => (sendsNs[a] as number) - (sendsNs[b] as number) || a - b);
  const sends = sendsNs.map((sendNs) => (sendNs - firstNs) * SEC_PER_NS);
  // Adds whole nanoseconds, so that a request sent when another ends does not appear to start earlier.
  const ends = sendsNs.map((sendNs, row) => (sendNs - firstNs + columns.metrics.requestLatencyNs.at(row)) * SEC_PER_NS);
  return { rows, sends, ends };
}

function drawOverTime(name: string, metric: TokenMetric, runs: readonly PlottedRun[]): PlotSet {
  const title = `${name} Over Time`;
  const lack = findLack(runs, metric);
  if (lack !== undefined) return leaveOut(title, lack);
  let all = 0;
  const series = runs.flatMap((run): XySeries[] => {
    const { rows, sends } = timesOf(run);
    const points = rows
      .map(
        (row, i): PlotPoint => [
          roundForPlot(sends[row] as number),
          roundForPlot(run.columns.metrics[metric].at(row) * MS_PER_NS),
          i + 1,
        ],
      )
      .filter(([, value]) => !Number.isNaN(value));
    all += points.length;
    const drawn: XySeries = { name: run.name, style: "points", points: dropCovered(points) };
    if (points.length < ENOUGH_FOR_MEDIANS) return [drawn];
    return [drawn, { name: run.name, style: "line", points: medianLine(points), isPartOfLast: true }];
  });
  const notes = noteCovered(series, all, "requests");
  if (series.some(({ style }) => style === "line"))
    notes.unshift(`The line is the median over 1/${MEDIAN_SLICES} of the run.`);
  const frame = { title, xLabel: "Time of Sending (s)", yLabel: `${name} (ms)`, group: OVER_TIME, notes };
  return asSet({ kind: "xy", ...frame, series, more: ["Request"], isFromZero: true });
}

/** Returns the median of each slice, at its middle. Slices without a request have no point. */
function medianLine(points: readonly PlotPoint[]): PlotPoint[] {
  const durationSec = (points.at(-1) as PlotPoint)[0];
  const slices = Array.from({ length: MEDIAN_SLICES }, (): number[] => []);
  for (const [sec, value] of points) slices[sliceOf(sec, durationSec, slices.length)]?.push(value);
  return slices.flatMap((values, i): PlotPoint[] => {
    if (values.length === 0) return [];
    const median = percentileOf(Float64Array.from(values).sort(), 50);
    return [[roundForPlot(((i + 0.5) * durationSec) / slices.length), roundForPlot(median)]];
  });
}

function sliceOf(sec: number, durationSec: number, count: number): number {
  return durationSec > 0 ? Math.min(count - 1, Math.floor((count * sec) / durationSec)) : 0;
}

function drawInFlight(runs: readonly PlottedRun[]): PlotSet {
  const title = "Requests in Flight Over Time";
  let isAveraged = false;
  const series = runs
    .filter(({ columns }) => columns.count > 0)
    .map((run): XySeries => {
      const times = timesOf(run);
      const { sends, ends } = times;
      const steps = countInFlight(sends.toSorted(), ends.toSorted());
      if (steps.length <= MOST_STEPS)
        return { name: run.name, style: "area", points: steps.map(([x, y]) => [roundForPlot(x), roundForPlot(y)]) };
      isAveraged = true;
      const points = columnsOf(times, MOST_STEPS, ({ meanOutstanding }) => meanOutstanding);
      return { name: run.name, style: "area", points: [...points, [roundForPlot(lastOf(ends)), 0]] };
    });
  if (series.length === 0) return leaveOut(title, "no request was answered");
  const notes = isAveraged ? [`Each step is the mean over 1/${MOST_STEPS} of the run.`] : [];
  const frame = { title, xLabel: TIME, yLabel: "Requests in Flight", group: OVER_TIME, notes };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true });
}

/** Returns the number of requests in flight from each time on. @param sends ascending @param ends ascending */
function countInFlight(sends: Float64Array, ends: Float64Array): [number, number][] {
  const steps: [number, number][] = [];
  for (let sent = 0, ended = 0; ended < ends.length; ) {
    const sendSec = sends[sent] ?? Number.POSITIVE_INFINITY;
    const endSec = ends[ended] as number;
    // An end precedes a send at the same time.
    if (sendSec < endSec) sent++;
    else ended++;
    const atSec = Math.min(sendSec, endSec);
    if (steps.at(-1)?.[0] === atSec) steps.pop();
    steps.push([atSec, sent - ended]);
  }
  return steps;
}

/** Returns a value for each of several equal parts of the run, at its start. */
function columnsOf({ sends, ends }: Times, count: number, pick: (column: TimelineColumn) => number): PlotPoint[] {
  const durationNs = secToNs(lastOf(ends));
  const timeline = new Timeline(0, { durationNs, mostColumns: count, columnNs: 1 });
  for (const [row, sendSec] of sends.entries()) timeline.addAnswered(secToNs(sendSec), secToNs(ends[row] as number));
  const columns = timeline.columns(durationNs);
  return columns.map((column) => [roundForPlot(nsToSec(column.startNs)), roundForPlot(pick(column))]);
}

function lastOf(ends: Float64Array): number {
  return ends.reduce((last, end) => Math.max(last, end), 0);
}

function drawThroughput(runs: readonly PlottedRun[]): PlotSet {
  const title = "Request Throughput Over Time";
  const series = runs.flatMap((run): XySeries[] => {
    const times = timesOf(run);
    const durationSec = lastOf(times.ends);
    const count = Math.min(MOST_SLICES, Math.floor(durationSec / SHORTEST_SLICE_SEC));
    if (count < FEWEST_SLICES) return [];
    const steps = columnsOf(
      times,
      count,
      ({ requestCount, startNs, endNs }) => requestCount / nsToSec(endNs - startNs),
    );
    return [{ name: run.name, style: "area", points: [...steps, [roundForPlot(durationSec), steps.at(-1)?.[1] ?? 0]] }];
  });
  if (series.length === 0) return leaveOut(title, `the run was shorter than ${FEWEST_SLICES * SHORTEST_SLICE_SEC} s`);
  const frame = { title, xLabel: TIME, yLabel: "Requests Ended per Second", group: OVER_TIME, notes: [] };
  return asSet({ kind: "xy", ...frame, series, isFromZero: true });
}

function drawSpans(run: PlottedRun): PlotSet {
  const title = "Request Timeline";
  const { rows, sends, ends } = timesOf(run);
  if (rows.length === 0) return leaveOut(title, "no request was answered");
  const { timeToFirstTokenNs } = run.columns.metrics;
  const spans = rows.slice(0, MOST_SPANS).map((row, i): RequestSpan => {
    const sendSec = sends[row] as number;
    const firstSec = sendSec + timeToFirstTokenNs.at(row) * SEC_PER_NS;
    return {
      number: i + 1,
      sendSec: roundForPlot(sendSec),
      firstTokenSec: run.isStreaming && !Number.isNaN(firstSec) ? roundForPlot(firstSec) : undefined,
      endSec: roundForPlot(ends[row] as number),
    };
  });
  const notes = rows.length > spans.length ? [`The first ${spans.length} of ${rows.length} requests.`] : [];
  return asSet({ kind: "spans", title, xLabel: TIME, yLabel: "Request", group: OVER_TIME, notes, spans });
}
