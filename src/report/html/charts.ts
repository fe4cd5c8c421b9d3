import { escapeHtml } from "../markup.ts";
import type { Plot } from "../plot.ts";
import type { SvgPainter } from "../plots/chart-library.ts";
import { toChartOption } from "../plots/chart-option.ts";
import { legendOf } from "../plots/series-look.ts";
import { timeLineHeightPx } from "../plots/time-line-option.ts";

/** Charts of a page: places that its script draws into. */

const SUMMARY_PX = 280;

/** Formats the place that the script of a page draws a chart into. @param index of the plot in the page @param isSummary lower, so that it is seen without scrolling */
export function formatPlace(plot: Plot, index: number, isSummary: boolean): string {
  const height =
    plot.kind === "time-line" ? timeLineHeightPx(plot) : (plot.heightPx ?? (isSummary ? SUMMARY_PX : undefined));
  const style = height === undefined ? "" : ` style="height:${height}px"`;
  return `<div class="chart"${style} data-plot="${index}" role="img" aria-label="${escapeHtml(plot.title)}"></div>`;
}

/** Widths of pictures: on a screen or paper, and on a phone. */
const PICTURES = [
  ["wide", 580],
  ["narrow", 340],
] as const;
const PICTURE_PX = 320;

/** Draws a chart as a picture, once for a screen and once for a phone. Its colors of axes and texts are those of the page. */
export function formatPicture(plot: Plot, paint: SvgPainter): string {
  const option = toChartOption(plot, { isAlone: false, isPicture: true });
  const pictures = PICTURES.map(([name, widthPx]) => {
    const svg = paint(option, widthPx, plot.heightPx ?? PICTURE_PX)
      .replace(/^<\?xml.*\?>\n/, "")
      .trim();
    return `<div class="picture ${name}" role="img" aria-label="${escapeHtml(plot.title)}">${svg}</div>`;
  });
  return pictures.join("");
}

/** Formats a chart with its legend. @param place from {@link formatPlace} or {@link formatPicture} */
export function formatChart(plot: Plot, place: string): string {
  const { title, notes, isWide } = plot;
  const text = notes.length === 0 ? "" : `<p class="note">${escapeHtml(notes.join(" "))}</p>`;
  const head = `<figcaption>${escapeHtml(title)}</figcaption>${formatLegend(plot)}`;
  return `<figure${isWide === true ? ' class="wide"' : ""}>${head}${place}${text}</figure>`;
}

function formatLegend(plot: Plot): string {
  const entries = legendOf(plot).map(({ name, color, isDashed }) => {
    const line = `<i style="border-color:${color}${isDashed ? ";border-style:dashed" : ""}"></i>`;
    return `<button type="button" aria-pressed="true" data-series="${escapeHtml(name)}">${line}${escapeHtml(name)}</button>`;
  });
  return entries.length === 0 ? "" : `<div class="legend">${entries.join("")}</div>`;
}
