import type { TokenMetric } from "../../measure/tokens/metrics.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import type { GapSummary } from "../../measure/tokens/token-gaps.ts";
import { nsToMs, nsToSec } from "../../plan/units.ts";
import type { PlotPoint, PlotSet, XySeries } from "../plot.ts";

/** Data for GenAI-Perf's plots, and thinning of large samples. */

/** A run whose requests are plotted. */
export interface PlottedRun {
  /** Name in legends. Like in GenAI-Perf, the name of the export without extension: `profile_export`. */
  readonly name: string;
  readonly columns: TokenColumns;
  /** Undefined if not collected. */
  readonly gaps?: GapSummary | undefined;
  /** Whether responses were streamed. Otherwise there is no first token to plot. */
  readonly isStreaming: boolean;
}

export const MS_PER_NS = nsToMs(1);
export const SEC_PER_NS = nsToSec(1);

/** Returns a set without plots, with the reason. */
export function leaveOut(title: string, reason: string): PlotSet {
  return { plots: [], leftOut: [{ title, reason }] };
}

/** Returns a set of plots. */
export function asSet(...plots: PlotSet["plots"]): PlotSet {
  return { plots, leftOut: [] };
}

/** Returns the data that is missing to plot a metric; undefined if it is complete. */
export function findLack(runs: readonly PlottedRun[], ...metrics: readonly TokenMetric[]): string | undefined {
  const needsStream = metrics.includes("timeToFirstTokenNs") || metrics.includes("interTokenLatencyNs");
  if (needsStream && !runs.some(({ isStreaming }) => isStreaming))
    return "the responses were not streamed, so no token has a time of its own";
  for (const metric of metrics)
    if (!runs.some(({ columns }) => !columns.metrics[metric].isEmpty)) return LACKS[metric] ?? "it was not measured";
  return undefined;
}

const LACKS: Partial<Readonly<Record<TokenMetric, string>>> = {
  inputTokens: "input tokens were not counted, as there was no tokenizer",
  outputTokens: "output tokens were not counted, as there was no tokenizer",
  interTokenLatencyNs: "no response came in more than one piece with more than one counted token",
};

/** Returns the runs that have a time metric, with its values in milliseconds. */
export function samplesOf(
  runs: readonly PlottedRun[],
  metric: TokenMetric,
): { readonly name: string; readonly values: Float64Array }[] {
  return runs
    .map(({ name, columns }) => ({
      name,
      values: columns.metrics[metric].measured().map((value) => value * MS_PER_NS),
    }))
    .filter(({ values }) => values.length > 0);
}

/** Intervals of equal width on an axis. */
export interface Bins {
  readonly start: number;
  readonly width: number;
  readonly count: number;
}

/** Returns the bin of a value. Values outside of all bins are in the first or last bin. */
export function findBin({ start, width, count }: Bins, value: number): number {
  return Math.min(count - 1, Math.max(0, Math.floor((value - start) / width)));
}

/** Number of cells of the grid, horizontally and vertically. */
const GRID = [240, 160] as const;

/** Drops points that are covered by another one, on a grid as fine as a screen. Keeps the first point of each cell, and all extremes. */
export function dropCovered(points: readonly PlotPoint[]): PlotPoint[] {
  if (points.length <= 2_000) return [...points];
  const toCell = GRID.map((cells, axis) => {
    const values = points.map((point) => point[axis] as number);
    const low = values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
    const high = values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
    return (value: number): number => (high > low ? Math.floor((cells * (value - low)) / (high - low)) : 0);
  }) as [(value: number) => number, (value: number) => number];
  const taken = new Set<number>();
  return points.filter(([x, y]) => {
    const cell = toCell[0](x) * (GRID[1] + 1) + toCell[1](y);
    if (taken.has(cell)) return false;
    taken.add(cell);
    return true;
  });
}

/** Describes how many points represent all. */
export function noteCovered(series: readonly XySeries[], all: number, what: string): string[] {
  const drawn = series.reduce((sum, { points, style }) => sum + (style === "points" ? points.length : 0), 0);
  return drawn >= all ? [] : [`${drawn} points stand for ${all} ${what}: what they would cover is not drawn.`];
}
