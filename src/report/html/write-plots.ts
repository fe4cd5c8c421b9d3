import { join } from "node:path";
import { detail } from "../model/tables.ts";
import { writeReport } from "../output-file.ts";
import { PLOT_PAGE_FILE, type Plot, type PlotFormat, type PlotSet, plotFileName } from "../plot.ts";
import { createSvgPainter, readChartLibrary, type SvgPainter } from "../plots/chart-library.ts";
import { toChartOption } from "../plots/chart-option.ts";
import { formatReportPage } from "./report-page.ts";

/** Writes plots as files: one page, and one picture for each plot. */

/** GenAI-Perf's sizes: for one run, and for several side by side. */
const WIDTH_PX = 700;
const WIDE_PX = 1200;
const HEIGHT_PX = 450;

/** Writes plots to a new folder. @returns the files' paths, the page first @throws RunError when a file cannot be written */
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
  return paint(toChartOption(plot, "alone"), isWide ? WIDE_PX : WIDTH_PX, HEIGHT_PX);
}

/** All plots in one self-contained HTML file that works without network, server or other files. */

/** Text of a page besides its plots. */
export interface PageText {
  readonly title: string;
  /** One line, for example the target. */
  readonly subtitle: string;
  /** Key numbers of the run, with units. */
  readonly facts: readonly string[];
}

/** Formats the file. @param library ECharts' code */
export function formatPlotPage({ title, subtitle, facts }: PageText, set: PlotSet, library: string): string {
  const groups = [...Map.groupBy(set.plots, ({ group }) => group)];
  const lines = set.leftOut.map((one) => `${one.title}: ${one.reason}.`);
  const sections = [
    ...groups.map(([group, charts]) => ({ ...detail(plotFileName(group), group, []), charts })),
    { ...detail("not-drawn", "Not drawn", []), lines },
  ];
  const verdict = { name: "measured", headline: "", facts } as const;
  const none = { setup: [], checks: [], notes: [], suites: [], origin: "" };
  return formatReportPage({ ...none, name: title, subject: subtitle, verdict, sections }, library);
}
