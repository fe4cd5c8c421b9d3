import type { EChartsOption } from "echarts";
import type { BoxPlot } from "../plot.ts";
import { axisName, gridAt } from "./axes.ts";
import { PALETTE } from "./themes.ts";

/** Boxes, each with its points on the left. */

const POINTS_AT = 0.24;
const POINTS_SPREAD = 0.16;
/** Multiples of the golden ratio modulo 1 are evenly spread for any number of points. */
const GOLDEN = 0.618034;

/** @param topPx minimum top of the axes */
export function drawBoxes({ series, xLabel, yLabel }: BoxPlot, topPx: number): EChartsOption {
  const color = (i: number): string => PALETTE[i % PALETTE.length] as string;
  const isOne = series.length === 1;
  return {
    grid: gridAt(topPx),
    xAxis: [
      {
        type: "category",
        data: series.map(({ name }) => name),
        axisTick: { show: false },
        axisLabel: { show: !isOne },
        ...axisName(xLabel),
      },
      // A value axis, because points are between categories.
      { type: "value", min: 0, max: series.length, show: false },
    ],
    yAxis: { type: "value", scale: true, ...axisName(yLabel) },
    series: [
      {
        type: "boxplot",
        boxWidth: ["10%", "26%"],
        dimensions: ["run", "lower whisker", "25th percentile", "median", "75th percentile", "upper whisker"],
        encode: { x: 0, y: [1, 2, 3, 4, 5], tooltip: [1, 2, 3, 4, 5] },
        data: series.map(({ whiskers: [low, high], quartiles: [q1, median, q3], name }, i) => ({
          name,
          value: [i, low, q1, median, q3, high],
          itemStyle: { color: fade(color(i)), borderColor: color(i), borderWidth: 1.5 },
        })),
      },
      ...series.map(({ name, points }, i) => ({
        type: "scatter" as const,
        name,
        xAxisIndex: 1,
        symbolSize: points.length > 100 ? 4 : 6,
        itemStyle: { color: color(i), opacity: 0.6 },
        dimensions: ["", xLabel],
        encode: { x: 0, y: 1, tooltip: [1] },
        data: points.map((value, k) => [Number((i + POINTS_AT + spreadOf(k)).toFixed(4)), value]),
      })),
    ],
  };
}

function spreadOf(index: number): number {
  return POINTS_SPREAD * (((index * GOLDEN) % 1) - 0.5);
}

/** Returns 25 % opacity of `#rrggbb` in a form that all SVG readers support. */
function fade(color: string): string {
  const parts = [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));
  return `rgba(${parts.join(",")},0.25)`;
}
