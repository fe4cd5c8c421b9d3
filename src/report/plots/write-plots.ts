import { join } from "node:path";
import { PLOT_PAGE_FILE, type Plot, type PlotFormat, type PlotSet, plotFileName } from "../plot.ts";
import { writeReport } from "../write-report.ts";
import { createSvgPainter, readChartLibrary, type SvgPainter } from "./chart-library.ts";
import { toChartOption } from "./chart-option.ts";
import { formatPlotPage, type PageText } from "./page.ts";

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
