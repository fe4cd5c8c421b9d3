import type { Plan } from "../plan/plan.ts";
import type { SettingPath } from "../plan/setting-names.ts";
import { toRepeatedJson, toReportJson } from "./json/report-json.ts";
import { buildRunModel } from "./model/build-model.ts";
import type { ReportModel } from "./model/report-model.ts";
import type { Report, TextSink } from "./report.ts";
import type { ReportJson } from "./schema/report-schema.ts";
import { describeWarning } from "./warnings.ts";
import { writeReport } from "./write-report.ts";

/** Renders a report: its model, and the data that the model was built from. */
export type RenderReport = (model: ReportModel, plan: Plan, json: ReportJson) => string;

/** Creates a report of a run's JSON: when the runs have ended, `show` gets it, with the warnings that appeared meanwhile. */
function createDataReport(plan: Plan, { word }: TextSink, show: (json: ReportJson) => void): Report {
  const warned: string[] = [];
  const options = { warned, word };
  return {
    onWarning: (warning) => {
      warned.push(describeWarning(warning));
    },
    finish: (result) => show(toReportJson(plan, result, options)),
    finishRuns: (repeated) => show(toRepeatedJson(plan, repeated, options)),
  };
}

/**
 * Creates a report that is a rendered model: when the runs have ended, it builds the model, renders it and writes the text.
 * @param write receives the text
 */
export function createModelReport(
  plan: Plan,
  sink: TextSink,
  render: RenderReport,
  write: (text: string) => void,
): Report {
  return createDataReport(plan, sink, (json) => write(render(buildRunModel(plan, json), plan, json)));
}

/** Creates such a report in a file. @param at the setting that chooses the file */
export function createModelFile(render: RenderReport, at: SettingPath) {
  return (plan: Plan, sink: TextSink, path: string): Report =>
    createModelReport(plan, sink, render, (text) => writeReport(path, text, at));
}

/** Creates the report for programs, which is the JSON itself. @param path of its file */
export function createJsonReport(plan: Plan, sink: TextSink, path: string): Report {
  return createDataReport(plan, sink, (json) =>
    writeReport(path, `${JSON.stringify(json, null, 2)}\n`, "outputs.files.json"),
  );
}
