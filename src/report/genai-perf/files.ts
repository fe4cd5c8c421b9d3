import type { Plan } from "../../plan/plan.ts";
import type { FollowedRuns } from "../json/followed-runs.ts";
import { toReportJson } from "../json/report-json.ts";
import { formatReportJson } from "../model-files.ts";
import { writeReport } from "../output-file.ts";
import { createDataReport, type Report, type TextSink, writeEach } from "../report.ts";
import type { ReportJson } from "../schema/report-schema.ts";
import { formatGenAiPerfCsv } from "./csv.ts";
import { formatGenAiPerfJson } from "./json.ts";
import { type Measured, measuredOf } from "./measured.ts";
import type { ArtifactFiles } from "./outputs.ts";
import { formatServerMetricsCsv, formatServerMetricsJson } from "./telemetry/server-metrics.ts";

/** GenAI-Perf's files of a run, written at its end. */

/** Setting that chooses the folder of the files. */
const FOLDER = "outputs.folder";

/** The keys of these files in a plan. */
export type ArtifactKey = Exclude<keyof ArtifactFiles, "plots" | "profileExport">;

/** Formats each file; undefined if there is nothing to write. */
const FORMATS: Readonly<Record<ArtifactKey, (measured: Measured, sink: TextSink) => string | undefined>> = {
  genaiPerfJson: ({ result, outputs }) => formatGenAiPerfJson(result, outputs.inputConfig),
  genaiPerfCsv: ({ result }) => formatGenAiPerfCsv(result),
  json: ({ reported }, { nameOf }) => formatReportJson(toReportJson(reported.prepared.plan, reported, { nameOf })),
  serverMetricsJson: ({ run }) => run?.scrape && formatServerMetricsJson(run.scrape),
  serverMetricsCsv: ({ run }) => run?.scrape && formatServerMetricsCsv(run.scrape),
};

type CreateArtifact = (plan: Plan, sink: TextSink, path: string, followed: FollowedRuns | undefined) => Report;

/** Returns the factory for the report of one file. */
export function createArtifact(key: ArtifactKey): CreateArtifact {
  return (
    FOLLOWING[key] ??
    ((_plan, sink, path) => ({
      finish: (run) => {
        const measured = measuredOf(run);
        if (measured !== undefined) writeArtifact(key, measured, sink, path);
      },
    }))
  );
}

/** Creates the files that also contain events of the run. */
const FOLLOWING: Readonly<Partial<Record<ArtifactKey, CreateArtifact>>> = { json: createProfileReport };

/** Creates Rampart's report of a profile, with the events and warnings of the run. */
function createProfileReport(...[plan, sink, path, followed]: Parameters<CreateArtifact>): Report {
  const show = (json: ReportJson): void => writeReport(path, formatReportJson(json), FOLDER);
  const report = createDataReport(plan, sink, show, followed);
  return {
    ...report,
    finish: async (run) => {
      const measured = measuredOf(run);
      if (measured !== undefined) await report.finish(measured.reported);
    },
  };
}

/** Writes the files of merged exports. @throws RunError at the end, naming each file that could not be written */
export function writeArtifacts(measured: Measured, sink: TextSink, files: ArtifactFiles): Promise<void> {
  return writeEach(Object.keys(FORMATS) as ArtifactKey[], (key) => writeArtifact(key, measured, sink, files[key]));
}

function writeArtifact(key: ArtifactKey, measured: Measured, sink: TextSink, path: string): void {
  const text = FORMATS[key](measured, sink);
  if (text !== undefined) writeReport(path, text, FOLDER);
}
