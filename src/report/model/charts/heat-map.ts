import type { CellScale, Plot } from "../../plots/plot.ts";
import { BINS_PER_DECADE } from "../../schema/over-time.ts";
import { binStartUs, type ChartSource, type TimeColumn, timeUnitFor } from "./chart-source.ts";
import { TIME, timedRuns, widthOf } from "./time-charts.ts";

/** The heat map of latencies over time. */

/** Wanted rows, whether latencies differ by a few percent or a factor of thousand. */
const MOST_ROWS = 24;
/** Bins that a row may have: a part of a decade, so that rows are 1 % to a factor of ten. */
const ROW_BINS = [1, 2, 3, 5, 10, 20, 30, 60, 120, 240];
/** More heat maps are too small. */
const MOST_PANELS = 6;
const MOST_PANELS_IN_ROW = 3;
/** Height of heat maps in two rows. */
const TWO_ROWS_PX = 600;

/** Draws the heat map; nothing for runs that were not followed. */
export function heatMap(source: ChartSource): Plot[] {
  const all = timedRuns(source);
  const runs = all.slice(0, MOST_PANELS);
  const bins = runs.flatMap(({ times }) => times.columns.flatMap(({ latencyBins }) => latencyBins.map(([bin]) => bin)));
  if (bins.length === 0) return [];
  const [lowest, highest] = bins.reduce(
    ([a, b], bin) => [Math.min(a, bin), Math.max(b, bin)],
    [Number.POSITIVE_INFINITY, 0],
  );
  const rowBins =
    ROW_BINS.find((size) => Math.floor(highest / size) - Math.floor(lowest / size) < MOST_ROWS) ?? BINS_PER_DECADE;
  const [low, high] = [Math.floor(lowest / rowBins), Math.floor(highest / rowBins)];
  const time = timeUnitFor(binStartUs((high + 1) * rowBins));
  const at = (row: number): number => binStartUs(row * rowBins) / time.us;
  const rows = Array.from({ length: high - low + 1 }, (_, i) => `${short(at(low + i))} to ${short(at(low + i + 1))}`);
  const scale = { from: at(low), to: at(high + 1), isLog: true, ticks: niceTicks(at(low), at(high + 1)) };
  const firstColumns = runs.flatMap(
    ({
      times: {
        columns: [first],
      },
    }) => first ?? [],
  );
  const startSec = Math.min(...firstColumns.map((column) => column.startSec));
  const widthSec = widthOf(runs);
  const columnOf = (column: TimeColumn): number => Math.floor((column.startSec - startSec) / widthSec + 1e-9);
  const last = Math.max(...runs.flatMap(({ times }) => times.columns.map(columnOf)));
  const edge = (column: number): number => startSec + column * widthSec;
  const columns = Array.from({ length: last + 1 }, (_, i) => `${short(edge(i))} to ${short(edge(i + 1))}`);
  const notes = [
    `Each cell counts the requests of ${Number(widthSec.toPrecision(2))} s in a range of latencies: a factor of ${Number((10 ** (rowBins / BINS_PER_DECADE)).toPrecision(3))}.`,
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
      yScale: scale,
      panels: runs.map(({ run, times }) => ({ name: run.name, cells: toCells(times.columns, columnOf, rowBins, low) })),
    },
  ];
}

function short(value: number): string {
  return String(Number(value.toPrecision(3)));
}

/** Counts the requests in cells of time and latency. @param low the lowest row */
function toCells(
  columns: readonly TimeColumn[],
  columnOf: (column: TimeColumn) => number,
  rowBins: number,
  low: number,
): [column: number, row: number, count: number][] {
  const cells = new Map<string, [number, number, number]>();
  for (const column of columns)
    for (const [bin, count] of column.latencyBins) {
      const [x, y] = [columnOf(column), Math.floor(bin / rowBins) - low];
      const key = `${x} ${y}`;
      cells.set(key, [x, y, (cells.get(key)?.[2] ?? 0) + count]);
    }
  return [...cells.values()];
}

/** Returns ticks of 1, 2 and 5 times powers of ten, or where there are less than three, of steps of these sizes. */
export function niceTicks(from: number, to: number): NonNullable<CellScale["ticks"]> {
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
