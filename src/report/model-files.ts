import type { OutputFilesPlan } from "../plan/output-files-plan.ts";
import type { Plan } from "../plan/plan.ts";
import { formatCsv } from "./csv.ts";
import type { FollowedRuns } from "./json/followed-runs.ts";
import { formatJunit } from "./junit.ts";
import { formatMarkdownReport } from "./markdown.ts";
import type { ReportModel } from "./model/report-model.ts";
import { writeReport } from "./output-file.ts";
import {
  createDataReport,
  createModelReport,
  type RenderReport,
  type Report,
  type TextSink,
  writeEach,
} from "./report.ts";

/** Reports in a file: of a run, a stored report, several runs or a comparison. */

/** A report whose text is rendered from the model, or from its JSON. */
interface ModelFile {
  readonly render: RenderReport;
  /** Whether `render` masks secrets. Default: they are masked when the text is written */
  readonly masksSecrets?: boolean;
}

/** The reports by the key of the file in a plan. A new report is one file and one line here. */
export const MODEL_FILES = {
  json: { render: (_model, json) => formatReportJson(json) },
  csv: { render: formatCsv },
  html: {
    render: async (model) => (await import("./html/report-page.ts")).formatPage(model),
    masksSecrets: true,
  },
  junit: { render: formatJunit },
  markdown: { render: formatMarkdownReport },
} satisfies Readonly<Record<string, ModelFile>>;

export type ModelFileKey = keyof typeof MODEL_FILES;

declare module "../plan/output-files-plan.ts" {
  interface OutputFilesPlan extends Readonly<Partial<Record<ModelFileKey, string>>> {}
}

/** Returns the factory for the report of a run in a file. */
export function createModelFile(key: ModelFileKey) {
  return (plan: Plan, sink: TextSink, path: string, _meter?: unknown, followed?: FollowedRuns): Report =>
    createModelReport(plan, sink, MODEL_FILES[key].render, (text) => writeText(key, path, text), followed);
}

function writeText(key: ModelFileKey, path: string, text: string): void {
  const { masksSecrets }: ModelFile = MODEL_FILES[key];
  writeReport(path, text, `outputs.files.${key}`, masksSecrets !== true);
}

/** Creates the report for programs, which is the JSON itself. @param path of the file @param followed the runs over time */
export function createJsonReport(
  plan: Plan,
  sink: TextSink,
  path: string,
  _meter?: unknown,
  followed?: FollowedRuns,
): Report {
  return createDataReport(plan, sink, (json) => writeText("json", path, formatReportJson(json)), followed);
}

/** Formats a report for programs. */
export function formatReportJson(json: object): string {
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Writes the files that a plan asks for. @param json source of the model @throws RunError at the end, naming files not written */
export async function writeModelFiles(files: OutputFilesPlan, model: ReportModel, json: object): Promise<void> {
  await writeEach(Object.keys(MODEL_FILES) as ModelFileKey[], async (key) => {
    const path = files[key];
    const { render }: ModelFile = MODEL_FILES[key];
    if (path !== undefined) writeText(key, path, await render(model, json));
  });
}
