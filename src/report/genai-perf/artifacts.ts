import { basename, join } from "node:path";

/** Names of GenAI-Perf's files. */

/** Paths of a run's files, by their keys in a plan. */
export interface ArtifactFiles {
  readonly profileExport: string;
  readonly genaiPerfJson: string;
  readonly genaiPerfCsv: string;
  /**
   * Rampart's own file. GenAI-Perf's process-export-files takes the first `*.json` without `_genai_perf` in its name as the export, and the
   * first `*_genai_perf.json` as the report. This name and that of `serverMetricsJson` match neither.
   */
  readonly genaiPerfRampart: string;
  /** Written if a server returned metrics, as is the CSV. */
  readonly serverMetricsJson: string;
  readonly serverMetricsCsv: string;
  /** A folder. */
  readonly plots: string;
}

/**
 * Returns the files of a run.
 * @param profileExportFile name of its export, by default `profile_export.json`; only the export keeps a folder in that name
 */
export function artifactFiles(folder: string, profileExportFile: string): ArtifactFiles {
  const stem = basename(profileExportFile).replace(/(?<=.)\.[^.]*$/, "");
  const names: ArtifactFiles = {
    profileExport: profileExportFile,
    genaiPerfJson: `${stem}_genai_perf.json`,
    genaiPerfCsv: `${stem}_genai_perf.csv`,
    genaiPerfRampart: `${stem}_genai_perf_rampart.json`,
    serverMetricsJson: "server_metrics_export_genai_perf_rampart.json",
    serverMetricsCsv: "server_metrics_export.csv",
    plots: "plots",
  };
  return Object.fromEntries(
    Object.entries(names).map(([key, name]) => [key, join(folder, name)]),
  ) as object as ArtifactFiles;
}
