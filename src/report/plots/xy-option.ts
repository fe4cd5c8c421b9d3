import type { EChartsOption, LineSeriesOption, LinesSeriesOption, ScatterSeriesOption } from "echarts";
import type { Interval } from "../../measure/intervals/certainty.ts";
import type { Extent, PlotPoint, XyPlot, XySeries } from "../plot.ts";
import { axisName, gridAt, legendAt } from "./axes.ts";
import { colorsOf, hollow } from "./series-look.ts";

/** Points, lines and filled steps. */

const MANY_POINTS = 500;
/** Maximum number of points that a line shows. */
const MOST_KNOTS = 40;

/** @param topPx minimum top of the axes */
export function drawXy(plot: XyPlot, topPx: number, isOnPage: boolean): EChartsOption {
  const colors = colorsOf(plot.series);
  const names = [...new Set(plot.series.map(({ name }) => name))];
  const series = plot.series.map((one, i) => drawSeries(plot, one, colors[i] as string));
  const [first] = series;
  if (first !== undefined && plot.marks !== undefined && plot.marks.length > 0) first.markLine = drawMarks(plot.marks);
  const hasPoints = plot.series.some(({ style }) => style === "points");
  const hasLegend = names.length > 1;
  return {
    ...(isOnPage ? { tooltip: { trigger: hasPoints ? "item" : "axis", confine: true } } : {}),
    ...(hasLegend ? { legend: legendAt(topPx, names, isOnPage) } : {}),
    grid: gridAt(
      (hasLegend && !isOnPage) || series.some(({ markLine }) => markLine !== undefined) ? topPx + 20 : topPx,
    ),
    xAxis: xAxisOf(plot),
    yAxis: {
      ...{ type: "value", scale: !plot.isFromZero, ...axisName(plot.yLabel) },
      ...(plot.series.some(({ labels }) => labels !== undefined) ? ROOM_FOR_LABELS : {}),
    },
    series: [...series, ...drawIntervals(plot, colors)],
  };
}

/** Labels are above their points, including the highest point. */
const ROOM_FOR_LABELS: { readonly boundaryGap: [number, string] } = { boundaryGap: [0, "12%"] };

/** See `SET_AXIS_FORMATS`. */
const PERCENTILE_AXIS = {
  min: 0,
  interval: 1,
  axisLabel: { formatter: "percentile", showMaxLabel: false },
  axisPointer: { label: { formatter: "percentile" } },
} as const;

/** Room beside the outermost points of a logarithmic axis, as a factor. */
const LOG_MARGIN = 1.12;

function xAxisOf(plot: XyPlot): object {
  const { xTicks } = plot;
  const ticks =
    xTicks === undefined
      ? {}
      : {
          axisLabel: { customValues: [...xTicks], hideOverlap: true },
          axisTick: { customValues: [...xTicks] },
          splitLine: { show: false },
        };
  const xs = plot.series.flatMap(({ points }) => points.map(([x]) => x));
  const log = {
    type: "log",
    logBase: 2,
    min: Math.min(...xs) / LOG_MARGIN,
    max: Math.max(...xs) * LOG_MARGIN,
    minorTick: { show: false },
  };
  return {
    ...(plot.isLogX === true && xs.length > 0 ? log : { type: "value", scale: plot.isXFromZero !== true }),
    ...axisName(plot.xLabel),
    ...(plot.isWhole === true ? { minInterval: 1 } : {}),
    ...(plot.isPercentile === true ? PERCENTILE_AXIS : {}),
    ...ticks,
  };
}

type Drawn = LineSeriesOption | ScatterSeriesOption;

type DrawnIn = Pick<XyPlot, "xLabel" | "yLabel" | "more" | "series">;

/** Draws one series. */
export function drawSeries(plot: DrawnIn, series: XySeries, color: string): Drawn {
  const dimensions = [plot.xLabel, plot.yLabel, ...(plot.more ?? [])];
  const common = {
    name: series.name,
    dimensions,
    encode: { x: 0, y: 1, tooltip: dimensions.map((_, i) => i) },
    data: dataOf(series, color),
    ...(series.labels === undefined ? {} : LABELS),
  };
  if (series.style === "points")
    return {
      type: "scatter",
      ...common,
      symbolSize: series.points.length > MANY_POINTS ? 3.5 : 7,
      // Draws tens of thousands of points as one path.
      ...(series.points.length > MANY_POINTS ? { large: true, largeThreshold: MANY_POINTS } : {}),
      itemStyle: { color, opacity: 0.6 },
    };
  const isStepped = series.style === "steps" || series.style === "area";
  const hasMarkers = series.hasMarkers !== false && series.points.length <= MOST_KNOTS;
  return {
    type: "line",
    ...common,
    showSymbol: !isStepped && (hasMarkers || series.uncertain?.includes(true) === true),
    symbol: hasMarkers ? "circle" : "none",
    symbolSize: 7,
    itemStyle: { color },
    lineStyle: { color, width: 2, type: series.isDashed === true ? "dashed" : "solid" },
    ...(isStepped ? { step: "end" as const, lineStyle: { color, width: 1.2 } } : {}),
    ...(series.style === "area" ? { areaStyle: { color, opacity: plot.series.length > 1 ? 0.1 : 0.22 } } : {}),
  };
}

const LABELS = {
  label: { show: true, formatter: "{b}", position: "top", fontSize: 11, color: "inherit", textBorderWidth: 0 },
  labelLayout: { hideOverlap: true },
} as const;

type Item = (number | "-")[] | { name?: string; value: number[] };

function dataOf({ points, labels, breaks = [], uncertain = [] }: XySeries, color: string): Item[] {
  return points.flatMap((point, i): Item[] => {
    const isHollow = uncertain[i] === true;
    const name = labels === undefined ? {} : { name: labels[i] ?? "" };
    const item = { ...name, value: [...point], ...(isHollow ? hollow(color) : {}) };
    return [...breakBefore(points[i - 1], point, breaks), labels === undefined && !isHollow ? [...point] : item];
  });
}

/** Returns the point without a value that interrupts a line between two points. */
function breakBefore(last: PlotPoint | undefined, [x]: PlotPoint, breaks: readonly Extent[]): [number, "-"][] {
  if (last === undefined) return [];
  const middle = (last[0] + x) / 2;
  return breaks.some(({ from, to }) => from < middle && middle < to) ? [[middle, "-"]] : [];
}

/** An end without a bound is drawn beyond all values by this ratio of the axis. */
const ARROW_RATIO = 0.14;

/** Draws the intervals of all series as bars behind the points, with an arrow at an end that has no bound. */
function drawIntervals({ series }: XyPlot, colors: readonly string[]): (LinesSeriesOption | ScatterSeriesOption)[] {
  const all = series.flatMap(({ points, intervals = [] }) =>
    points.flatMap(([, y], i) => [y, intervals[i]?.low ?? y, intervals[i]?.high ?? y]),
  );
  const reach = ARROW_RATIO * Math.max(0, ...all);
  return series.flatMap(({ name, points, intervals }, i) => {
    if (intervals === undefined) return [];
    const bars = points.flatMap((point, k) => barOf(point, intervals[k], reach));
    const color = colors[i] as string;
    const ends = bars.flatMap(({ coords }) => coords.map((end) => [...end]));
    return [
      {
        type: "lines" as const,
        name,
        coordinateSystem: "cartesian2d" as const,
        symbolSize: 7,
        silent: true,
        lineStyle: { color, width: 2, opacity: 0.45 },
        data: bars,
      },
      // Axes do not consider the ends of lines, but they do consider invisible points.
      { type: "scatter" as const, name, symbolSize: 0, silent: true, tooltip: { show: false }, data: ends },
    ];
  });
}

interface Bar {
  coords: [number, number][];
  symbol: [string, string];
}

function barOf([x, y]: PlotPoint, interval: Interval | undefined, reach: number): Bar[] {
  if (interval === undefined) return [];
  const { low, high } = interval;
  const [from, to] = [low ?? Math.max(0, y - reach), high ?? y + reach];
  const symbol: [string, string] = [low === null ? "arrow" : "none", high === null ? "arrow" : "none"];
  return from === to || (low === null && high === null)
    ? []
    : [
        {
          coords: [
            [x, from],
            [x, to],
          ],
          symbol,
        },
      ];
}

function drawMarks(marks: NonNullable<XyPlot["marks"]>): NonNullable<LineSeriesOption["markLine"]> {
  return {
    symbol: "none",
    silent: true,
    lineStyle: { type: "dashed", width: 1, color: "#8a93a3" },
    // Alternates the heights of neighboring labels, so that they stay readable.
    data: marks.map(({ x, label }, i) => ({
      name: `${label}: ${Number(x.toPrecision(4))}`,
      xAxis: x,
      label: { formatter: "{b}", position: "end", fontSize: 10, distance: [0, 2 + 10 * (i % 2)] },
    })),
  };
}
