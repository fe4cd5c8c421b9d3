import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { SweepSummary } from "../../../result/sweep.ts";
import { writeReport } from "../../write-report.ts";
import { removePlots } from "../plots.ts";
import type { SweepRow } from "./sweep.ts";
import { formatSweepCsv } from "./sweep-csv.ts";
import { formatSweepJson } from "./sweep-json.ts";

/** The files of a sweep. They are rewritten after each point, so that finished points are never lost. */

/** Their paths. */
export interface SweepFiles {
  readonly csv: string;
  readonly json: string;
  /** A folder. */
  readonly plots: string;
}

/** Returns the paths. @param folder of all points */
export function sweepFiles(folder: string): SweepFiles {
  return {
    csv: join(folder, "analyze_export_genai_perf.csv"),
    json: join(folder, "analyze_export_rampart.json"),
    plots: join(folder, "plots"),
  };
}

/** Removes the files of an earlier sweep, so that they are not taken for those of this one. */
export async function removeSweepFiles({ csv, json, plots }: SweepFiles): Promise<void> {
  for (const path of [csv, json]) await rm(path, { force: true });
  await removePlots(plots);
}

/** Writes the tables, or nothing if there are no points. @throws RunError when a file cannot be written */
export function writeSweepFiles(
  { csv, json }: SweepFiles,
  sweep: SweepSummary<SweepRow>,
  loadTitle: "Concurrency" | "Request Rate",
): void {
  if (sweep.points.length === 0) return;
  writeReport(csv, formatSweepCsv(sweep.points, loadTitle), "outputs.folder");
  writeReport(json, formatSweepJson(sweep), "outputs.folder");
}
