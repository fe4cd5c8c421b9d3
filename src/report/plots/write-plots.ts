import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, RunError } from "../../plan/problem.ts";
import { setting } from "../../plan/setting-names.ts";
import { writeOutput } from "../output-file.ts";
import { createSvgPainter, readChartLibrary, type SvgPainter } from "./chart-library.ts";
import { toChartOption } from "./chart-option.ts";
import { formatPlotPage, type PageText } from "./page.ts";
import { PLOT_PAGE_FILE, type Plot, type PlotFormat, type PlotSet, plotFileName } from "./plot.ts";

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
  try {
    await mkdir(folder, { recursive: true });
    for (const [name, content] of files) writeOutput(join(folder, name), content);
  } catch (error) {
    const hint = `Give another folder with ${setting("outputs.folder")}.`;
    throw new RunError("output", `plots cannot be written to ${folder}: ${messageOf(error)}`, hint);
  }
  return files.map(([name]) => join(folder, name));
}

function paintPlot(paint: SvgPainter, plot: Plot): string {
  const isWide =
    plot.kind !== "spans" && plot.kind !== "heat-map"
      ? plot.series.length > 3
      : plot.kind === "heat-map" && plot.panels.length > 1;
  return paint(toChartOption(plot, { isAlone: true }), isWide ? WIDE_PX : WIDTH_PX, HEIGHT_PX);
}
