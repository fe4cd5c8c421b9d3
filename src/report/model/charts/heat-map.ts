import { bucketStartNs, compactBuckets, ExponentialHistogram, SCALE } from "../../../measure/exponential-histogram.ts";
import { nsToUs } from "../../../plan/units.ts";
import type { CellScale, Plot } from "../../plot.ts";
import type { ReportView } from "../report-view.ts";
import { timeUnitFor } from "../values.ts";
import { TIME, type TimeColumn, timedRuns, widthOf } from "./time-charts.ts";

/** The heat map of latencies over time. */

/** Wanted rows, whether latencies differ by a few percent or a factor of thousand. */
const MOST_ROWS = 24;
/** More heat maps are too small. */
const MOST_PANELS = 6;
const MOST_PANELS_IN_ROW = 3;
/** Height of heat maps in two rows. */
const TWO_ROWS_PX = 600;

/** Draws the heat map; nothing for runs that were not followed. */
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

/** Returns in which column of the map each column of a time line is. The first one may be cut by the start of the run. */
function placesOf([first]: readonly TimeColumn[], widthSec: number): (column: TimeColumn) => number {
  const firstEndSec = first?.endSec ?? 0;
  return ({ startSec }) => (startSec < firstEndSec ? 0 : 1 + Math.floor((startSec - firstEndSec) / widthSec + 1e-9));
}

/** Counts the requests in cells of time and latency. @param scale that of the rows @param offset index of the lowest row */
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
