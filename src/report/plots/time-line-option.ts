import type { EChartsOption, SeriesOption } from "echarts";
import type { TimeLinePlot } from "../plot.ts";
import { wrapText } from "../text/text-table.ts";
import { axisName, legendAt } from "./axes.ts";
import { timeLineColors } from "./series-look.ts";
import { MEANING_COLORS } from "./themes.ts";
import { drawSeries } from "./xy-option.ts";

/** Charts below each other with the same time axis. */

const LEFT_PX = 60;
const RIGHT_PX = 24;
const BOTTOM_PX = 48;
const GAP_PX = 30;
/** The first chart is higher, because it answers the question. */
const FIRST_PANEL_PX = 170;
const PANEL_PX = 100;
/** Room for the name of the first chart, and for each line of span names above it. */
const NAME_PX = 24;
const SPANS_PX = 6;
const SPAN_LINE_PX = 12;
const TOP_PX = 34;
/** Number of letters of span names that fit side by side on a phone. */
const ROOM_CHARS = 48;
const MOST_LINES = 3;

/** Returns the height of a plot on a page. */
export function timeLineHeightPx({ panels, spans }: Pick<TimeLinePlot, "panels" | "spans">): number {
  const place = placePanel(panels.length - 1, TOP_PX, spansPx(spans));
  return place.top + place.height + BOTTOM_PX;
}

function placePanel(index: number, topPx: number, spansPx: number): { readonly top: number; readonly height: number } {
  const first = topPx + NAME_PX + spansPx;
  if (index === 0) return { top: first, height: FIRST_PANEL_PX };
  return { top: first + FIRST_PANEL_PX + GAP_PX + (index - 1) * (PANEL_PX + GAP_PX), height: PANEL_PX };
}

type Spans = TimeLinePlot["spans"];

function spansPx(spans: Spans): number {
  const lineCount = Math.max(0, ...nameSpans(spans).map((name) => (name === "" ? 0 : name.split("\n").length)));
  return spans.length === 0 ? 0 : SPANS_PX + SPAN_LINE_PX * Math.max(1, lineCount);
}

/** Returns the names of spans, on several lines if they are too long for their part of the time; empty if they do not fit. */
function nameSpans(spans: Spans): string[] {
  const totalSec = (spans.at(-1)?.endSec ?? 0) - (spans[0]?.startSec ?? 0);
  return spans.map(({ label, startSec, endSec }) => {
    const room = Math.floor(((endSec - startSec) / totalSec) * ROOM_CHARS);
    if (label.split(" ").some((word) => word.length > room)) return "";
    const lines = wrapText(label, room);
    return lines.length > MOST_LINES ? "" : lines.join("\n");
  });
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
      ...placePanel(i, topPx, spansPx(spans)),
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
      nameGap: i === 0 ? 12 + spansPx(spans) : 12,
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
  const names = nameSpans(spans);
  const look = {
    position: "top",
    fontSize: 10,
    lineHeight: SPAN_LINE_PX,
    distance: 4,
    color: MEANING_COLORS.limit,
    textBorderWidth: 0,
  };
  return {
    silent: true,
    label: { show: isNamed, ...look },
    data: [
      ...spans.map(({ startSec, endSec, isWarmup }, i) => [
        {
          name: names[i] ?? "",
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
