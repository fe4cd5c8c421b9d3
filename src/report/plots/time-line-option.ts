import type { EChartsOption, SeriesOption } from "echarts";
import { axisName, legendAt } from "./axes.ts";
import type { TimeLinePlot } from "./plot.ts";
import { PALETTE } from "./themes.ts";
import { drawSeries } from "./xy-option.ts";

/** Charts below each other with the same time axis. */

const LEFT_PX = 56;
const RIGHT_PX = 24;
const BOTTOM_PX = 48;
const GAP_PX = 34;
const PANEL_PX = 120;
/** Room for the names of the spans above the first chart. */
const SPANS_PX = 42;
/** The names of shorter spans would overlap. */
const NAMED_RATIO = 0.09;

/** Returns the height of a plot with this number of charts on a page. */
export function timeLineHeightPx(panelCount: number): number {
  return 52 + SPANS_PX + panelCount * (PANEL_PX + GAP_PX) - GAP_PX + BOTTOM_PX;
}

/** @param topPx minimum top of the axes */
export function drawTimeLine(plot: TimeLinePlot, topPx: number): EChartsOption {
  const { panels, xLabel } = plot;
  const names = [...new Set(panels.flatMap(({ series }) => series.map(({ name }) => name)))];
  const colors = new Map(names.map((name, i) => [name, PALETTE[i % PALETTE.length] as string]));
  const isLast = (index: number): boolean => index === panels.length - 1;
  const endSec = Math.max(
    ...plot.spans.map((span) => span.endSec),
    ...panels.flatMap(({ series }) => series.flatMap(({ points }) => points.map(([x]) => x))),
  );
  return {
    tooltip: { trigger: "axis", confine: true },
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    legend: legendAt(topPx, names, true),
    grid: panels.map((_, i) => ({
      left: LEFT_PX,
      right: RIGHT_PX,
      top: topPx + SPANS_PX + i * (PANEL_PX + GAP_PX),
      height: PANEL_PX,
      outerBoundsMode: "none" as const,
    })),
    xAxis: panels.map((_, i) => ({
      gridIndex: i,
      type: "value" as const,
      min: 0,
      max: endSec,
      axisLabel: { show: isLast(i), showMaxLabel: false },
      axisTick: { show: isLast(i) },
      splitLine: { show: false },
      ...(isLast(i) ? { ...axisName(xLabel), nameGap: 26 } : {}),
    })),
    yAxis: panels.map(({ label }, i) => ({
      gridIndex: i,
      type: "value" as const,
      name: label,
      nameLocation: "end" as const,
      nameGap: 12,
      nameTextStyle: { align: "left" as const, padding: [0, 0, 0, 8 - LEFT_PX] },
      splitNumber: 3,
    })),
    series: panels.flatMap((_, i) => drawPanel(plot, i, (name) => colors.get(name) ?? PALETTE[0])),
  };
}

function drawPanel(plot: TimeLinePlot, index: number, colorOf: (name: string) => string): SeriesOption[] {
  const { label, series } = plot.panels[index] as TimeLinePlot["panels"][number];
  const drawn = series.map((one) => ({
    ...drawSeries({ xLabel: plot.xLabel, yLabel: label, series }, one, colorOf(one.name)),
    xAxisIndex: index,
    yAxisIndex: index,
  }));
  const [first] = drawn;
  if (first !== undefined && plot.spans.length > 0) Object.assign(first, { markArea: markSpans(plot, index === 0) });
  return drawn as SeriesOption[];
}

function markSpans({ spans }: TimeLinePlot, isNamed: boolean): object {
  const totalSec = (spans.at(-1)?.endSec ?? 0) - (spans[0]?.startSec ?? 0);
  const look = { position: "top", fontSize: 10, distance: 24, color: "#8a93a3", textBorderWidth: 0 };
  return {
    silent: true,
    label: { show: isNamed, ...look },
    data: spans.map(({ label, startSec, endSec, isWarmup }, i) => [
      {
        name: endSec - startSec >= NAMED_RATIO * totalSec ? label : "",
        xAxis: startSec,
        itemStyle: { color: isWarmup ? "rgba(224,123,57,0.14)" : `rgba(91,101,117,${i % 2 === 0 ? 0.1 : 0.04})` },
      },
      { xAxis: endSec },
    ]),
  };
}
