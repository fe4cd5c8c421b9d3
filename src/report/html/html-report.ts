import type { Plan } from "../../plan/plan.ts";
import { formatCount } from "../../plan/units.ts";
import { chartSource } from "../model/charts/chart-source.ts";
import { withCharts } from "../model/charts/run-charts.ts";
import type { ReportModel } from "../model/report-model.ts";
import { createModelReport } from "../model-report.ts";
import type { FollowedRuns } from "../over-time/followed-runs.ts";
import { readChartLibrary } from "../plots/chart-library.ts";
import type { Report, TextSink } from "../report.ts";
import type { ReportJson } from "../schema/report-schema.ts";
import { writeReport } from "../write-report.ts";
import { formatReportPage } from "./report-page.ts";

/** `--report`: the run as a page for people. */

/** Creates the report. @param path of its file @param followed the runs over time */
export function createHtmlReport(
  plan: Plan,
  sink: TextSink,
  path: string,
  _meter?: unknown,
  followed?: FollowedRuns,
): Report {
  const write = (text: string): void => writeReport(path, text, "outputs.files.html", false);
  return createModelReport(plan, sink, formatPage, write, followed);
}

/** Formats the page. */
export async function formatPage(model: ReportModel, plan: Plan, json: ReportJson): Promise<string> {
  const library = await readChartLibrary();
  const all = withCharts(model, chartSource(plan, json));
  return formatReportPage(all, { library, footer: describeRun(json), plan: json.plan });
}

/** Describes when and where a report was measured. */
function describeRun({ startedAt, machine }: ReportJson): string {
  const { cpu, cores, memoryBytes, os, architecture, runtime } = machine;
  const host = `${cpu}, ${cores} cores, ${formatCount(memoryBytes / 2 ** 30)} GiB, ${os} ${architecture}`;
  return `${startedAt}, ${runtime} on ${host}`;
}
