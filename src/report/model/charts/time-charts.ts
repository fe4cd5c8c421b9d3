import { bucketStartNs, compactBuckets, ExponentialHistogram, SCALE } from "../../../measure/exponential-histogram.ts";
import type { Gauge } from "../../../measure/metrics/server-gauges.ts";
import { nsToUs } from "../../../plan/units.ts";
import {
  type CellScale,
  type Extent,
  type Plot,
  type PlotPoint,
  roundForPlot,
  type TimeLinePanel,
  type TimeLinePlot,
  type XySeries,
} from "../../plot.ts";
import type { OverTimeJson } from "../../schema/over-time.ts";
import { type NamedRun, nameInRun, type ReportView } from "../report-view.ts";
import { timeUnitFor } from "../values.ts";

/** The run over time: latency, load, errors and the server's metrics on one axis, and the windows. */

const TIME = "Time since the start (s)";
/** Latencies that spread by more than this factor have a logarithmic axis. */
const LOG_FROM = 20;

interface TimedRun {
  readonly run: NamedRun;
  readonly times: RunTimes;
}

interface RunTimes extends Omit<OverTimeJson, "timeline"> {
  readonly columns: readonly TimeColumn[];
}

interface TimeColumn extends Omit<OverTimeJson["timeline"][number], "latencyBuckets"> {
  readonly latency: ExponentialHistogram;
}

/** Returns the runs that have a timeline. Files of earlier versions have none. */
export function timedRuns({ runs }: Pick<ReportView, "runs">): TimedRun[] {
  return runs.flatMap((run) => {
    const { overTime } = run.json;
    return overTime === undefined || overTime.timeline.length === 0 ? [] : [{ run, times: toRunTimes(overTime) }];
  });
}

/** Reads a run over time from JSON. */
export function toRunTimes({ timeline, ...rest }: OverTimeJson): RunTimes {
  const columns = timeline.map(({ latencyBuckets, ...interval }) => ({
    ...interval,
    latency: ExponentialHistogram.parse(latencyBuckets),
  }));
  return { ...rest, columns };
}

/** Draws the timeline; empty for runs that were not followed. */
export function timeLine(view: ReportView): Plot[] {
  const runs = timedRuns(view);
  const [first] = runs;
  if (first === undefined) return [];
  const isOne = view.runs.length === 1;
  const { spans } = first.times;
  const hasFailures = runs.some(({ times }) => times.columns.some(({ failed }) => failed > 0));
  const steps = (what: string, meaning: XySeries["meaning"], pick: (column: TimeColumn) => number): XySeries[] =>
    runs.map(({ run, times }) => ({
      name: isOne ? what : run.name,
      style: "steps",
      ...(isOne ? { meaning } : {}),
      points: toSteps(times.columns, pick),
    }));
  const rates = (what: "completed" | "failed", meaning: XySeries["meaning"]): TimeLinePanel => ({
    label: `Requests ${what} per second`,
    series: steps(what, meaning, (column) => column[what] / (column.endSec - column.startSec)),
  });
  const panels: TimeLinePanel[] = [
    ...latencyPanel(runs, isOne),
    rates("completed", "throughput"),
    ...(hasFailures ? [rates("failed", "failed")] : []),
    { label: "Requests in flight", series: steps("in flight", "inFlight", ({ inFlightMean }) => inFlightMean) },
    ...(isOne ? [...serverPanel(first), ...gpuPanels(first)] : []),
  ];
  const stalls = isOne ? stallsOf(first.run) : [];
  const widthSec = widthOf(runs);
  const notes = [
    `Each step is ${Number(widthSec.toPrecision(2))} s and has all requests of the run, also those of warm-ups and between windows. Percentiles of steps are exact to 0.6 %.`,
    ...(isOne ? [] : ["The runs are drawn over each other, each from its own start."]),
    ...(stalls.length === 0 ? [] : [`Red: nothing completed ${stalls.map(describeStall).join(", ")}.`]),
  ];
  return [timeLineOf("Time line", notes, panels, isOne ? spans : [], stalls)];
}

/** Returns the width of columns in seconds. The first column may be cut by the start of the run, and the last one by its end. */
function widthOf(runs: readonly TimedRun[]): number {
  return Math.max(
    ...runs.map(({ times: { columns } }) => {
      const { startSec, endSec } = (columns.length > 2 ? columns[1] : columns[0]) as TimeColumn;
      return endSec - startSec;
    }),
  );
}

/** Returns the times in which no request completed for much longer than usual. */
function stallsOf({ json: { levels } }: NamedRun): Extent[] {
  return levels.flatMap(({ gaps = [] }) => gaps.map(({ startSec, endSec }) => ({ from: startSec, to: endSec })));
}

function describeStall({ from, to }: Extent): string {
  return `from ${from.toFixed(1)} s to ${to.toFixed(1)} s`;
}

/** Returns steps, each of which continues until the next value. */
function toSteps(columns: readonly TimeColumn[], pick: (column: TimeColumn) => number): PlotPoint[] {
  const points = columns.map((column): PlotPoint => [roundForPlot(column.startSec), roundForPlot(pick(column))]);
  const last = columns.at(-1);
  return last === undefined ? points : [...points, [roundForPlot(last.endSec), points.at(-1)?.[1] ?? 0]];
}

function latencyPanel(runs: readonly TimedRun[], isOne: boolean): TimeLinePanel[] {
  const valuesUs = runs.flatMap(({ times }) =>
    times.columns.flatMap(({ latency }) => latency.quantiles([0.99])?.map(nsToUs) ?? []),
  );
  if (valuesUs.length === 0) return [];
  const [leastUs, mostUs] = [Math.min(...valuesUs), Math.max(...valuesUs)];
  const isLog = mostUs > LOG_FROM * leastUs;
  const time = timeUnitFor(isLog ? Math.sqrt(leastUs * mostUs) : mostUs);
  const line = ({ run, times }: TimedRun, percentile: 50 | 99): XySeries => ({
    name: isOne ? `p${percentile}` : run.name,
    style: "line",
    ...(isOne ? { meaning: `p${percentile}` as const } : {}),
    breaks: stallsOf(run),
    points: times.columns.flatMap(({ startSec, endSec, latency }): PlotPoint[] =>
      (latency.quantiles([percentile / 100]) ?? []).map((ns) => [
        roundForPlot((startSec + endSec) / 2),
        roundForPlot(nsToUs(ns) / time.us),
      ]),
    ),
  });
  const series = isOne ? runs.flatMap((run) => [line(run, 50), line(run, 99)]) : runs.map((run) => line(run, 99));
  return [{ label: `Latency${isOne ? "" : ", p99"} (${time.name})`, series, isLog }];
}

/** Creates a wide chart of panels below each other with a shared time axis. */
function timeLineOf(
  title: string,
  notes: readonly string[],
  panels: readonly TimeLinePanel[],
  spans: TimeLinePlot["spans"],
  stalls: readonly Extent[] = [],
): Plot {
  const frame = { title, xLabel: TIME, yLabel: "", group: "", notes, isWide: true } as const;
  return { kind: "time-line", ...frame, panels, spans, stalls };
}

/** Draws the server's times by window; empty for a server without statistics. */
function serverPanel({ times }: TimedRun): TimeLinePanel[] {
  const windows = times.windows.flatMap(({ server, ...window }) =>
    server === undefined ? [] : [{ ...window, server }],
  );
  if (windows.length < 2) return [];
  const time = timeUnitFor(Math.max(...windows.map(({ server }) => Math.max(server.queueUs, server.computeUs))));
  const line = (name: string, pick: (server: { queueUs: number; computeUs: number }) => number): XySeries => ({
    name,
    style: "line",
    points: windows.flatMap(({ startSec, endSec, server }) =>
      [startSec, endSec].map((sec): PlotPoint => [roundForPlot(sec), roundForPlot(pick(server) / time.us)]),
    ),
  });
  const series = [line("server queue", ({ queueUs }) => queueUs), line("server compute", ({ computeUs }) => computeUs)];
  return [{ label: `In the server, mean by window (${time.name})`, series }];
}

/** GPU metrics over time, with the factor to the unit of the chart. */
const GPU_PANELS: readonly (readonly [metric: Gauge, what: string, label: string, scale: number])[] = [
  ["gpuUtilizationRatio", "busy", "GPU busy (%)", 100],
  ["gpuPowerWatts", "power", "GPU power (W)", 1],
  ["gpuMemoryUsedBytes", "memory", "GPU memory used (GB)", 1e-9],
];

function gpuPanels({ times }: TimedRun): TimeLinePanel[] {
  return GPU_PANELS.flatMap(([metric, what, label, scale]) => {
    const read = times.gpus.flatMap(({ uuid, atSec, [metric]: values }) =>
      values === undefined ? [] : [{ uuid, atSec, values }],
    );
    if (read.length === 0) return [];
    const series = read.map(
      ({ uuid, atSec, values }): XySeries => ({
        name: read.length === 1 ? `GPU ${what}` : `${uuid} ${what}`,
        style: "line",
        points: atSec.map((sec, i): PlotPoint => [roundForPlot(sec), roundForPlot((values[i] ?? 0) * scale)]),
      }),
    );
    return [{ label, series }];
  });
}

/** Draws throughput and latency of each window; empty if each level was measured in a single window. */
export function windowCharts(view: ReportView): Plot[] {
  const windowed = timedRuns(view).filter(({ times }) => times.windows.some(({ index }) => index > 1));
  const [first] = windowed;
  if (first === undefined) return [];
  const isOne = view.runs.length === 1;
  const time = timeUnitFor(
    Math.max(...windowed.flatMap(({ times }) => times.windows.map(({ latencyUs }) => latencyUs))),
  );
  type Pick = (window: RunTimes["windows"][number]) => number;
  const series = (what: string, pick: Pick, meaning?: XySeries["meaning"]): XySeries[] =>
    windowed.map(({ run, times }) => ({
      name: nameInRun(run.name, what),
      style: "line",
      ...(isOne && meaning !== undefined ? { meaning } : {}),
      points: times.windows.map((window) => [
        roundForPlot((window.startSec + window.endSec) / 2),
        roundForPlot(pick(window)),
      ]),
    }));
  const panels = [
    {
      label: `Throughput (${view.words.unit})`,
      series: series("throughput", ({ throughputPerSec }) => throughputPerSec, "throughput"),
    },
    { label: `Latency (${time.name})`, series: series("latency", ({ latencyUs }) => latencyUs / time.us) },
  ];
  const notes = [
    "Each point is a window. A level is stable when its last three windows differ by no more than the tolerance.",
  ];
  return [timeLineOf("Windows and stability", notes, panels, isOne ? first.times.spans : [])];
}

/** The heat map of latencies over time. */

/** Target number of rows, whether latencies differ by a few percent or by a factor of a thousand. */
const MOST_ROWS = 24;
/** With more heat maps, each would be too small. */
const MOST_PANELS = 6;
const MOST_PANELS_IN_ROW = 3;
/** Height of heat maps in two rows. */
const TWO_ROWS_PX = 600;

/** Draws the heat map; empty for runs that were not followed. */
export function heatMap(view: ReportView): Plot[] {
  const all = timedRuns(view);
  const runs = all.slice(0, MOST_PANELS);
  const total = new ExponentialHistogram();
  for (const { times } of runs) for (const { latency } of times.columns) total.addAll(latency);
  if (total.count === 0) return [];
  const { scale, offset, counts } = compactBuckets(total, MOST_ROWS);
  const startUs = (row: number): number => nsToUs(bucketStartNs(offset + row, scale));
  const time = timeUnitFor(startUs(counts.length));
  const at = (row: number): number => startUs(row) / time.us;
  const rows = counts.map((_, row) => `${short(at(row))} to ${short(at(row + 1))}`);
  const [from, to] = [at(0), at(counts.length)];
  const widthSec = widthOf(runs);
  const last = Math.max(...runs.flatMap(({ times }) => times.columns.map(placesOf(times.columns, widthSec))));
  const firstEndSec = runs[0]?.times.columns[0]?.endSec ?? 0;
  const edge = (column: number): number => Math.max(0, firstEndSec + (column - 1) * widthSec);
  const columns = Array.from({ length: last + 1 }, (_, i) => `${short(edge(i))} to ${short(edge(i + 1))}`);
  const notes = [
    `Each cell counts the requests of ${Number(widthSec.toPrecision(2))} s in a range of latencies: a factor of ${short(2 ** (1 / 2 ** scale))}.`,
    ...(all.length > runs.length ? [`The first ${runs.length} of ${all.length} runs.`] : []),
  ];
  const frame = { title: "Latency over time", xLabel: TIME, yLabel: `Latency (${time.name})`, group: "", isWide: true };
  return [
    {
      kind: "heat-map",
      ...frame,
      ...(runs.length > MOST_PANELS_IN_ROW ? { heightPx: TWO_ROWS_PX } : {}),
      notes,
      columns,
      rows,
      xScale: { from: edge(0), to: edge(last + 1), isLog: false },
      yScale: { from, to, isLog: true, ticks: niceTicks(from, to) },
      panels: runs.map(({ run, times }) => ({
        name: run.name,
        cells: toCells(times.columns, widthSec, scale, offset),
      })),
    },
  ];
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Returns a function from each column of a timeline to its column of the map. The first column may be cut by the start of the run. */
function placesOf([first]: readonly TimeColumn[], widthSec: number): (column: TimeColumn) => number {
  const firstEndSec = first?.endSec ?? 0;
  return ({ startSec }) => (startSec < firstEndSec ? 0 : 1 + Math.floor((startSec - firstEndSec) / widthSec + 1e-9));
}

/** Counts the requests in cells of time and latency. @param scale scale of the rows @param offset index of the lowest row */
function toCells(
  columns: readonly TimeColumn[],
  widthSec: number,
  scale: number,
  offset: number,
): [column: number, row: number, count: number][] {
  const placeOf = placesOf(columns, widthSec);
  const cells = new Map<string, [number, number, number]>();
  for (const column of columns)
    for (const [bucket, count] of column.latency.counts.entries()) {
      if (count === 0) continue;
      const [x, y] = [placeOf(column), ((column.latency.offset + bucket) >> (SCALE - scale)) - offset];
      const key = `${x} ${y}`;
      cells.set(key, [x, y, (cells.get(key)?.[2] ?? 0) + count]);
    }
  return [...cells.values()];
}

/** Returns ticks of 1, 2 and 5 times powers of ten; if there are fewer than three, ticks at steps of these sizes. */
function niceTicks(from: number, to: number): NonNullable<CellScale["ticks"]> {
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(from)); 10 ** power <= to; power++)
    for (const factor of [1, 2, 5]) {
      const tick = Number((factor * 10 ** power).toPrecision(3));
      if (tick >= from && tick <= to) ticks.push(tick);
    }
  return ticks.length >= 3 ? ticks : evenTicks(from, to);
}

const FEWEST_STEPS = 3;

function evenTicks(from: number, to: number): number[] {
  const raw = (to - from) / FEWEST_STEPS;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([5, 2, 1].find((factor) => factor * power <= raw) ?? 1) * power;
  const first = Math.ceil(from / step - 1e-9);
  return Array.from({ length: Math.floor(to / step + 1e-9) - first + 1 }, (_, i) =>
    Number(((first + i) * step).toPrecision(6)),
  );
}
