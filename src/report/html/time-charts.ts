import { nsToSec, nsToUs, secToNs } from "../../plan/units.ts";
import { MOST_PANELS_IN_ROW } from "../plots/heat-map-option.ts";
import {
  joinPlots,
  type Plot,
  type PlotPoint,
  type PlotSet,
  type TimeLinePanel,
  type XySeries,
} from "../plots/plot.ts";
import { asSet, leaveOut } from "../plots/plotted-run.ts";
import { roundForPlot } from "../plots/sample.ts";
import { timeLineHeightPx } from "../plots/time-line-option.ts";
import { binPercentileUs, binStartUs, type TraceColumn } from "./run-trace.ts";
import { gpuPanels } from "./server-charts.ts";
import { type ShownReport, type ShownRun, seriesName, type TimeUnit, timeUnitFor } from "./shown-run.ts";

/** The run over time: load, latency, errors and the server's metrics on one axis, the heat map of latencies, and the windows. */

/** The section of these charts. */
export const TIME_GROUP = "Over time";
const TIME = "Time since the start (s)";
const MOST_COLUMNS = 120;
const FEWEST_COLUMNS = 20;
/** Wanted requests per column of the time line. */
const REQUESTS_PER_COLUMN = 10;
/** Rows of the heat map for each factor of ten. */
const ROWS_PER_DECADE = 10;
const BINS_PER_ROW = 6;
/** More heat maps are too small. */
const MOST_PANELS = 6;
/** Height of heat maps in two rows. */
const TWO_ROWS_PX = 600;

/** Returns the charts over time. */
export function timePlots({ runs, unit }: ShownReport): PlotSet {
  return joinPlots([drawTimeLine(runs), drawHeatMap(runs), drawWindows(runs, unit)]);
}

/** Returns seconds since the run began for monotonic nanoseconds. */
function secondsOf({ startNs }: ShownRun, atNs: number): number {
  return roundForPlot(Math.max(0, nsToSec(atNs - startNs)));
}

function columnsOf({ follower }: ShownRun): TraceColumn[] {
  return follower.trace.columns(MOST_COLUMNS, FEWEST_COLUMNS, REQUESTS_PER_COLUMN);
}

/** Returns steps that hold each value until the next. */
function toSteps(run: ShownRun, columns: readonly TraceColumn[], pick: (column: TraceColumn) => number): PlotPoint[] {
  const shiftNs = run.follower.trace.startNs;
  const at = (sec: number): number => secondsOf(run, shiftNs + secToNs(sec));
  const points = columns.map((column): PlotPoint => [at(column.startSec), roundForPlot(pick(column))]);
  const last = columns.at(-1);
  return last === undefined ? points : [...points, [at(last.endSec), points.at(-1)?.[1] ?? 0]];
}

/** Returns a point in the middle of each column that has a value. */
function toLine(
  run: ShownRun,
  columns: readonly TraceColumn[],
  pick: (column: TraceColumn) => number | undefined,
): PlotPoint[] {
  const shiftNs = run.follower.trace.startNs;
  return columns.flatMap((column): PlotPoint[] => {
    const value = pick(column);
    if (value === undefined || Number.isNaN(value)) return [];
    return [[secondsOf(run, shiftNs + secToNs((column.startSec + column.endSec) / 2)), roundForPlot(value)]];
  });
}

function drawTimeLine(runs: readonly ShownRun[]): PlotSet {
  const title = "Time Line";
  const traced = runs.map((run) => ({ run, columns: columnsOf(run) })).filter(({ columns }) => columns.length > 0);
  const [first] = traced;
  if (first === undefined) return leaveOut(title, "no request ended");
  const perSec =
    (count: (column: TraceColumn) => number) =>
    (column: TraceColumn): number =>
      count(column) / (column.endSec - column.startSec);
  const percentiles = runs.length === 1 ? [50, 99] : [99];
  const mostUs = Math.max(
    ...traced.flatMap(({ columns }) => columns.map(({ bins }) => binPercentileUs(bins, 99) ?? 0)),
  );
  const time = timeUnitFor(mostUs);
  const seriesOf = (
    what: string,
    style: XySeries["style"],
    draw: (one: (typeof traced)[number]) => PlotPoint[],
  ): XySeries[] => traced.map((one) => ({ name: one.run.name === "" ? what : one.run.name, style, points: draw(one) }));
  const hasFailures = traced.some(({ columns }) => columns.some(({ failedCount }) => failedCount > 0));
  const panels: TimeLinePanel[] = [
    {
      label: "Requests completed per second",
      series: [
        ...seriesOf("completed", "steps", ({ run, columns }) =>
          toSteps(
            run,
            columns,
            perSec(({ requestCount }) => requestCount),
          ),
        ),
      ],
    },
    ...(hasFailures
      ? [
          {
            label: "Requests failed per second",
            series: seriesOf("failed", "steps", ({ run, columns }) =>
              toSteps(
                run,
                columns,
                perSec(({ failedCount }) => failedCount),
              ),
            ),
          },
        ]
      : []),
    {
      label: "Requests in flight",
      series: seriesOf("in flight", "steps", ({ run, columns }) =>
        toSteps(run, columns, ({ inFlightMean }) => inFlightMean),
      ),
    },
    ...(mostUs > 0
      ? [
          {
            label: `Latency${runs.length === 1 ? "" : ", p99"} (${time.name})`,
            series: percentiles.flatMap((percentile) =>
              seriesOf(`p${percentile}`, "line", ({ run, columns }) =>
                toLine(run, columns, ({ bins }) => {
                  const us = binPercentileUs(bins, percentile);
                  return us === undefined ? undefined : us / time.us;
                }),
              ),
            ),
          },
        ]
      : []),
    ...(runs.length === 1 ? [...serverPanels(first.run), ...gpuPanels(first.run, secondsOf)] : []),
  ];
  const widthSec = roundForPlot((first.columns[0]?.endSec ?? 0) - (first.columns[0]?.startSec ?? 0));
  const notes = [
    `Each step is ${widthSec} s, with all requests of the run, also those of warm-ups and between windows. Percentiles of steps are exact to 2 %.`,
    ...(runs.length > 1 ? ["The runs are drawn over each other, each from its own start."] : []),
  ];
  const spans = runs.length === 1 ? spansOf(first.run) : [];
  return timeLineOf(title, notes, panels, spans);
}

type TimeLine = Extract<Plot, { kind: "time-line" }>;

/** Makes a wide chart of panels below each other on one time axis. */
function timeLineOf(
  title: string,
  notes: readonly string[],
  panels: TimeLine["panels"],
  spans: TimeLine["spans"],
): PlotSet {
  const heightPx = timeLineHeightPx(panels.length);
  const frame = { title, xLabel: TIME, yLabel: "", group: TIME_GROUP, notes, heightPx, isWide: true } as const;
  return asSet({ kind: "time-line", ...frame, panels, spans });
}

function spansOf(run: ShownRun): Extract<Plot, { kind: "time-line" }>["spans"] {
  return run.follower.spans.map(({ label, isWarmup, startNs, endNs }) => ({
    label: isWarmup ? "warm-up" : label,
    isWarmup,
    startSec: secondsOf(run, startNs),
    endSec: secondsOf(run, endNs ?? run.startNs + run.result.durationNs),
  }));
}

/** Draws the server's times by window; nothing for a server without statistics. */
function serverPanels(run: ShownRun): TimeLinePanel[] {
  const windows = run.follower.windows.filter(({ server }) => server !== undefined);
  if (windows.length < 2) return [];
  const mostUs = Math.max(...windows.map(({ server }) => Math.max(server?.queueUs ?? 0, server?.computeUs ?? 0)));
  const time = timeUnitFor(mostUs);
  const lineOf = (name: string, pick: (server: { queueUs: number; computeUs: number }) => number): XySeries => ({
    name,
    style: "line",
    points: windows.flatMap(({ startNs, endNs, server }) =>
      server === undefined
        ? []
        : [startNs, endNs].map((atNs): PlotPoint => [secondsOf(run, atNs), roundForPlot(pick(server) / time.us)]),
    ),
  });
  return [
    {
      label: `In the server, average by window (${time.name})`,
      series: [
        lineOf("server queue", ({ queueUs }) => queueUs),
        lineOf("server compute", ({ computeUs }) => computeUs),
      ],
    },
  ];
}

function drawHeatMap(runs: readonly ShownRun[]): PlotSet {
  const title = "Latency Over Time";
  const traced = runs.slice(0, MOST_PANELS).map((run) => ({ run, columns: columnsOf(run) }));
  const used = traced.flatMap(({ columns }) => columns.flatMap(({ bins }) => usedRows(bins)));
  if (used.length === 0) return leaveOut(title, "no request succeeded");
  const [low, high] = used.reduce(
    ([least, most], row) => [Math.min(least, row), Math.max(most, row)],
    [Number.POSITIVE_INFINITY, 0],
  );
  const time = timeUnitFor(binStartUs((high + 1) * BINS_PER_ROW));
  const rowName = (row: number): string => String(Number((binStartUs(row * BINS_PER_ROW) / time.us).toPrecision(3)));
  const widthSec = Math.max(
    ...traced.map(({ columns: [first] }) => (first === undefined ? 0 : first.endSec - first.startSec)),
  );
  const columnOf = ({ startSec }: TraceColumn): number => Math.floor(startSec / widthSec + 1e-9);
  const panels = traced.map(({ run, columns }) => ({ name: run.name, cells: toCells(columns, columnOf, low) }));
  const last = Math.max(
    ...traced.map(({ columns }) => columns.reduce((most, column) => Math.max(most, columnOf(column)), 0)),
  );
  const offsetSec = Math.max(0, nsToSec((traced[0]?.run.follower.trace.startNs ?? 0) - (traced[0]?.run.startNs ?? 0)));
  const digits = Math.max(0, Math.ceil(-Math.log10(widthSec)));
  const columns = Array.from({ length: last + 1 }, (_, i) => (offsetSec + i * widthSec).toFixed(digits));
  const rows = Array.from({ length: high - low + 1 }, (_, i) => rowName(low + i));
  const frame = { title, xLabel: TIME, yLabel: `Latency from (${time.name})`, group: TIME_GROUP, isWide: true };
  const notes = [
    `Each cell counts the requests of ${roundForPlot(widthSec)} s with latencies from the row's value to the next. Rows are ${ROWS_PER_DECADE} for each factor of ten.`,
    ...(runs.length > MOST_PANELS ? [`The first ${MOST_PANELS} of ${runs.length} runs.`] : []),
  ];
  const room = panels.length > MOST_PANELS_IN_ROW ? { heightPx: TWO_ROWS_PX } : {};
  return asSet({ kind: "heat-map", ...frame, ...room, notes, columns, rows, panels });
}

/** Counts the requests in cells of time and latency. @param low the lowest row */
function toCells(
  columns: readonly TraceColumn[],
  columnOf: (column: TraceColumn) => number,
  low: number,
): [column: number, row: number, count: number][] {
  const cells = new Map<string, [number, number, number]>();
  for (const column of columns)
    for (const [row, count] of countRows(column.bins)) {
      const at = columnOf(column);
      const key = `${at} ${row}`;
      cells.set(key, [at, row - low, (cells.get(key)?.[2] ?? 0) + count]);
    }
  return [...cells.values()];
}

function usedRows(bins: Uint32Array): number[] {
  return [...countRows(bins).keys()];
}

function countRows(bins: Uint32Array): Map<number, number> {
  const rows = new Map<number, number>();
  for (const [bin, count] of bins.entries()) {
    if (count === 0) continue;
    const row = Math.floor(bin / BINS_PER_ROW);
    rows.set(row, (rows.get(row) ?? 0) + count);
  }
  return rows;
}

function drawWindows(runs: readonly ShownRun[], unit: string): PlotSet {
  const title = "Windows and Stability";
  const windowed = runs.filter(({ follower }) => follower.windows.some(({ trial }) => trial > 1));
  if (windowed.length === 0) return leaveOut(title, "each level was measured in one window");
  const mostNs = Math.max(...windowed.flatMap(({ follower }) => follower.windows.map(({ latencyNs }) => latencyNs)));
  const time: TimeUnit = timeUnitFor(nsToUs(mostNs));
  const seriesOf = (what: string, pick: (window: ShownRun["follower"]["windows"][number]) => number): XySeries[] =>
    windowed.map((run) => ({
      name: seriesName(run, what),
      style: "line",
      points: run.follower.windows.map((window) => [
        secondsOf(run, (window.startNs + window.endNs) / 2),
        roundForPlot(pick(window)),
      ]),
    }));
  const panels = [
    { label: `Throughput (${unit})`, series: seriesOf("throughput", (window) => window.inferPerSec) },
    { label: `Latency (${time.name})`, series: seriesOf("latency", (window) => nsToUs(window.latencyNs) / time.us) },
  ];
  const [only] = windowed;
  const spans = runs.length === 1 && only !== undefined ? spansOf(only) : [];
  const notes = [
    "Each point is a window. A level is stable when its last three windows differ by no more than the tolerance.",
  ];
  return timeLineOf(title, notes, panels, spans);
}
