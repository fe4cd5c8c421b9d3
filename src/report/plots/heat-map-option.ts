import type { EChartsOption } from "echarts";
import type { CellScale, HeatMapPlot } from "../plot.ts";
import { axisName } from "./axes.ts";
import { HEAT_COLORS } from "./themes.ts";

/** Colored cells: panels side by side, three in a row, with one color scale. */

/** Further panels are in rows below. */
const MOST_PANELS_IN_ROW = 3;
const MOST_LABELLED_CELLS = 80;
/** Percentage of the picture's width; the rest is for the scale. */
const PANELS_PCT = 88;
const BOTTOM_PCT = 3;
/** Room for the scale, including on a narrow page. */
const SCALE_PX = 52;

/** With a smaller gap, the name of the columns would touch their labels. */
const COLUMNS_NAME_GAP_PX = 14;

const ROW_NAME_PX = 13;

/** Returns the number of rows without a name after each row with one, so that names do not overlap. */
function skippedRows(rowCount: number, panelCount: number): number {
  const panelPx = panelCount > MOST_PANELS_IN_ROW ? 200 : 280;
  return Math.max(0, Math.ceil((rowCount * ROW_NAME_PX) / panelPx) - 1);
}

/** @param topPx minimum top of the axes */
export function drawHeatMap(plot: HeatMapPlot, topPx: number): EChartsOption {
  const { columns, rows, panels, xLabel, yLabel, xScale, yScale } = plot;
  const places = panels.map((_, i) => placePanel(i, panels.length, topPx));
  const greatest = panels.flatMap(({ cells }) => cells).reduce((most, [, , count]) => Math.max(most, count), 1);
  return {
    grid: places.map((place) => ({ ...place, outerBounds: place, outerBoundsContain: "all" as const })),
    xAxis: [
      ...panels.map(({ name }, i) => ({
        gridIndex: i,
        type: "category" as const,
        data: [...columns],
        ...(xScale === undefined ? axisName(panels.length > 1 ? name : xLabel) : HIDDEN),
        nameGap: COLUMNS_NAME_GAP_PX,
      })),
      ...panels.flatMap(({ name }, i) => scaleAxis(xScale, i, panels.length > 1 ? name : xLabel, "bottom")),
    ],
    yAxis: [
      ...panels.map((_, i) => ({
        gridIndex: i,
        type: "category" as const,
        data: [...rows],
        axisLabel: { interval: skippedRows(rows.length, panels.length) },
        ...(yScale === undefined ? axisName(i % MOST_PANELS_IN_ROW === 0 ? yLabel : "") : HIDDEN),
      })),
      ...panels.flatMap((_, i) => scaleAxis(yScale, i, i % MOST_PANELS_IN_ROW === 0 ? yLabel : "", "left")),
    ],
    visualMap: {
      min: 0,
      max: greatest,
      text: [String(greatest), "0"],
      right: 4,
      top: "middle",
      inRange: { color: [...HEAT_COLORS] },
      itemWidth: 12,
    },
    series: panels.map(({ name, cells }, i) => ({
      type: "heatmap" as const,
      name,
      xAxisIndex: i,
      yAxisIndex: i,
      // Keyed by name, because tooltips show it.
      data: cells.map(([column, row, count]) => [columns[column] ?? "", rows[row] ?? "", count]),
      dimensions: [xLabel, yLabel, "Requests"],
      encode: { x: 0, y: 1, value: 2, tooltip: [0, 1, 2] },
      label: {
        show: panels.length * cells.length <= MOST_LABELLED_CELLS,
        color: "#fff",
        textBorderColor: "rgba(0,0,0,0.5)",
        textBorderWidth: 2,
      },
      labelLayout: { hideOverlap: true },
    })),
  };
}

const HIDDEN = { axisLabel: { show: false }, axisTick: { show: false }, axisLine: { show: false } } as const;

/** Returns the numeric axis that replaces the names of cells. A logarithmic axis contains exponents, which the page's script formats. */
function scaleAxis(
  scale: CellScale | undefined,
  gridIndex: number,
  name: string,
  position: "left" | "bottom",
): object[] {
  if (scale === undefined) return [];
  const { from, to, isLog, ticks } = scale;
  const at = (value: number): number => (isLog ? Math.log10(value) : value);
  const values = ticks === undefined ? {} : { customValues: ticks.map(at) };
  return [
    {
      gridIndex,
      type: "value",
      position,
      min: at(from),
      max: at(to),
      splitLine: { show: false },
      axisLabel: {
        ...values,
        ...(isLog ? { formatter: "power" } : {}),
        hideOverlap: true,
        showMaxLabel: ticks !== undefined,
      },
      axisTick: { ...values, show: true },
      axisLine: { show: true, onZero: false },
      ...axisName(name),
    },
  ];
}

/** Positions a panel with its labels. Rows of panels share a height of about 400 below `topPx`. */
function placePanel(index: number, count: number, topPx: number) {
  const across = Math.min(MOST_PANELS_IN_ROW, count);
  const down = Math.ceil(count / across);
  const row = Math.floor(index / across);
  const topPct = (100 * topPx) / 400;
  const heightPct = (100 - topPct - BOTTOM_PCT) / down;
  const leftPct = 1 + (PANELS_PCT * (index % across)) / across;
  return {
    left: `${leftPct}%`,
    right: count === 1 ? SCALE_PX : `${100 - leftPct - PANELS_PCT / across + 1}%`,
    top: down === 1 ? topPx : `${topPct + row * heightPct}%`,
    bottom: `${BOTTOM_PCT + (down - 1 - row) * heightPct}%`,
  };
}
