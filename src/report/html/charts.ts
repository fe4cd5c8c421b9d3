import { escapeHtml } from "../markup.ts";
import type { Plot } from "../plots/plot.ts";
import { legendOf } from "../plots/series-look.ts";
import { timeLineHeightPx } from "../plots/time-line-option.ts";

/** Charts of a page: places that its script draws into. */

const SUMMARY_PX = 280;

/** Formats a chart with its legend, whose entries switch series on and off. @param index of the plot in the page @param isSummary lower, so that it is seen without scrolling */
export function formatChart(plot: Plot, index: number, isSummary: boolean): string {
  const { title, notes, isWide } = plot;
  const text = notes.length === 0 ? "" : `<p class="note">${escapeHtml(notes.join(" "))}</p>`;
  const height =
    plot.kind === "time-line" ? timeLineHeightPx(plot) : (plot.heightPx ?? (isSummary ? SUMMARY_PX : undefined));
  const style = height === undefined ? "" : ` style="height:${height}px"`;
  const place = `<div class="chart"${style} data-plot="${index}" role="img" aria-label="${escapeHtml(title)}"></div>`;
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
