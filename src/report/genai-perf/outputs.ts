import { basename, join } from "node:path";
import type { GoodputLimits } from "../../measure/tokens/goodput.ts";
import type { PlotFormat } from "../plot.ts";
import type { PythonJson } from "./python-format.ts";

/** Settings of a run that only GenAI-Perf's outputs need: names, and formatting. */
export interface GenaiOutputs {
  /** Folder of the files of the run. */
  readonly folder: string;
  /** GenAI-Perf's name: `chat`, `vision`, … */
  readonly endpointType: string;
  /** The endpoint type that determines the title of the reports. Default: derived from the kind of the responses */
  readonly titledType?: string;
  /** GenAI-Perf's name of the load, and its number if it has one. */
  readonly load: { readonly kind: string; readonly value?: number };
  /** GenAI-Perf's limits of a good request. Absent: none. */
  readonly goodput?: GoodputLimits;
  /** The whole configuration, for the JSON. */
  readonly inputConfig: PythonJson;
  /** Formats of the plots; empty if there are none. */
  readonly plotFormats: readonly PlotFormat[];
  readonly isVerbose: boolean;
}

declare module "../../plan/plan.ts" {
  interface OutputsPlan {
    /** Only with the style `genai-perf`. */
    readonly genaiPerf?: GenaiOutputs;
  }
}

/** Names of GenAI-Perf's files. */

/** Paths of a run's files, by their keys in a plan. */
export type ArtifactFiles = ReturnType<typeof artifactFiles>;

/** Returns the files of a run. @param profileExportFile name of the export; a folder in it applies only to the export */
export function artifactFiles(folder: string, profileExportFile: string) {
  const stem = join(folder, basename(profileExportFile).replace(/(?<=.)\.[^.]*$/, ""));
  return {
    profileExport: join(folder, profileExportFile),
    genaiPerfJson: `${stem}_genai_perf.json`,
    genaiPerfCsv: `${stem}_genai_perf.csv`,
    /**
     * Rampart's report. GenAI-Perf's process-export-files takes the first `*.json` without `_genai_perf` in its name as the export,
     * and the first `*_genai_perf.json` as the report. This name and the next one match neither pattern.
     */
    json: `${stem}_genai_perf_rampart.json`,
    /** Written if a server returned metrics, like the CSV. */
    serverMetricsJson: join(folder, "server_metrics_export_genai_perf_rampart.json"),
    serverMetricsCsv: join(folder, "server_metrics_export.csv"),
    plots: plotsFolder(folder),
  };
}

/** Returns the folder of a run's plots. @param folder folder of the run's files */
export function plotsFolder(folder: string): string {
  return join(folder, "plots");
}
