import type { SettingPath } from "../plan/messages.ts";
import type { Plan } from "../plan/plan.ts";
import type { RunResult } from "../result/run-result.ts";
import type { FollowedRuns } from "./json/followed-runs.ts";
import type { ReportOptions } from "./json/report-json.ts";
import type { ReportModel } from "./model/report-model.ts";
import { writeReport } from "./output-file.ts";
import type { Report, TextSink } from "./report.ts";
import type { ReportJson } from "./schema/report-schema.ts";
import { describeWarning } from "./warning-text.ts";

/** Renders a report. */
export type RenderReport = (model: ReportModel) => string | Promise<string>;

/** Receives the JSON of runs that have ended. */
type ShowJson = (json: ReportJson) => void | Promise<void>;

/** The JSON and the model need libraries, which are not loaded before the first request. */
const loadJson = () => import("./json/report-json.ts");

/**
 * Creates a report of the JSON of runs, with the warnings that appeared meanwhile.
 * @param followed what follows the runs over time. Absent: the JSON lacks that
 */
export function createDataReport(plan: Plan, { nameOf }: TextSink, show: ShowJson, followed?: FollowedRuns): Report {
  const warned: string[] = [];
  const optionsOf = (results: readonly RunResult[]): ReportOptions => ({
    ...{ warned, nameOf },
    ...(followed === undefined ? {} : { overTime: followed.toJson(results) }),
  });
  return {
    onWarning: (warning) => {
      warned.push(describeWarning(warning, nameOf));
    },
    finish: async (result) => {
      const { toReportJson } = await loadJson();
      await show(toReportJson(plan, result, optionsOf([result])));
    },
    finishRuns: async (repeated) => {
      const { toRepeatedJson } = await loadJson();
      await show(toRepeatedJson(plan, repeated, optionsOf(repeated.runs)));
    },
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
  followed?: FollowedRuns,
): Report {
  const show: ShowJson = async (json) => {
    const { buildRunModel } = await import("./model/build-model.ts");
    write(await render(buildRunModel(plan, json)));
  };
  return createDataReport(plan, sink, show, followed);
}

/**
 * Returns what creates such a report in a file.
 * @param at the setting that chooses the file
 * @param isMasked whether secrets in the text are masked; false where the renderer does that
 */
export function createModelFile(render: RenderReport, at: SettingPath, isMasked = true) {
  return (plan: Plan, sink: TextSink, path: string, _meter?: unknown, followed?: FollowedRuns): Report =>
    createModelReport(plan, sink, render, (text) => writeReport(path, text, at, isMasked), followed);
}

/** Formats a report for programs. */
export function formatReportJson(json: object): string {
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Creates the report for programs, which is the JSON itself. @param path of its file @param followed the runs over time */
export function createJsonReport(
  plan: Plan,
  sink: TextSink,
  path: string,
  _meter?: unknown,
  followed?: FollowedRuns,
): Report {
  const show: ShowJson = (json) => writeReport(path, formatReportJson(json), "outputs.files.json");
  return createDataReport(plan, sink, show, followed);
}
