import type { EChartsOption } from "echarts";
import type { Plot, SpanPlot } from "../plot.ts";
import { axisName, legendAt } from "./axes.ts";
import { drawBars } from "./bar-option.ts";
import { drawBoxes } from "./box-option.ts";
import { drawChanges } from "./changes-option.ts";
import { drawHeatMap } from "./heat-map-option.ts";
import { type LegendEntry, spanParts } from "./series-look.ts";
import { drawTimeLine } from "./time-line-option.ts";
import { drawXy } from "./xy-option.ts";

/** Converts plots to ECharts options: plain JSON, which this program renders as SVG and pages render themselves. */

/** Top of the axes: below the toolbar of a page, and below the title and legend of a picture. */
const TOPS_PX = { page: 34, still: 14, alone: 64 } as const;

/**
 * Converts a plot to an ECharts option. @param place `page`: the page has the title and legend, and its script draws; `still`: the
 * same as a picture; `alone`: a file
 */
export function toChartOption(plot: Plot, place: keyof typeof TOPS_PX): EChartsOption {
  const drawn = drawPlot(plot, TOPS_PX[place], place !== "alone");
  const shown = place === "page" ? { ...TOOLS, ...drawn } : makeStill(drawn);
  return { animation: false, ...(place === "alone" ? titleOf(plot) : {}), ...shown };
}

/** Removes interactivity. */
function makeStill(option: EChartsOption): EChartsOption {
  const series = [option.series ?? []].flat().map((one) => ({ ...one, silent: true }));
  const legend = option.legend === undefined ? {} : { legend: { ...option.legend, selectedMode: false as const } };
  return { ...option, ...legend, series };
}

/** @param topPx minimum top of the axes */
function drawPlot(plot: Plot, topPx: number, isOnPage: boolean): EChartsOption {
  switch (plot.kind) {
    case "bars":
      return drawBars(plot, topPx, isOnPage);
    case "time-line":
      return drawTimeLine(plot, topPx);
    case "box":
      return drawBoxes(plot, topPx);
    case "changes":
      return drawChanges(plot, topPx);
    case "heat-map":
      return drawHeatMap(plot, topPx);
    case "xy":
      return drawXy(plot, topPx, isOnPage);
    case "spans":
      return drawSpans(plot, topPx, isOnPage);
  }
}

const WIDEST_TITLE_PX = 660;

function titleOf({ title }: Plot): EChartsOption {
  const textStyle = { fontSize: 16, fontWeight: 600, width: WIDEST_TITLE_PX, overflow: "break" } as const;
  return { title: { text: title, left: "center", top: 12, textStyle } };
}

const TOOLS: EChartsOption = {
  tooltip: { trigger: "item", confine: true },
  toolbox: {
    right: 8,
    top: -8,
    itemSize: 14,
    feature: { dataZoom: { filterMode: "none" }, restore: {}, saveAsImage: { pixelRatio: 2 } },
  },
};

const SPANS_HEIGHT_PX = 260;
const THICKEST_SPAN_PX = 10;
const THINNEST_SPAN_PX = 0.6;

/** Draws bars in two colors: until the first token, and from the first token to the end. */
function drawSpans({ spans, xLabel, yLabel }: SpanPlot, topPx: number, isOnPage: boolean): EChartsOption {
  const width = Math.max(THINNEST_SPAN_PX, Math.min(THICKEST_SPAN_PX, (0.8 * SPANS_HEIGHT_PX) / spans.length));
  const bars = ({ name, color }: LegendEntry, toCoords: (span: SpanPlot["spans"][number]) => number[] | undefined) => ({
    type: "lines" as const,
    name,
    coordinateSystem: "cartesian2d" as const,
    lineStyle: { width, color, opacity: 1, cap: "butt" as const },
    data: spans.flatMap((span) => {
      const coords = toCoords(span);
      if (coords === undefined) return [];
      const [from, to] = coords as [number, number];
      return [
        {
          name: describeSpan(span),
          coords: [
            [from, span.number],
            [to, span.number],
          ],
        },
      ];
    }),
  });
  const toFirstToken = ({ sendSec, firstTokenSec }: SpanPlot["spans"][number]): number[] | undefined =>
    firstTokenSec === undefined ? undefined : [sendSec, firstTokenSec];
  const [rest, waiting] = spanParts(spans);
  const series = [
    ...(waiting === undefined ? [] : [bars(waiting, toFirstToken)]),
    bars(rest, ({ sendSec, firstTokenSec, endSec }) => [firstTokenSec ?? sendSec, endSec]),
  ];
  const names = series.map(({ name }) => name);
  return {
    legend: legendAt(topPx, names, isOnPage),
    // Explicit margins, because the library computes none for axes that run downwards.
    grid: { left: 64, right: 24, top: isOnPage ? topPx : topPx + 20, bottom: 52, outerBoundsMode: "none" },
    // Axes do not consider the ends of lines.
    xAxis: {
      type: "value",
      axisLine: { onZero: false },
      min: 0,
      max: Math.max(...spans.map(({ endSec }) => endSec)),
      axisLabel: { showMaxLabel: false },
      ...axisName(xLabel),
    },
    yAxis: {
      type: "value",
      inverse: true,
      axisLine: { onZero: false },
      min: 0,
      max: spans.length + 1,
      minInterval: 1,
      ...axisName(yLabel),
    },
    series,
  };
}

function describeSpan({ number, sendSec, firstTokenSec, endSec }: SpanPlot["spans"][number]): string {
  const first = firstTokenSec === undefined ? "" : `, first token ${firstTokenSec} s`;
  return `Request ${number}: sent ${sendSec} s${first}, end ${endSec} s`;
}
