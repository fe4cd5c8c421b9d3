import { formatPicture } from "../html/charts.ts";
import { formatReportPage } from "../html/report-page.ts";
import type { ReportModel, Section } from "../model/report-model.ts";
import type { SvgPainter } from "../plots/chart-library.ts";
import type { ComparedSides } from "./limits.ts";
import { levelChanges, runCurves } from "./run-curves.ts";
import { shownMetrics } from "./words.ts";

/**
 * Formats comparisons as one HTML page that needs no script, no other file and no network.
 * @param model of the sides
 * @param paint draws charts without a background
 */
export function formatHtml(model: ReportModel, sides: readonly ComparedSides[], paint: SvgPainter): string {
  const sections = model.sections.map((section, index) => {
    const side = sides[index];
    return side === undefined ? section : { ...section, charts: [...section.charts, ...changesOf(side)] };
  });
  const all = { ...model, sections: [...sections, ...sides.map(curvesOf)] };
  return formatReportPage(all, { library: "", footer: "", draw: (plot) => formatPicture(plot, paint) });
}

function changesOf({ comparison, limits, isAll }: ComparedSides): Section["charts"] {
  const named = new Set(limits.map(({ limit }) => limit.metric.name));
  return comparison.levels.flatMap((level) => levelChanges(level, shownMetrics(level, named, isAll)));
}

function curvesOf({ comparison }: ComparedSides, index: number): Section {
  const title = "All runs over each other";
  return { id: `runs-${index + 1}`, title, isSummary: false, tables: [], charts: runCurves(comparison) };
}
