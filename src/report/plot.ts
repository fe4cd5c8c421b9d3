import type { Interval } from "../measure/intervals/certainty.ts";

/** Plots as plain data, independent of the way they are drawn. */

const PLOT_FORMATS = ["html", "svg"] as const;

export type PlotFormat = (typeof PLOT_FORMATS)[number];

/** The page with all plots. */
export const PLOT_PAGE_FILE = "plots.html";

/** Properties of all plots. */
interface PlotFrame {
  /** Title; also determines the file name: see {@link plotFileName}. */
  readonly title: string;
  /** With its unit: `Time (s)`. */
  readonly xLabel: string;
  readonly yLabel: string;
  /** Heading of the plot's section. */
  readonly group: string;
  /** Sentences below the plot, for example with the number of points that are not drawn. */
  readonly notes: readonly string[];
  /** Height on the page. Default: 360 */
  readonly heightPx?: number | undefined;
  /** Whether it is as wide as the page. Default: false */
  readonly isWide?: boolean | undefined;
}

/** Box of a sample, with its values. */
export interface BoxSeries {
  readonly name: string;
  /** Smallest and largest value within 1.5 times the interquartile range of the quartiles. */
  readonly whiskers: readonly [low: number, high: number];
  readonly quartiles: readonly [q1: number, median: number, q3: number];
  /** Ascending. For a large sample, evenly spaced values including both ends. */
  readonly points: readonly number[];
}

/** Box plot with the points of the samples. */
export interface BoxPlot extends PlotFrame {
  readonly kind: "box";
  readonly series: readonly BoxSeries[];
}

/** Frequencies of pairs of integers, in cells. */
export interface HeatMapPlot extends PlotFrame {
  readonly kind: "heat-map";
  /** Labels of the columns and rows of cells, in ascending order: `47`, or `40–49`. All panels share them. */
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  /** One for each run. A cell consists of its column, row and count. Empty cells are omitted. */
  readonly panels: readonly {
    readonly name: string;
    readonly cells: readonly (readonly [column: number, row: number, count: number])[];
  }[];
  /** Numeric axis of the columns, which replaces their labels. Default: the labels */
  readonly xScale?: CellScale | undefined;
  /** Numeric axis of the rows, which replaces their labels. Default: the labels */
  readonly yScale?: CellScale | undefined;
}

/** The numeric axis of cells. */
export interface CellScale {
  /** Range from the lower edge of the first cell to the upper edge of the last. */
  readonly from: number;
  readonly to: number;
  readonly isLog: boolean;
  /** Default: chosen for the axis */
  readonly ticks?: readonly number[] | undefined;
}

/** A point, followed by the values named in the plot's `more`. */
export type PlotPoint = readonly [x: number, y: number, ...more: number[]];

/** Meaning of a series or a mark. Each has one color on all charts, in light and dark. */
export type Meaning =
  | "throughput"
  | "p50"
  | "p90"
  | "p99"
  | "inFlight"
  | "failed"
  | "passed"
  | "unresolved"
  | "limit"
  | "base";

export interface XySeries {
  readonly name: string;
  /** `steps` keeps each value until the next point; `area` is the same, filled. */
  readonly style: "points" | "line" | "steps" | "area";
  readonly points: readonly PlotPoint[];
  /** A text at each point, for example the load at which it was measured. */
  readonly labels?: readonly string[] | undefined;
  /** Whether it belongs to the previous series, and shares its name and color. */
  readonly isPartOfLast?: boolean | undefined;
  readonly isDashed?: boolean | undefined;
  /** Meaning that determines the color. Default: the next color of the palette */
  readonly meaning?: Meaning | undefined;
  /** Position in an ordered series, such as the levels of a run, that determines the color: 0 (first) to 1 (last). */
  readonly shade?: number | undefined;
  /** Whether a short line shows its points. Uncertain points are always shown. Default: true */
  readonly hasMarkers?: boolean | undefined;
  /** The interval of each point, drawn as a bar, with an arrow if it has no bound. */
  readonly intervals?: readonly (Interval | undefined)[] | undefined;
  /** Whether each point is uncertain. Uncertain points are drawn hollow. Default: none */
  readonly uncertain?: readonly boolean[] | undefined;
  /** Ranges of x in which a line is interrupted, because nothing was measured there. */
  readonly breaks?: readonly Extent[] | undefined;
}

/** A part of an axis. */
export interface Extent {
  readonly from: number;
  readonly to: number;
}

/** Points and lines over two numeric axes. */
export interface XyPlot extends PlotFrame {
  readonly kind: "xy";
  readonly series: readonly XySeries[];
  /** Names of the points' values after x and y. */
  readonly more?: readonly string[] | undefined;
  /** Named positions on the x axis, for example percentiles. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[] | undefined;
  /** Whether the y axis starts at 0. */
  readonly isFromZero: boolean;
  /** Whether the x axis starts at 0. Default: false */
  readonly isXFromZero?: boolean | undefined;
  /** Whether x is a count, so that its axis has only whole numbers. Default: false */
  readonly isWhole?: boolean | undefined;
  /** The ticks of the x axis, for example the measured loads. Default: chosen for the axis */
  readonly xTicks?: readonly number[] | undefined;
  /** Whether x has a logarithmic scale. Default: false */
  readonly isLogX?: boolean | undefined;
  /** Whether x is the number of nines of a percentile, log10(1 / (1 - ratio)), and is labelled with the percentile. Default: false */
  readonly isPercentile?: boolean | undefined;
}

/** Bars by category. */
export interface BarPlot extends PlotFrame {
  readonly kind: "bars";
  readonly categories: readonly string[];
  /** A value for each category; null: no value. */
  readonly series: readonly (Pick<XySeries, "name" | "uncertain" | "meaning"> & {
    readonly values: readonly (number | null)[];
  })[];
  /** Whether the bars of a category are stacked. Otherwise they are side by side. */
  readonly isStacked: boolean;
}

/** A chart of a {@link TimeLinePlot}. */
export interface TimeLinePanel {
  /** With its unit. */
  readonly label: string;
  readonly series: readonly XySeries[];
  /** Whether y has a logarithmic scale. Default: false */
  readonly isLog?: boolean | undefined;
}

/** Several charts below each other with a shared time axis. */
export interface TimeLinePlot extends PlotFrame {
  readonly kind: "time-line";
  readonly panels: readonly TimeLinePanel[];
  /** Named parts of the time, in ascending order. */
  readonly spans: readonly {
    readonly label: string;
    readonly startSec: number;
    readonly endSec: number;
    /** Whether the part is not measured. */
    readonly isWarmup: boolean;
  }[];
  /** Times in which no request ended, in seconds. */
  readonly stalls?: readonly Extent[] | undefined;
}

/** A request over time, in seconds after the first send. */
export interface RequestSpan {
  /** 1 for the first request sent. */
  readonly number: number;
  readonly sendSec: number;
  /** Undefined if the response was not streamed. */
  readonly firstTokenSec: number | undefined;
  readonly endSec: number;
}

/** Requests as bars over time, one below the other. */
export interface SpanPlot extends PlotFrame {
  readonly kind: "spans";
  readonly spans: readonly RequestSpan[];
}

/** Changes from one side to another, one below the other, in percent. */
export interface ChangesPlot extends PlotFrame {
  readonly kind: "changes";
  /** Reach of the axis on each side of "no change". */
  readonly reach: number;
  readonly rows: readonly (Interval & {
    readonly name: string;
    /** Null: unknown. */
    readonly value: number | null;
    readonly mark?: "worse" | "better" | undefined;
  })[];
}

export type Plot = BarPlot | BoxPlot | ChangesPlot | HeatMapPlot | XyPlot | SpanPlot | TimeLinePlot;

/** Plots, and titles of plots without data. */
export interface PlotSet {
  readonly plots: readonly Plot[];
  readonly leftOut: readonly { readonly title: string; readonly reason: string }[];
}

/** Joins several sets. */
export function joinPlots(sets: readonly PlotSet[]): PlotSet {
  return { plots: sets.flatMap(({ plots }) => plots), leftOut: sets.flatMap(({ leftOut }) => leftOut) };
}

/** Returns a plot's file name without extension, like GenAI-Perf: `time_to_first_token`. */
export function plotFileName(title: string): string {
  return title
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .join("_")
    .replace(/[^\p{L}\p{N}_.()-]/gu, "-");
}

/** Number of significant digits: more than a screen can show, but few enough for small files. */
const DIGITS = 6;

/** Rounds to six significant digits. */
export function roundForPlot(value: number): number {
  return Number(value.toPrecision(DIGITS));
}

/** Picks at most this number of evenly spaced items, including the first and the last. */
export function pickEvenly<T>(items: ArrayLike<T>, most: number): T[] {
  if (items.length <= most) return Array.from(items);
  const step = (items.length - 1) / (most - 1);
  return Array.from({ length: most }, (_, i) => items[Math.round(i * step)] as T);
}
