import type { EChartsOption, SeriesOption } from "echarts";
import type { TimeLinePlot } from "../plot.ts";
import { axisName, legendAt } from "./axes.ts";
import { timeLineColors } from "./series-look.ts";
import { MEANING_COLORS } from "./themes.ts";
import { drawSeries } from "./xy-option.ts";

/** Charts below each other with the same time axis. */

const LEFT_PX = 60;
const RIGHT_PX = 24;
const BOTTOM_PX = 48;
const GAP_PX = 30;
/** The first chart is the one that answers the question. */
const FIRST_PANEL_PX = 170;
const PANEL_PX = 100;
/** Room for the name of the first chart, and for those of spans above it. */
const NAME_PX = 24;
const SPANS_PX = 18;
const TOP_PX = 34;
/** The names of shorter spans would overlap. */
const NAMED_RATIO = 0.09;

/** Returns the height of a plot on a page. */
export function timeLineHeightPx({ panels, spans }: Pick<TimeLinePlot, "panels" | "spans">): number {
  const place = placePanel(panels.length - 1, TOP_PX, spans.length > 0);
  return place.top + place.height + BOTTOM_PX;
}

function placePanel(
  index: number,
  topPx: number,
  hasSpans: boolean,
): { readonly top: number; readonly height: number } {
  const first = topPx + NAME_PX + (hasSpans ? SPANS_PX : 0);
  if (index === 0) return { top: first, height: FIRST_PANEL_PX };
  return { top: first + FIRST_PANEL_PX + GAP_PX + (index - 1) * (PANEL_PX + GAP_PX), height: PANEL_PX };
}

/** @param topPx minimum top of the axes */
export function drawTimeLine(plot: TimeLinePlot, topPx: number): EChartsOption {
  const { panels, spans, xLabel } = plot;
  const colors = timeLineColors(plot);
  const isLast = (index: number): boolean => index === panels.length - 1;
  const endSec = Math.max(
    ...spans.map((span) => span.endSec),
    ...panels.flatMap(({ series }) => series.flatMap(({ points }) => points.map(([x]) => x))),
  );
  return {
    tooltip: { trigger: "axis", confine: true },
    axisPointer: { link: [{ xAxisIndex: "all" }] },
    legend: legendAt(topPx, [...colors.keys()], true),
    grid: panels.map((_, i) => ({
      left: LEFT_PX,
      right: RIGHT_PX,
      ...placePanel(i, topPx, spans.length > 0),
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
    yAxis: panels.map(({ label, isLog }, i) => ({
      gridIndex: i,
      type: isLog === true ? ("log" as const) : ("value" as const),
      name: label,
      nameLocation: "end" as const,
      nameGap: spans.length > 0 && i === 0 ? 12 + SPANS_PX : 12,
      nameTextStyle: { align: "left" as const, padding: [0, 0, 0, 8 - LEFT_PX] },
      splitNumber: 3,
    })),
    series: panels.flatMap((_, i) => drawPanel(plot, i, colors)),
  };
}

function drawPanel(plot: TimeLinePlot, index: number, colors: ReadonlyMap<string, string>): SeriesOption[] {
  const { label, series } = plot.panels[index] as TimeLinePlot["panels"][number];
  const drawn = series.map((one) => ({
    ...drawSeries({ xLabel: plot.xLabel, yLabel: label, series }, one, colors.get(one.name) as string),
    xAxisIndex: index,
    yAxisIndex: index,
  }));
  const [first] = drawn;
  if (first !== undefined) Object.assign(first, { markArea: markTimes(plot, index === 0) });
  return drawn as SeriesOption[];
}

/** Marks spans in gray, warm-ups in amber, and stalls in red. @param isNamed whether the names are drawn above */
function markTimes({ spans, stalls = [] }: TimeLinePlot, isNamed: boolean): object {
  const totalSec = (spans.at(-1)?.endSec ?? 0) - (spans[0]?.startSec ?? 0);
  const look = { position: "top", fontSize: 10, distance: 4, color: MEANING_COLORS.limit, textBorderWidth: 0 };
  return {
    silent: true,
    label: { show: isNamed, ...look },
    data: [
      ...spans.map(({ label, startSec, endSec, isWarmup }, i) => [
        {
          name: endSec - startSec >= NAMED_RATIO * totalSec ? label : "",
          xAxis: startSec,
          itemStyle: {
            color: isWarmup ? `${MEANING_COLORS.unresolved}24` : `rgba(91,101,117,${i % 2 === 0 ? 0.1 : 0.04})`,
          },
        },
        { xAxis: endSec },
      ]),
      ...stalls.map(({ from, to }) => [
        { name: "", xAxis: from, itemStyle: { color: `${MEANING_COLORS.failed}33` } },
        { xAxis: to },
      ]),
    ],
  };
}
