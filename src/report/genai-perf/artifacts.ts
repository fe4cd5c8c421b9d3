/** Names of GenAI-Perf's files. */

/** Paths of a run's files. */
export interface ArtifactFiles {
  readonly profileExport: string;
  readonly json: string;
  readonly csv: string;
  /**
   * Rampart's own file. GenAI-Perf's process-export-files takes the first `*.json` without `_genai_perf` in its name as the export, and the
   * first `*_genai_perf.json` as the report. This name matches neither.
   */
  readonly rampart: string;
}

/** Returns the files of a run for the name of its export, by default `profile_export.json`. Only the export keeps a folder in that name. */
export function artifactFiles(profileExportFile: string): ArtifactFiles {
  const base = profileExportFile.split("/").at(-1) as string;
  const stem = base.replace(/(?<=.)\.[^.]*$/, "");
  return {
    profileExport: profileExportFile,
    json: `${stem}_genai_perf.json`,
    csv: `${stem}_genai_perf.csv`,
    rampart: `${stem}_genai_perf_rampart.json`,
  };
}
