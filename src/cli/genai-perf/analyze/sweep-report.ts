import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { formatSweepCsv, type SweepRow } from "../../../report/genai-perf/sweep/sweep-csv.ts";
import { type FailedPoint, formatSweepJson, type SearchSummary } from "../../../report/genai-perf/sweep/sweep-json.ts";
import { writeOutput } from "../../../report/output-file.ts";
import { loadOf } from "../loads.ts";
import type { GenaiSettings } from "../options/settings.ts";
import { removePlots } from "../profile/plots.ts";
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
export function sweepFiles({ output }: GenaiSettings): { readonly csv: string; readonly json: string } {
  return {
    csv: join(output.artifactDir, "analyze_export_genai_perf.csv"),
    json: join(output.artifactDir, "analyze_export_rampart.json"),
  };
}

/** Removes the files of an earlier sweep, so that they are not taken for those of this one. */
export async function removeSweepFiles(settings: GenaiSettings): Promise<void> {
  for (const path of Object.values(sweepFiles(settings))) await rm(path, { force: true });
  await removePlots(settings.output.artifactDir);
}

/** Writes both files, or nothing if there are no points. @throws RunError when a file cannot be written */
export async function writeSweepFiles(settings: GenaiSettings, state: SweepState): Promise<void> {
  const { measured, failed, search, brokenLimits } = state;
  if (measured.length === 0) return;
  const { csv, json } = sweepFiles(settings);
  const rows = measured.map((one) => ({ ...one.point, ...describeLoad(one.settings) }));
  await write(csv, formatSweepCsv(rows, loadHeader(settings)));
  await write(json, formatSweepJson({ points: rows, failed, search, brokenLimits }));
}

function loadHeader({ analyze, perfAnalyzer }: GenaiSettings): "Concurrency" | "Request Rate" {
  return loadOf(findLoadSweep(analyze.sweeps)?.type ?? perfAnalyzer.stimulus.kind).title;
}

/** Like GenAI-Perf, a load without a number counts as 1. */
function describeLoad({ perfAnalyzer, input }: GenaiSettings): Pick<SweepRow, "load" | "datasetEntries"> {
  return { load: perfAnalyzer.stimulus.value ?? 1, datasetEntries: input.datasetEntries };
}

async function write(path: string, text: string): Promise<void> {
  try {
    await mkdir(join(path, ".."), { recursive: true });
    writeOutput(path, text);
  } catch (error) {
    const hint = "Give another folder with --artifact-dir.";
    throw new RunError("output", `${path} cannot be written: ${messageOf(error)}`, hint);
  }
}
