import { join } from "node:path";
import { lagWarnings } from "../../../measure/client-lag.ts";
import type { TokenColumns } from "../../../measure/tokens/token-columns.ts";
import { tokenWarnings } from "../../../measure/tokens/token-warnings.ts";
import { messageOf, RunError } from "../../../plan/problem.ts";
import type { ArtifactFiles } from "../../../report/genai-perf/artifacts.ts";
import { formatGenAiPerfConsole } from "../../../report/genai-perf/console.ts";
import { formatGenAiPerfCsv } from "../../../report/genai-perf/csv.ts";
import { formatGenAiPerfJson } from "../../../report/genai-perf/json.ts";
import { familyOf } from "../../../report/genai-perf/layout.ts";
import { formatMoreMetrics } from "../../../report/genai-perf/more-metrics.ts";
import { formatRampartJson } from "../../../report/genai-perf/rampart-json.ts";
import { type GenAiPerfResult, toGenAiPerfResult } from "../../../report/genai-perf/result.ts";
import { summarizeRun } from "../../../report/genai-perf/run-summary.ts";
import { formatServerMetricsConsole } from "../../../report/genai-perf/telemetry/server-metrics-console.ts";
import {
  formatServerMetricsCsv,
  formatServerMetricsJson,
} from "../../../report/genai-perf/telemetry/server-metrics-files.ts";
import {
  formatTelemetryConsole,
  toGpuSamples,
  toTelemetrySeries,
  toTelemetryStatistics,
} from "../../../report/genai-perf/telemetry/telemetry.ts";
import { joinOutputErrors } from "../../../report/guard-report.ts";
import { writeOutput } from "../../../report/output-file.ts";
import type { RunResult } from "../../../result/run-result.ts";
import type { ScrapeResult } from "../../../telemetry/scrape-result.ts";
import type { CommandIo } from "../../execute.ts";
import { VERSION } from "../../version.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";
import { titledTypeOf } from "./answer-rules.ts";
import { drawProfile } from "./plots.ts";
import { toInputConfig } from "./to-input-config.ts";

/** Prints and writes the results of a profile that measured something. */

/** Written if a server returned metrics. GenAI-Perf's process-export-files skips the JSON, see {@link artifactFiles}. */
export const SERVER_METRICS_FILES = [
  "server_metrics_export_genai_perf_rampart.json",
  "server_metrics_export.csv",
] as const;

export interface ReportParts {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
  readonly place: ProfilePlace;
  readonly run: RunResult;
  /** Warnings that the numbers may be misleading. */
  readonly doubts: readonly string[];
  readonly columns: TokenColumns;
  readonly io: CommandIo;
}

/** Prints the results and writes the files next to the export. @throws RunError at the end, when a file could not be written */
export async function reportProfile(parts: ReportParts): Promise<Measured> {
  const { settings, place, run, columns, io } = parts;
  const { gaps } = columns;
  const result = toResult(parts);
  const measured = { columns, result };
  const lost = await writeFiles(parts, measured);
  if (run.scrape !== undefined) lost.push(...(await reportServers(parts, result, run.scrape)));
  if (gaps !== undefined) {
    const name = place.files.profileExport.replace(/\.json$/, "");
    const drawn = { name, columns, gaps, isStreaming: settings.endpoint.isStreaming };
    const formats = settings.rampart.plotFormats;
    const telemetry = run.scrape && toTelemetrySeries(run.scrape);
    await drawProfile({ settings, folder: place.folder, runs: [drawn], result, run, telemetry, formats, io });
  }
  throwLost(lost);
  return measured;
}

/** Measurements of single requests, and their statistics. */
export interface Measured {
  readonly columns: TokenColumns;
  readonly result: GenAiPerfResult;
}

/** Without `run`, these are merged exports. */
type WrittenParts = Pick<ReportParts, "settings" | "given" | "place" | "io"> &
  Partial<Pick<ReportParts, "run" | "doubts">>;

/** Prints the tables of results and writes their files. @throws RunError at the end, when a file could not be written */
export async function writeReports(parts: WrittenParts, measured: Measured): Promise<void> {
  throwLost(await writeFiles(parts, measured));
}

function throwLost(lost: readonly RunError[]): void {
  const error = joinOutputErrors(lost);
  if (error !== undefined) throw error;
}

/** Returns write errors. They affect neither the table nor the other files. */
async function writeFiles(parts: WrittenParts, measured: Measured): Promise<RunError[]> {
  const { settings, given, place, io, run, doubts = [] } = parts;
  const { folder, files } = place;
  const { columns, result } = measured;
  const { goodput } = settings.input;
  const summary = summarizeRun(columns, { family: result.family, isStreaming: result.isStreaming, goodput, run });
  io.out(formatGenAiPerfConsole(result));
  if (settings.isVerbose || summary.isRemarkable) io.out(formatMoreMetrics(summary));
  const windows = (run?.levels ?? []).map(({ window }) => window);
  const warnings = [...lagWarnings(windows, columns, result.isStreaming), ...tokenWarnings(columns)];
  for (const warning of warnings) io.err(`rampart: ${warning}.\n`);
  const config = toInputConfig(settings, given);
  const lost = write(join(folder, files.json), formatGenAiPerfJson(measured.result, config));
  lost.push(...write(join(folder, files.csv), formatGenAiPerfCsv(measured.result)));
  const about = { models: settings.modelNames, endpointType: settings.endpoint.type, isStreaming: result.isStreaming };
  const own = { summary, columns, run, goodput, about, warnings: [...doubts, ...warnings], version: VERSION };
  lost.push(...write(join(folder, files.rampart), formatRampartJson(own)));
  return lost;
}

/** Reports the servers' metrics, including GPUs: tables with `-v`, and separate files. */
async function reportServers(
  { settings, place, io }: ReportParts,
  { telemetry }: GenAiPerfResult,
  scrape: ScrapeResult,
): Promise<RunError[]> {
  if (settings.isVerbose) io.out(formatTelemetryConsole(telemetry ?? new Map()) + formatServerMetricsConsole(scrape));
  const [json, csv] = SERVER_METRICS_FILES;
  const lost = write(join(place.folder, json), formatServerMetricsJson(scrape, VERSION));
  return [...lost, ...write(join(place.folder, csv), formatServerMetricsCsv(scrape))];
}

function toResult({ settings, columns, run }: ReportParts): GenAiPerfResult {
  const kind = columns.answerKind ?? "custom";
  return toGenAiPerfResult(columns, {
    family: familyOf(kind),
    endpointType: titledTypeOf(settings, kind),
    isStreaming: settings.endpoint.isStreaming,
    goodput: settings.input.goodput ?? undefined,
    telemetry: run.scrape === undefined ? undefined : toTelemetryStatistics(toGpuSamples(run.scrape)),
  });
}

/** Returns a write error, if any. */
function write(path: string, text: string): RunError[] {
  try {
    writeOutput(path, text);
    return [];
  } catch (error) {
    const message = `${path} cannot be written: ${messageOf(error)}`;
    return [new RunError("output", message, "Give another folder with --artifact-dir.")];
  }
}

/** Paths of a profile's files, which a later run replaces. */
export interface ProfilePlace {
  readonly folder: string;
  readonly files: ArtifactFiles;
}
