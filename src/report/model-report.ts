import type { SettingPath } from "../plan/messages.ts";
import type { Plan } from "../plan/plan.ts";
import type { FollowedRuns } from "./json/followed-runs.ts";
import { writeReport } from "./output-file.ts";
import { createDataReport, createModelReport, type RenderReport, type Report, type TextSink } from "./report.ts";

/**
 * Returns the factory of a report in a file that is a rendered model.
 * @param at the setting that chooses the file
 * @param isMasked whether to mask secrets in the text; false if the renderer masks them
 */
export function createModelFile(render: RenderReport, at: SettingPath, isMasked = true) {
  return (plan: Plan, sink: TextSink, path: string, _meter?: unknown, followed?: FollowedRuns): Report =>
    createModelReport(plan, sink, render, (text) => writeReport(path, text, at, isMasked), followed);
}

/** Formats a report for programs. */
export function formatReportJson(json: object): string {
  return `${JSON.stringify(json, null, 2)}\n`;
}

/** Creates the report for programs, which is the JSON itself. @param path of the file @param followed the runs over time */
export function createJsonReport(
  plan: Plan,
  sink: TextSink,
  path: string,
  _meter?: unknown,
  followed?: FollowedRuns,
): Report {
  return createDataReport(
    plan,
    sink,
    (json) => writeReport(path, formatReportJson(json), "outputs.files.json"),
    followed,
  );
}
