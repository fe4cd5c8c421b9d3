import { rm } from "node:fs/promises";
import { join } from "node:path";
import type { StatisticName } from "../../../measure/numpy-statistics.ts";
import { defined } from "../../../plan/objects.ts";
import type { SweepSummary } from "../../../result/sweep.ts";
import { formatCsvRow } from "../../markup.ts";
import { writeReport } from "../../output-file.ts";
import { removePlots } from "../plots.ts";
import { formatTwoDecimals } from "../python-format.ts";
import { chooseAxes, findPareto, type SweepPoint, type SweepRow } from "./sweep.ts";

/** The files of a sweep. They are rewritten after each point, so that finished points are never lost. */

/** Paths of the files. */
export interface SweepFiles {
  readonly csv: string;
  readonly json: string;
  /** A folder. */
  readonly plots: string;
}

/** Returns the paths. @param folder folder of all points */
export function sweepFiles(folder: string): SweepFiles {
  return {
    csv: join(folder, "analyze_export_genai_perf.csv"),
    json: join(folder, "analyze_export_rampart.json"),
    plots: join(folder, "plots"),
  };
}

/** Removes the files of an earlier sweep, so that they are not mistaken for those of this one. */
export async function removeSweepFiles({ csv, json, plots }: SweepFiles): Promise<void> {
  for (const path of [csv, json]) await rm(path, { force: true });
  await removePlots(plots);
}

/** Writes the tables, or nothing if there are no points. @throws RunError when a file cannot be written */
export function writeSweepFiles({ csv, json }: SweepFiles, sweep: SweepSummary<SweepRow>, loadTitle: string): void {
  if (sweep.points.length === 0) return;
  writeReport(csv, formatSweepCsv(sweep.points, loadTitle), "outputs.folder");
  writeReport(json, formatSweepJson(sweep), "outputs.folder");
}

/** Formats Rampart's summary of a sweep: all results of all points, the Pareto-optimal points, and the search; with a final newline. */
export function formatSweepJson({ points, failed, search, brokenLimits }: SweepSummary<SweepPoint>): string {
  const axes = chooseAxes(points);
  const places = findPareto(points, axes);
  const document = {
    pareto: { throughput: axes.throughput, is_per_gpu: axes.gpuCounts !== undefined, latency: "request_latency.p99" },
    points: points.map(({ name, parameters, folder, result: { statistics, telemetry }, repeat }, index) => ({
      name,
      parameters: Object.fromEntries(parameters),
      ...defined({ repeat }),
      folder,
      is_pareto_optimal: places[index]?.isOptimal ?? false,
      throughput: places[index]?.throughput ?? null,
      latency_ms: places[index]?.latencyMs ?? null,
      ...(search === undefined ? {} : { broken_limits: brokenLimits.get(name) ?? [] }),
      metrics: toObject(statistics, ({ unit, values }) => ({ unit, ...Object.fromEntries(values) })),
      ...defined({
        telemetry:
          telemetry && toObject(telemetry, ({ unit, gpus }) => ({ unit, ...toObject(gpus, Object.fromEntries) })),
      }),
    })),
    failed: failed.map(({ parameters, reason }) => ({ parameters: Object.fromEntries(parameters), reason })),
    ...(search === undefined
      ? {}
      : {
          search: {
            limits: search.limits,
            answers: search.answers.map((answer) => ({
              parameter: answer.parameter,
              fixed: Object.fromEntries(answer.fixed),
              highest: answer.highest,
              lowest_broken: answer.lowestBroken,
              is_client_limited: answer.isClientLimited,
              highest_votes: answer.highestVotes,
              lowest_broken_votes: answer.lowestBrokenVotes,
            })),
          },
        }),
  };
  return `${JSON.stringify(document, null, 2)}\n`;
}

function toObject<T>(map: ReadonlyMap<string, T>, convert: (value: T) => unknown): Record<string, unknown> {
  return Object.fromEntries([...map].map(([key, value]) => [key, convert(value)]));
}

/** GenAI-Perf's summary of a sweep, `analyze_export_genai_perf.csv`. */

type Cell = readonly [header: string, metric: string, statistic: StatisticName];

const METRICS: readonly Cell[] = [
  ["p99 Time To First Token (ms)", "time_to_first_token", "p99"],
  ["p99 Inter Token Latency (ms)", "inter_token_latency", "p99"],
  ["p99 Request Latency (ms)", "request_latency", "p99"],
  ["p99 Output Sequence Length (tokens)", "output_sequence_length", "p99"],
  ["Avg. Output Token Throughput (tokens/sec)", "output_token_throughput", "avg"],
  ["Request Throughput (requests/sec)", "request_throughput", "avg"],
];
const PAGE_METRICS: readonly Cell[] = [
  ["p99 GPU Power Usage (W)", "gpu_power_usage", "p99"],
  ["p99 GPU Energy Consumption (MJ)", "energy_consumption", "p99"],
  ["p99 GPU Utilization (%)", "gpu_utilization", "p99"],
  ["p99 GPU Memory Used (GB)", "gpu_memory_used", "p99"],
  ["Avg. GPU Power Limit (W)", "gpu_power_limit", "avg"],
  ["Avg. GPU Total Memory (GB)", "total_gpu_memory", "avg"],
];

/** Formats the text, with CR LF, by descending request throughput, and 0.00 for missing values, like GenAI-Perf. */
export function formatSweepCsv(rows: readonly SweepRow[], loadHeader: string): string {
  const ordered = rows.toSorted((a, b) => throughputOf(b) - throughputOf(a));
  const lines = [
    ["Config Name", loadHeader, "ISL", "Num Dataset Entries", ...METRICS.map(([header]) => header)],
    ...ordered.map(formatRow),
    [],
    ["Config Name", "GPU", ...PAGE_METRICS.map(([header]) => header)],
    ...gpusOf(ordered).flatMap((gpu) => ordered.map((row) => formatGpuRow(row, gpu))),
  ];
  return lines.map((line) => formatCsvRow(line)).join("");
}

function throughputOf({ result }: SweepPoint): number {
  return result.statistics.get("request_throughput")?.values.get("avg") ?? 0;
}

function formatRow({ name, load, datasetEntries, result: { statistics } }: SweepRow): string[] {
  const isl = statistics.get("input_sequence_length")?.values.get("p99") ?? 0;
  const values = METRICS.map(([, metric, statistic]) => statistics.get(metric)?.values.get(statistic));
  return [name, String(load), String(Math.trunc(isl)), String(datasetEntries), ...values.map(format)];
}

function formatGpuRow({ name, result }: SweepRow, gpu: string): string[] {
  const values = PAGE_METRICS.map(([, metric, statistic]) =>
    result.telemetry?.get(metric)?.gpus.get(gpu)?.get(statistic),
  );
  return [name, gpu, ...values.map(format)];
}

/** Uses the GPUs of all rows. GenAI-Perf uses those of the first row, which may have no measurement. */
function gpusOf(rows: readonly SweepRow[]): string[] {
  const gpus = rows.flatMap(({ result }) => [...(result.telemetry?.get("gpu_power_usage")?.gpus.keys() ?? [])]);
  return [...new Set(gpus)];
}

function format(value: number | undefined): string {
  return formatTwoDecimals(value ?? 0).replaceAll(",", "");
}
