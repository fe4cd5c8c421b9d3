import type { EChartsOption, LineSeriesOption, ScatterSeriesOption } from "echarts";
import { axisName, gridAt, legendAt } from "./axes.ts";
import type { XyPlot, XySeries } from "./plot.ts";
import { PALETTE } from "./themes.ts";

/** Points, lines and filled steps. */

const MANY_POINTS = 500;
/** Up to this number of points, a line shows them. */
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
    xAxis: {
      type: "value",
      scale: true,
      ...axisName(plot.xLabel),
      ...(plot.isWhole === true ? { minInterval: 1 } : {}),
      ...(plot.isPercentile === true ? PERCENTILE_AXIS : {}),
    },
    yAxis: { type: "value", scale: !plot.isFromZero, ...axisName(plot.yLabel) },
    series,
  };
}

/** The page's script has a formatter of this name. */
const PERCENTILE_AXIS = {
  min: 0,
  interval: 1,
  axisLabel: { formatter: "percentile", showMaxLabel: false },
  axisPointer: { label: { formatter: "percentile" } },
} as const;

/** A line that belongs to points has their color. */
function colorsOf(series: readonly XySeries[]): string[] {
  let index = 0;
  let last: string = PALETTE[0];
  return series.map(({ isPartOfLast, color }) => {
    if (isPartOfLast !== true) last = color ?? (PALETTE[index++ % PALETTE.length] as string);
    return last;
  });
}

type Drawn = LineSeriesOption | ScatterSeriesOption;

/** The plot that a series is part of. */
type DrawnIn = Pick<XyPlot, "xLabel" | "yLabel" | "more" | "series">;

/** Draws one series. */
export function drawSeries(plot: DrawnIn, series: XySeries, color: string): Drawn {
  const dimensions = [plot.xLabel, plot.yLabel, ...(plot.more ?? [])];
  const common = {
    name: series.name,
    dimensions,
    encode: { x: 0, y: 1, tooltip: dimensions.map((_, i) => i) },
    data: dataOf(series),
    ...(series.labels === undefined ? {} : LABELS),
  };
  if (series.style === "points")
    return {
      type: "scatter",
      ...common,
      symbolSize: series.points.length > MANY_POINTS ? 3.5 : 7,
      // Draw tens of thousands of points as one path.
      ...(series.points.length > MANY_POINTS ? { large: true, largeThreshold: MANY_POINTS } : {}),
      itemStyle: { color, opacity: 0.6 },
    };
  const isStepped = series.style === "steps" || series.style === "area";
  return {
    type: "line",
    ...common,
    showSymbol: !isStepped && series.hasMarkers !== false && series.points.length <= MOST_KNOTS,
    symbol: "circle",
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

function dataOf({ points, labels }: XySeries): (number[] | { name: string; value: number[] })[] {
  if (labels === undefined) return points.map((point) => [...point]);
  return points.map((point, i) => ({ name: labels[i] ?? "", value: [...point] }));
}

function drawMarks(marks: NonNullable<XyPlot["marks"]>): NonNullable<LineSeriesOption["markLine"]> {
  return {
    symbol: "none",
    silent: true,
    lineStyle: { type: "dashed", width: 1, color: "#8a93a3" },
    // Alternate the heights of neighboring labels, so that they stay readable.
    data: marks.map(({ x, label }, i) => ({
      name: `${label}: ${Number(x.toPrecision(4))}`,
      xAxis: x,
      label: { formatter: "{b}", position: "end", fontSize: 10, distance: [0, 2 + 10 * (i % 2)] },
    })),
  };
}
