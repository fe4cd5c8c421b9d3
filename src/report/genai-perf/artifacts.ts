import { basename, join } from "node:path";
import { formatFloat } from "./python-format.ts";

/** Names of GenAI-Perf's artifact folders and files. */

/** The load, as it appears in the name of a run's folder. */
export type Stimulus =
  | { readonly kind: "concurrency"; readonly value: number }
  | { readonly kind: "request_rate"; readonly value: number }
  | { readonly kind: "session_concurrency"; readonly value: number }
  | { readonly kind: "fixed_schedule" }
  /** Gaps from an intervals file of perf_analyzer. */
  | { readonly kind: "request_intervals" }
  /** A payload file with its own times, without a schedule flag. */
  | { readonly kind: "none" }
  /** What `analyze` varies: names and values in order. */
  | { readonly kind: "sweep"; readonly values: readonly (readonly [name: string, value: number])[] };

export interface ArtifactNaming {
  readonly models: readonly string[];
  /** For example `openai` or `triton`. */
  readonly serviceKind: string;
  /** The endpoint type; for Triton the backend (`tensorrtllm`, `vllm`). */
  readonly endpointType: string;
  readonly stimulus: Stimulus;
}

/** Returns the folder below `artifacts/`: `tiny-openai-chat-concurrency2`. */
export function artifactFolder({ models, serviceKind, endpointType, stimulus }: ArtifactNaming): string {
  const model = `${models[0] ?? ""}${models.length > 1 ? "_multi" : ""}`.replaceAll("/", "_");
  const kind = serviceKind === "tensorrtllm_engine" ? serviceKind : `${serviceKind}-${endpointType.toLowerCase()}`;
  return [model, kind, ...stimulusNames(stimulus)].join("-");
}

function stimulusNames(stimulus: Stimulus): string[] {
  switch (stimulus.kind) {
    case "none":
      return [];
    case "fixed_schedule":
    case "request_intervals":
      return [stimulus.kind];
    case "request_rate":
      return [`request_rate${formatFloat(stimulus.value)}`];
    case "sweep":
      return stimulus.values.map(([name, value]) => `${name}${value}`);
    default:
      return [`${stimulus.kind}${stimulus.value}`];
  }
}

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

declare module "../../plan/plan.ts" {
  interface OutputFilesPlan extends Partial<ArtifactFiles> {}
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
