import type { SettingPath } from "../plan/messages.ts";
import type { OutputFilesPlan } from "../plan/plan.ts";
import { formatCsv } from "./csv.ts";
import { formatPage } from "./html/report-page.ts";
import { formatJunit } from "./junit.ts";
import { formatMarkdownReport } from "./markdown.ts";
import type { ReportModel } from "./model/report-model.ts";
import { formatReportJson } from "./model-report.ts";
import { writeReport } from "./output-file.ts";
import { writeEach } from "./report.ts";

/** The files of a report that no run writes: of a stored one, of several runs, of a comparison. */

/** Returns the text of each file, by its key in a plan. */
export const MODEL_FILES: Readonly<Record<string, (model: ReportModel, json: object) => string | Promise<string>>> = {
  json: (_model, json) => formatReportJson(json),
  csv: formatCsv,
  junit: formatJunit,
  markdown: formatMarkdownReport,
  html: formatPage,
};

/** Writes those files that are asked for. @param json the model's source @throws RunError that names those that cannot be written, after the others */
export async function writeModelFiles(files: OutputFilesPlan, model: ReportModel, json: object): Promise<void> {
  await writeEach(Object.entries<string>(files), async ([key, path]) => {
    const text = await MODEL_FILES[key]?.(model, json);
    if (text !== undefined) writeReport(path, text, `outputs.files.${key}` as SettingPath, key !== "html");
  });
}
