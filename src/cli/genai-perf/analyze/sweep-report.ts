import { rm } from "node:fs/promises";
import { join } from "node:path";
import { removePlots } from "../../../report/genai-perf/plots.ts";
import { formatSweepCsv, type SweepRow } from "../../../report/genai-perf/sweep/sweep-csv.ts";
import { type FailedPoint, formatSweepJson, type SearchSummary } from "../../../report/genai-perf/sweep/sweep-json.ts";
import { writeReport } from "../../../report/write-report.ts";
import { loadOf } from "../loads.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { PointOutcome } from "./measure-point.ts";
import { findLoadSweep } from "./points.ts";

/** Writes the files of a sweep. They are rewritten after each point, so that finished points are never lost. */

/** Progress of a sweep. */
export interface SweepState {
  readonly measured: (PointOutcome & { readonly kind: "measured" })[];
  readonly failed: FailedPoint[];
  /** Undefined without a search. */
  readonly search: { readonly limits: readonly string[]; readonly answers: SearchSummary[] } | undefined;
  /** The limits that each point breaks, by its name; only with a search. */
  readonly brokenLimits: Map<string, readonly string[]>;
}

/** Returns the paths of the files. */
export function sweepFiles({
  output: { artifactDir },
}: GenaiSettings): Readonly<Record<"csv" | "json" | "plots", string>> {
  return {
    csv: join(artifactDir, "analyze_export_genai_perf.csv"),
    json: join(artifactDir, "analyze_export_rampart.json"),
    plots: join(artifactDir, "plots"),
  };
}

/** Removes the files of an earlier sweep, so that they are not taken for those of this one. */
export async function removeSweepFiles(settings: GenaiSettings): Promise<void> {
  const { csv, json, plots } = sweepFiles(settings);
  for (const path of [csv, json]) await rm(path, { force: true });
  await removePlots(plots);
}

/** Writes both files, or nothing if there are no points. @throws RunError when a file cannot be written */
export function writeSweepFiles(settings: GenaiSettings, state: SweepState): void {
  const { measured, failed, search, brokenLimits } = state;
  if (measured.length === 0) return;
  const { csv, json } = sweepFiles(settings);
  const rows = measured.map((one) => ({ ...one.point, ...describeLoad(one.settings) }));
  writeReport(csv, formatSweepCsv(rows, loadHeader(settings)), "outputs.folder");
  writeReport(json, formatSweepJson({ points: rows, failed, search, brokenLimits }), "outputs.folder");
}

function loadHeader({ analyze, perfAnalyzer }: GenaiSettings): "Concurrency" | "Request Rate" {
  return loadOf(findLoadSweep(analyze.sweeps)?.type ?? perfAnalyzer.stimulus.kind).title;
}

/** Like GenAI-Perf, a load without a number counts as 1. */
function describeLoad({ perfAnalyzer, input }: GenaiSettings): Pick<SweepRow, "load" | "datasetEntries"> {
  return { load: perfAnalyzer.stimulus.value ?? 1, datasetEntries: input.datasetEntries };
}
