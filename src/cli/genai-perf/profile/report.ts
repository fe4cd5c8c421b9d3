import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AnswerTimes } from "../../../measure/answer-times.ts";
import { TokenGaps } from "../../../measure/token-gaps.ts";
import type { TokenColumns } from "../../../measure/token-metrics.ts";
import { tokenWarnings } from "../../../measure/token-warnings.ts";
import { messageOf, RunError } from "../../../plan/problem.ts";
import { formatGenAiPerfConsole } from "../../../report/genai-perf/console.ts";
import { formatGenAiPerfCsv } from "../../../report/genai-perf/csv.ts";
import { formatGenAiPerfJson } from "../../../report/genai-perf/json.ts";
import { familyOf } from "../../../report/genai-perf/layout.ts";
import { measureExports } from "../../../report/genai-perf/measure-export.ts";
import { formatMoreMetrics } from "../../../report/genai-perf/more-metrics.ts";
import { formatRampartJson } from "../../../report/genai-perf/rampart-json.ts";
import type { RecordsFile } from "../../../report/genai-perf/records-file.ts";
import { type GenAiPerfResult, toGenAiPerfResult } from "../../../report/genai-perf/result.ts";
import { summarizeRun } from "../../../report/genai-perf/run-summary.ts";
import { formatServerMetricsConsole } from "../../../report/genai-perf/server-metrics-console.ts";
import { formatServerMetricsCsv, formatServerMetricsJson } from "../../../report/genai-perf/server-metrics-files.ts";
import {
  formatTelemetryConsole,
  toGpuSamples,
  toTelemetrySeries,
  toTelemetryStatistics,
} from "../../../report/genai-perf/telemetry.ts";
import { openProfileExport } from "../../../report/read/profile-export.ts";
import type { RunResult } from "../../../run/observer.ts";
import type { ScrapeResult } from "../../../telemetry/scrape-result.ts";
import type { Tokenizer } from "../../../tokenize/tokenizer.ts";
import type { CommandIo } from "../../execute.ts";
import { VERSION } from "../../version.ts";
import type { GenaiSettings } from "../settings.ts";
import type { GivenSettings } from "../settings-builder.ts";
import { readingOf } from "./answer-rules.ts";
import { drawProfile } from "./plots.ts";
import type { ProfilePlace } from "./run-profile.ts";
import { toInputConfig } from "./to-input-config.ts";

/** What is printed and written of a profile that measured something. */

/** Written where a server told its metrics. */
export const SERVER_METRICS_FILES = ["server_metrics_export.json", "server_metrics_export.csv"] as const;

export interface ReportParts {
  readonly settings: GenaiSettings;
  readonly given: GivenSettings;
  readonly place: ProfilePlace;
  readonly run: RunResult;
  /** What makes its numbers say something else than they seem to. */
  readonly doubts: readonly string[];
  /** Undefined: the server's own counts are all there is. */
  readonly tokenizer: Tokenizer | undefined;
  /** Tokens of the input of a body that does not tell itself. */
  readonly countPayload: ((payload: string) => number) | undefined;
  /** Told of each request; undefined where nobody wants single requests. */
  readonly records: RecordsFile | undefined;
  readonly io: CommandIo;
}

/** Measures a run's export, prints the table, and writes the files beside the export. @throws RunError when one cannot be written */
export async function reportProfile(parts: ReportParts): Promise<Measured> {
  const { settings, place, run, io } = parts;
  const gaps = settings.output.isPlotting ? new TokenGaps() : undefined;
  const measured = measure(parts, gaps);
  await writeReports(parts, measured);
  if (run.scrape !== undefined) await reportServers(parts, measured.result, run.scrape);
  if (gaps !== undefined) {
    const name = place.files.profileExport.replace(/\.json$/, "");
    const drawn = { name, columns: measured.columns, gaps, isStreaming: settings.endpoint.isStreaming };
    const formats = settings.rampart.plotFormats;
    const telemetry = run.scrape && toTelemetrySeries(run.scrape);
    const { result } = measured;
    await drawProfile({ settings, folder: place.folder, runs: [drawn], result, run, telemetry, formats, io });
  }
  return measured;
}

/** What was measured, request by request and as statistics. */
export interface Measured {
  readonly columns: TokenColumns;
  readonly result: GenAiPerfResult;
}

/** Without a run, several exports were merged. */
type WrittenParts = Pick<ReportParts, "settings" | "given" | "place" | "io"> &
  Partial<Pick<ReportParts, "run" | "doubts">>;

/** Prints the tables of results and writes their files. @throws RunError when one cannot be written */
export async function writeReports(parts: WrittenParts, measured: Measured): Promise<void> {
  const { settings, given, place, io, run, doubts = [] } = parts;
  const { folder, files } = place;
  const { columns, result } = measured;
  const { goodput } = settings.input;
  const summary = summarizeRun(columns, { family: result.family, isStreaming: result.isStreaming, goodput, run });
  io.out(formatGenAiPerfConsole(result));
  if (settings.isVerbose || summary.isRemarkable) io.out(formatMoreMetrics(summary));
  const warnings = tokenWarnings(columns);
  for (const warning of warnings) io.err(`rampart: ${warning}.\n`);
  const config = toInputConfig(settings, given);
  await write(join(folder, files.json), formatGenAiPerfJson(measured.result, config));
  await write(join(folder, files.csv), formatGenAiPerfCsv(measured.result));
  const about = { models: settings.modelNames, endpointType: settings.endpoint.type, isStreaming: result.isStreaming };
  const own = { summary, columns, run, goodput, about, warnings: [...doubts, ...warnings], version: VERSION };
  await write(join(folder, files.rampart), formatRampartJson(own));
}

/** What servers told of themselves, GPUs included: tables with `-v`, and files of their own. */
async function reportServers(
  { settings, place, io }: ReportParts,
  { telemetry }: GenAiPerfResult,
  scrape: ScrapeResult,
): Promise<void> {
  if (settings.isVerbose) io.out(formatTelemetryConsole(telemetry ?? new Map()) + formatServerMetricsConsole(scrape));
  const [json, csv] = SERVER_METRICS_FILES;
  await write(join(place.folder, json), formatServerMetricsJson(scrape, VERSION));
  await write(join(place.folder, csv), formatServerMetricsCsv(scrape));
}

function measure(
  { settings, place, tokenizer, countPayload, run, records }: ReportParts,
  gaps: TokenGaps | undefined,
): Measured {
  const { endpoint, input } = settings;
  const countTokens = tokenizer === undefined ? undefined : (text: string): number => tokenizer.count(text);
  const source = openProfileExport(join(place.folder, place.files.profileExport));
  const onTimes = gaps && (({ contentNs }: AnswerTimes): void => gaps.add(contentNs));
  const { kind, field, endpointType } = readingOf(settings, source);
  const columns = measureExports([source], {
    kind,
    countTokens,
    field,
    countPayload,
    onTimes,
    onMeasured: records && ((request) => records.add(request)),
  });
  const result = toGenAiPerfResult(columns, {
    family: familyOf(kind),
    endpointType,
    isStreaming: endpoint.isStreaming,
    goodput: input.goodput ?? undefined,
    telemetry: run.scrape === undefined ? undefined : toTelemetryStatistics(toGpuSamples(run.scrape)),
  });
  return { columns, result };
}

async function write(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new RunError(
      "output",
      `${path} cannot be written: ${messageOf(error)}`,
      "Give another folder with --artifact-dir.",
    );
  }
}
