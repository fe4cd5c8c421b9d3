import type { EChartsOption } from "echarts";
import { axisName, gridAt, legendAt } from "./axes.ts";
import type { BarPlot } from "./plot.ts";
import { PALETTE } from "./themes.ts";

/** Bars, on top of each other or side by side. */

const WIDEST_BAR_PX = 48;

/** For names of two lines. */
const TWO_LINES = { axisLabel: { lineHeight: 15, margin: 10 } } as const;

/** @param topPx minimum top of the axes */
export function drawBars(plot: BarPlot, topPx: number, isOnPage: boolean): EChartsOption {
  const names = plot.series.map(({ name }) => name);
  const hasLegend = names.length > 1;
  return {
    ...(isOnPage ? { tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, confine: true } } : {}),
    ...(hasLegend ? { legend: legendAt(topPx, names, isOnPage) } : {}),
    grid: gridAt(hasLegend && !isOnPage ? topPx + 20 : topPx),
    xAxis: {
      type: "category",
      data: [...plot.categories],
      axisTick: { show: false },
      ...(plot.categories.some((name) => name.includes("\n")) ? TWO_LINES : {}),
      ...axisName(plot.xLabel),
    },
    yAxis: { type: "value", ...axisName(plot.yLabel) },
    series: plot.series.map(({ name, values }, i) => ({
      type: "bar" as const,
      name,
      barMaxWidth: WIDEST_BAR_PX,
      ...(plot.isStacked ? { stack: "all" } : {}),
      itemStyle: { color: PALETTE[i % PALETTE.length] as string },
      data: values.map((value) => value ?? "-"),
    })),
  };
}
