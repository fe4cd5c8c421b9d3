import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { SweepSummary } from "../../../result/sweep.ts";
import { writeReport } from "../../write-report.ts";
import { removePlots } from "../plots.ts";
import type { Statistics, TelemetryStatistics } from "../result.ts";
import { chooseAxes, findPareto } from "./pareto.ts";
import type { SweepPoint, SweepRow } from "./sweep.ts";
import { formatSweepCsv } from "./sweep-csv.ts";

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

/** Formats Rampart's own summary of a sweep: all results of all points, the Pareto-optimal points, and the search; with a final newline. */
export function formatSweepJson({ points, failed, search, brokenLimits }: SweepSummary<SweepPoint>): string {
  const axes = chooseAxes(points);
  const places = findPareto(points, axes);
  const document = {
    pareto: { throughput: axes.throughput, is_per_gpu: axes.gpuCounts !== undefined, latency: "request_latency.p99" },
    points: points.map(({ name, parameters, folder, result, repeat }, index) => ({
      name,
      parameters: Object.fromEntries(parameters),
      ...(repeat === undefined ? {} : { repeat }),
      folder,
      is_pareto_optimal: places[index]?.isOptimal ?? false,
      throughput: places[index]?.throughput ?? null,
      latency_ms: places[index]?.latencyMs ?? null,
      ...(search === undefined ? {} : { broken_limits: brokenLimits.get(name) ?? [] }),
      metrics: toJson(result.statistics),
      ...(result.telemetry === undefined ? {} : { telemetry: telemetryToJson(result.telemetry) }),
    })),
    failed: failed.map(({ parameters, reason }) => ({ parameters: Object.fromEntries(parameters), reason })),
    ...(search === undefined
      ? {}
      : {
          search: {
            limits: search.limits,
            responses: search.responses.map((response) => ({
              parameter: response.parameter,
              fixed: Object.fromEntries(response.fixed),
              highest: response.highest,
              lowest_broken: response.lowestBroken,
              is_client_limited: response.isClientLimited,
              highest_votes: response.highestVotes,
              lowest_broken_votes: response.lowestBrokenVotes,
            })),
          },
        }),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toJson(statistics: Statistics): Record<string, unknown> {
  return toObject(statistics, ({ unit, values }) => ({ unit, ...Object.fromEntries(values) }));
}

function telemetryToJson(telemetry: TelemetryStatistics): Record<string, unknown> {
  return toObject(telemetry, ({ unit, gpus }) => ({ unit, ...toObject(gpus, Object.fromEntries) }));
}

function toObject<T>(map: ReadonlyMap<string, T>, convert: (value: T) => unknown): Record<string, unknown> {
  return Object.fromEntries([...map].map(([key, value]) => [key, convert(value)]));
}
