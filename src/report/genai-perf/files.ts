import { word } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import { RunError } from "../../plan/problem.ts";
import { joinOutputErrors } from "../guard-report.ts";
import type { Report, TextSink } from "../report.ts";
import { writeReport } from "../write-report.ts";
import type { ArtifactFiles } from "./artifacts.ts";
import { formatGenAiPerfCsv } from "./csv.ts";
import { formatGenAiPerfJson } from "./json.ts";
import { type Measured, measuredOf } from "./measured.ts";
import { formatRampartJson } from "./rampart-json.ts";
import { formatServerMetricsCsv, formatServerMetricsJson } from "./telemetry/server-metrics-files.ts";

/** GenAI-Perf's files of a run, written at its end. */

/** The keys of these files in a plan. */
export type ArtifactKey = Exclude<keyof ArtifactFiles, "plots" | "profileExport">;

/** Formats each file; undefined if there is nothing to write. */
const FORMATS: Readonly<Record<ArtifactKey, (measured: Measured, sink: TextSink) => string | undefined>> = {
  genaiPerfJson: ({ result, outputs }) => formatGenAiPerfJson(result, outputs.inputConfig),
  genaiPerfCsv: ({ result }) => formatGenAiPerfCsv(result),
  genaiPerfRampart: (measured, { nameOf }) => {
    const { models, outputs, result, doubts, warnings } = measured;
    const about = { ...outputs, models, isStreaming: result.isStreaming };
    return formatRampartJson({ ...measured, about }, [...doubts.map((doubt) => word(doubt, nameOf)), ...warnings]);
  },
  serverMetricsJson: ({ run }) => run?.scrape && formatServerMetricsJson(run.scrape),
  serverMetricsCsv: ({ run }) => run?.scrape && formatServerMetricsCsv(run.scrape),
};

/** Returns what creates the report of one file. */
export function createArtifact(key: ArtifactKey): (plan: Plan, sink: TextSink, path: string) => Report {
  return (_plan, sink, path) => ({
    finish: (run) => {
      const measured = measuredOf(run);
      if (measured !== undefined) writeArtifact(key, measured, sink, path);
    },
  });
}

/** Writes the files of merged exports. @throws RunError at the end, naming each file that could not be written */
export function writeArtifacts(measured: Measured, sink: TextSink, files: ArtifactFiles): void {
  const lost: RunError[] = [];
  for (const key of Object.keys(FORMATS) as ArtifactKey[])
    try {
      writeArtifact(key, measured, sink, files[key]);
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      lost.push(error);
    }
  const error = joinOutputErrors(lost);
  if (error !== undefined) throw error;
}

function writeArtifact(key: ArtifactKey, measured: Measured, sink: TextSink, path: string): void {
  const text = FORMATS[key](measured, sink);
  if (text !== undefined) writeReport(path, text, "outputs.folder");
}
