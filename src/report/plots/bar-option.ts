import type { EChartsOption } from "echarts";
import type { BarPlot } from "../plot.ts";
import { axisName, gridAt, legendAt } from "./axes.ts";
import { colorsOf, hollow } from "./series-look.ts";

/** Bars, stacked or side by side. */

const WIDEST_BAR_PX = 48;

const TWO_LINES = { axisLabel: { lineHeight: 15, margin: 10 } } as const;

/** Width with room for the names of all bars on a phone. */
const NARROW_PX = 300;
const LETTER_PX = 6.5;
/** Longer names are cut. The table beside the chart contains them. */
const LONGEST_NAME_PX = 145;
const TILTED = {
  axisLabel: { interval: 0, rotate: 38, hideOverlap: true, width: LONGEST_NAME_PX, overflow: "truncate" },
} as const;

/** Formats the names below bars: on two lines if they have two parts, and rotated if they would overlap. */
function categoriesOf({ categories }: BarPlot): object {
  const longest = Math.max(0, ...categories.flatMap((name) => name.split("\n").map(({ length }) => length)));
  if (categories.length * longest * LETTER_PX > NARROW_PX)
    return { data: categories.map((name) => name.replaceAll("\n", ", ")), ...TILTED };
  return { data: [...categories], ...(categories.some((name) => name.includes("\n")) ? TWO_LINES : {}) };
}

/** @param topPx minimum top of the axes */
export function drawBars(plot: BarPlot, topPx: number, isOnPage: boolean): EChartsOption {
  const names = plot.series.map(({ name }) => name);
  const hasLegend = names.length > 1;
  const colors = colorsOf(plot.series);
  return {
    ...(isOnPage ? { tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, confine: true } } : {}),
    ...(hasLegend ? { legend: legendAt(topPx, names, isOnPage) } : {}),
    grid: gridAt(hasLegend && !isOnPage ? topPx + 20 : topPx),
    xAxis: {
      type: "category",
      axisTick: { show: false },
      ...categoriesOf(plot),
      ...axisName(plot.xLabel),
    },
    yAxis: { type: "value", ...axisName(plot.yLabel) },
    series: plot.series.map(({ name, values, uncertain = [] }, i) => ({
      type: "bar" as const,
      name,
      barMaxWidth: WIDEST_BAR_PX,
      ...(plot.isStacked ? { stack: "all" } : {}),
      itemStyle: { color: colors[i] as string },
      data: values.map((value = null, at) =>
        value === null ? "-" : uncertain[at] === true ? { value, ...hollow(colors[i] as string) } : value,
      ),
    })),
  };
}
