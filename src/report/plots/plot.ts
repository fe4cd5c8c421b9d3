/** Plots as plain data: what is drawn, and nothing of how. */

/** Kinds of files that plots are written as. */
export const PLOT_FORMATS = ["html", "svg"] as const;

export type PlotFormat = (typeof PLOT_FORMATS)[number];

/** The page with all plots. */
export const PLOT_PAGE_FILE = "plots.html";

/** What every plot has. */
interface PlotFrame {
  /** Also its file's name: see {@link plotFileName}. */
  readonly title: string;
  /** With its unit, as `Time (s)`. */
  readonly xLabel: string;
  readonly yLabel: string;
  /** Heading that it stands under. */
  readonly group: string;
  /** Sentences below it, such as how many points are not drawn. */
  readonly notes: readonly string[];
}

/** Five numbers of a sample, and its values beside them. */
export interface BoxSeries {
  readonly name: string;
  /** The least and the greatest value within 1.5 times the quartiles' distance from the quartiles. */
  readonly whiskers: readonly [low: number, high: number];
  readonly quartiles: readonly [q1: number, median: number, q3: number];
  /** Ascending; of a large sample a part at even distances with both ends. */
  readonly points: readonly number[];
}

/** Boxes and the points of their samples. */
export interface BoxPlot extends PlotFrame {
  readonly kind: "box";
  readonly series: readonly BoxSeries[];
}

/** How often pairs of whole numbers occur, in cells. */
export interface HeatMapPlot extends PlotFrame {
  readonly kind: "heat-map";
  /** Names of the columns and rows of cells, ascending: `47`, or `40–49`. All panels share them. */
  readonly columns: readonly string[];
  readonly rows: readonly string[];
  /** One for each run. A cell is its column, its row and how often; empty ones are left out. */
  readonly panels: readonly {
    readonly name: string;
    readonly cells: readonly (readonly [column: number, row: number, count: number])[];
  }[];
}

/** A point, and what else is told of it in the order of the plot's `more`. */
export type PlotPoint = readonly [x: number, y: number, ...more: number[]];

export interface XySeries {
  readonly name: string;
  /** `steps` hold each value until the next point; `area` is that, filled. */
  readonly style: "points" | "line" | "steps" | "area";
  readonly points: readonly PlotPoint[];
  /** A text at each point, such as the load that it was measured at. */
  readonly labels?: readonly string[] | undefined;
  /** Belongs to the series before it, whose name and colour it has. */
  readonly isPartOfLast?: boolean | undefined;
  readonly isDashed?: boolean | undefined;
}

/** Points and lines over two axes of numbers. */
export interface XyPlot extends PlotFrame {
  readonly kind: "xy";
  readonly series: readonly XySeries[];
  /** Names of what points have besides x and y. */
  readonly more?: readonly string[] | undefined;
  /** Places on the x axis with a name, as percentiles. */
  readonly marks?: readonly { readonly x: number; readonly label: string }[] | undefined;
  /** Whether the y axis begins at 0. */
  readonly isFromZero: boolean;
}

/** A request over time, in seconds after the first send. */
export interface RequestSpan {
  /** 1 for the first one sent. */
  readonly number: number;
  readonly sendSec: number;
  /** Undefined where the answer was not streamed. */
  readonly firstTokenSec: number | undefined;
  readonly endSec: number;
}

/** Requests as bars over time, one below the other. */
export interface SpanPlot extends PlotFrame {
  readonly kind: "spans";
  readonly spans: readonly RequestSpan[];
}

export type Plot = BoxPlot | HeatMapPlot | XyPlot | SpanPlot;

/** Plots, and those there is nothing to draw for. */
export interface PlotSet {
  readonly plots: readonly Plot[];
  readonly leftOut: readonly { readonly title: string; readonly reason: string }[];
}

/** Several sets as one. */
export function joinPlots(sets: readonly PlotSet[]): PlotSet {
  return { plots: sets.flatMap(({ plots }) => plots), leftOut: sets.flatMap(({ leftOut }) => leftOut) };
}

/** A plot's file name without its ending, as GenAI-Perf names it: `time_to_first_token`. */
export function plotFileName(title: string): string {
  return title
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "")
    .join("_")
    .replace(/[^\p{L}\p{N}_.()-]/gu, "-");
}
