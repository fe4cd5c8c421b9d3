import type { SettingPath } from "../plan/messages.ts";
import type { OutputFilesPlan } from "../plan/plan.ts";
import { RunError } from "../plan/problem.ts";
import { formatCsv } from "./csv.ts";
import { formatPage } from "./html/report-page.ts";
import { formatJunit } from "./junit.ts";
import { formatMarkdownReport } from "./markdown.ts";
import type { ReportModel } from "./model/report-model.ts";
import { formatReportJson } from "./model-report.ts";
import { writeReport } from "./output-file.ts";
import { joinOutputErrors } from "./report.ts";

/** Files of a report that does not belong to a run in progress: of a stored run, of several runs, or of a comparison. */

/** Returns the text of each file, by its key in a plan. */
export const MODEL_FILES: Readonly<Record<string, (model: ReportModel, json: object) => string | Promise<string>>> = {
  json: (_model, json) => formatReportJson(json),
  csv: formatCsv,
  junit: formatJunit,
  markdown: formatMarkdownReport,
  html: formatPage,
};

/** Writes the requested files. @param json the model's source @throws RunError at the end, naming the files that could not be written */
export async function writeModelFiles(files: OutputFilesPlan, model: ReportModel, json: object): Promise<void> {
  const errors: RunError[] = [];
  for (const [key, path] of Object.entries(files) as [keyof OutputFilesPlan, string][]) {
    const format = MODEL_FILES[key];
    if (format === undefined) continue;
    try {
      writeReport(path, await format(model, json), `outputs.files.${key}` as SettingPath, key !== "html");
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      errors.push(error);
    }
  }
  const error = joinOutputErrors(errors);
  if (error !== undefined) throw error;
}
