import { join } from "node:path";
import { escapeHtml } from "../markup.ts";
import { writeReport } from "../output-file.ts";
import { PLOT_PAGE_FILE, type Plot, type PlotFormat, type PlotSet, plotFileName } from "../plot.ts";
import { createSvgPainter, readChartLibrary, type SvgPainter } from "./chart-library.ts";
import { toChartOption } from "./chart-option.ts";
import { formatDocument, formatFigure, formatHeader, formatPlace, formatScripts, pageScript } from "./page-frame.ts";
import { PAGE_STYLE } from "./page-style.ts";

/** Writes plots as files: one page, and one picture for each plot. */

/** GenAI-Perf's sizes: for one run, and for several side by side. */
const WIDTH_PX = 700;
const WIDE_PX = 1200;
const HEIGHT_PX = 450;

/**
 * Writes plots into a folder, which is created.
 * @returns the files' paths, the page first; empty without plots
 * @throws RunError when a file cannot be written
 */
export async function writePlots(
  text: PageText,
  set: PlotSet,
  folder: string,
  formats: readonly PlotFormat[],
): Promise<string[]> {
  if (set.plots.length === 0) return [];
  const library = await readChartLibrary();
  const files: [name: string, content: string][] = [];
  if (formats.includes("html")) files.push([PLOT_PAGE_FILE, formatPlotPage(text, set, library)]);
  if (formats.includes("svg")) {
    const paint = createSvgPainter(library);
    files.push(
      ...set.plots.map((plot): [string, string] => [`${plotFileName(plot.title)}.svg`, paintPlot(paint, plot)]),
    );
  }
  return files.map(([name, content]) => {
    const path = join(folder, name);
    writeReport(path, content, "outputs.folder");
    return path;
  });
}

function paintPlot(paint: SvgPainter, plot: Plot): string {
  const isWide = "series" in plot ? plot.series.length > 3 : plot.kind === "heat-map" && plot.panels.length > 1;
  return paint(toChartOption(plot, { isAlone: true }), isWide ? WIDE_PX : WIDTH_PX, HEIGHT_PX);
}

/** All plots in one self-contained HTML file that works without network, server or other files. */

/** Text of a page besides its plots. */
export interface PageText {
  readonly title: string;
  /** One line, for example the target. */
  readonly subtitle: string;
  /** Key numbers of the run, with units. */
  readonly facts: readonly { readonly label: string; readonly value: string }[];
}

/** Formats the file. @param library ECharts' code */
export function formatPlotPage(text: PageText, { plots, leftOut }: PlotSet, library: string): string {
  const body = `${formatHeader(text.title, text.subtitle)}
<noscript><p class="note">These plots need JavaScript, which is off. They can also be written as SVG pictures.</p></noscript>
<dl>${text.facts.map(({ label, value }) => `<div><dt>${escapeHtml(label)}</dt><dd>${escapeHtml(value)}</dd></div>`).join("")}</dl>
<main>
${formatGroups(plots)}
${formatLeftOut(leftOut)}
</main>`;
  const options = plots.map((plot) => toChartOption(plot, { isAlone: false }));
  const script = pageScript({ before: "", after: "", init: "" });
  return formatDocument(text.title, PAGE_STYLE, body, formatScripts(options, library, script));
}

function formatGroups(plots: readonly Plot[]): string {
  return [...new Set(plots.map(({ group }) => group))]
    .map((group) => `<section><h2>${escapeHtml(group)}</h2>${formatCards(plots, group)}</section>`)
    .join("\n");
}

/** Formats the plots of a group, each as a card; empty without any. @param plots all of the page */
function formatCards(plots: readonly Plot[], group: string): string {
  const cards = plots.flatMap((plot, index) =>
    plot.group === group ? [formatFigure(plot, formatPlace(plot, index, plot.heightPx))] : [],
  );
  return cards.length === 0 ? "" : `<div class="cards">\n${cards.join("\n")}\n</div>`;
}

/** Formats the list of plots without data. */
function formatLeftOut(leftOut: PlotSet["leftOut"]): string {
  if (leftOut.length === 0) return "";
  const items = leftOut.map(({ title, reason }) => `<li>${escapeHtml(title)}: ${escapeHtml(reason)}.</li>`);
  return `<section><h2>Not drawn</h2><ul class="note">${items.join("")}</ul></section>`;
}
