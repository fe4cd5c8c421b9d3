import type { EChartsOption } from "echarts";
import type { ChangesPlot } from "../plot.ts";
import { axisName } from "./axes.ts";
import { MEANING_COLORS } from "./themes.ts";

/** Changes with their intervals, one below the other, around the line for "no change". */

/** Longer names are cut. */
const LONGEST_NAME_PX = 130;
/** Fonts of browsers are up to this factor wider than the library assumes. */
const WIDER_RATIO = 1.15;
const CHARACTER_PX = 6.2;

/** @param topPx minimum top of the axes */
export function drawChanges({ rows, xLabel, reach }: ChangesPlot, topPx: number): EChartsOption {
  const inside = (value: number): number => Math.max(-reach, Math.min(reach, value));
  const known = rows.flatMap((row, at) => (row.value === null ? [] : [{ ...row, at, value: row.value }]));
  const colorOf = ({ mark }: ChangesPlot["rows"][number]): string =>
    mark === "worse" ? MEANING_COLORS.failed : mark === "better" ? MEANING_COLORS.passed : MEANING_COLORS.base;
  return {
    grid: gridWithNames(rows, topPx),
    xAxis: {
      type: "value",
      min: -reach,
      max: reach,
      interval: reach / 2,
      axisLine: { onZero: false },
      ...axisName(xLabel),
    },
    yAxis: {
      type: "category",
      inverse: true,
      data: rows.map(({ name }) => name),
      axisTick: { show: false },
      axisLine: { show: false },
      axisLabel: { interval: 0, width: LONGEST_NAME_PX, overflow: "truncate" },
    },
    series: [
      {
        type: "lines",
        coordinateSystem: "cartesian2d",
        symbolSize: 12,
        silent: true,
        data: known
          .filter(({ low, high }) => low !== null || high !== null)
          .map((row) => ({
            coords: [
              [inside(row.low ?? -reach), row.at],
              [inside(row.high ?? reach), row.at],
            ],
            // An end outside of the picture also gets an arrow.
            symbol: [
              row.low === null || row.low < -reach ? "arrow" : "none",
              row.high === null || row.high > reach ? "arrow" : "none",
            ],
            lineStyle: { color: colorOf(row), width: 6, opacity: 0.4 },
          })),
      },
      {
        type: "scatter",
        symbolSize: 8,
        markLine: {
          symbol: "none",
          silent: true,
          label: { show: false },
          lineStyle: { type: "solid", width: 1.5, color: MEANING_COLORS.limit },
          data: [{ xAxis: 0 }],
        },
        data: known.map((row) => ({
          value: [inside(row.value), row.at],
          itemStyle: { color: colorOf(row) },
          // For a value outside of the picture, draws an arrow towards it.
          ...(Math.abs(row.value) > reach
            ? { symbol: "triangle", symbolSize: 11, symbolRotate: row.value > 0 ? -90 : 90 }
            : {}),
        })),
      },
    ],
  };
}

/** Returns axes with room for their names on the left, for any font of the browser. */
function gridWithNames(rows: ChangesPlot["rows"], topPx: number): object {
  const longest = Math.max(...rows.map(({ name }) => name.length));
  const left = 16 + WIDER_RATIO * Math.min(LONGEST_NAME_PX, CHARACTER_PX * longest);
  return { left, right: 24, top: topPx, bottom: 46, outerBoundsMode: "none" };
}
