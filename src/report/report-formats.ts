import type { TokenLink } from "../measure/tokens/token-link.ts";
import type { SettingPath } from "../plan/messages.ts";
import type { OutputFilesPlan } from "../plan/output-files-plan.ts";
import type { Plan } from "../plan/plan.ts";
import { problem, UserError, userError } from "../plan/problem.ts";
import type { ArtifactKey } from "./genai-perf/files.ts";
import { type FollowedRuns, followRuns } from "./json/followed-runs.ts";
import type { LiveReports } from "./live/live-reports.ts";
import { createJsonReport, createModelFile, MODEL_FILES, type ModelFileKey } from "./model-files.ts";
import { createEarlierFiles } from "./output-file.ts";
import { outputFilesOf } from "./output-place.ts";
import { PerfAnalyzerConsole } from "./perf-analyzer/console.ts";
import { createPerfAnalyzerCsv } from "./perf-analyzer/csv.ts";
import { ProfileExport } from "./profile-export.ts";
import { createRecordsReport } from "./records/records.ts";
import { createDataReport, type Report, type TextSink } from "./report.ts";
import type { ReportJson } from "./schema/report-schema.ts";
import { RampartConsole } from "./text/console.ts";

/** A report that depends on the front door. */
interface ReportKind {
  isWanted(plan: Plan): boolean;
  create(plan: Plan, sink: TextSink): Report | Promise<Report>;
}

/** @param meter measures the tokens, if a front door has opened it @param followed follows the runs over time */
type CreateFile = (
  plan: Plan,
  sink: TextSink,
  path: string,
  meter: TokenLink | undefined,
  followed: FollowedRuns | undefined,
) => Report | Promise<Report>;

/** Reports on the terminal, and the removal of earlier files, in the order in which they receive events. */
const REPORTS: readonly ReportKind[] = [
  {
    isWanted: (plan) => outputFilesOf(plan).length > 0,
    create: createEarlierFiles,
  },
  {
    isWanted: ({ outputs }) => outputs.style === "perf_analyzer" || isVerboseProfile(outputs),
    create: (plan, sink) => new PerfAnalyzerConsole(plan, sink),
  },
  {
    isWanted: (plan) => plan.outputs.style === "rampart",
    create: (plan, sink) => new RampartConsole(plan, sink),
  },
  {
    isWanted: ({ outputs }) => outputs.style === "genai-perf",
    create: async (plan, sink) => (await import("./genai-perf/run-console.ts")).createGenaiPerfConsole(plan, sink),
  },
];

/**
 * Reports of single requests, of compatible modes and for programs, by the key of their file in the plan. Large modules are loaded
 * when needed. Reports that render a model are in {@link MODEL_FILES}.
 */
const OTHER_FILES = {
  perfAnalyzerCsv: createPerfAnalyzerCsv,
  profileExport: (plan, sink, path) => new ProfileExport(plan, sink, path),
  json: (...args) => (args[0].outputs.style === "genai-perf" ? artifact("json") : createJsonReport)(...args),
  genaiPerfJson: artifact("genaiPerfJson"),
  genaiPerfCsv: artifact("genaiPerfCsv"),
  serverMetricsJson: artifact("serverMetricsJson"),
  serverMetricsCsv: artifact("serverMetricsCsv"),
  plots: async (plan, sink, path) => (await import("./genai-perf/plots.ts")).createPlots(plan, sink, path),
  records: createRecordsReport,
} satisfies Readonly<Record<string, CreateFile>>;

declare module "../plan/output-files-plan.ts" {
  interface OutputFilesPlan extends Readonly<Partial<Record<keyof typeof OTHER_FILES, string>>> {}
}

const MODEL_KEYS = (Object.keys(MODEL_FILES) as ModelFileKey[]).filter((key) => !(key in OTHER_FILES));

/** All reports that write a file, in the order in which they receive events. */
const FILE_REPORTS: Readonly<Record<string, CreateFile>> = {
  ...OTHER_FILES,
  ...Object.fromEntries(MODEL_KEYS.map((key) => [key, createModelFile(key)])),
};

function artifact(key: ArtifactKey): CreateFile {
  return async (plan, sink, path, _meter, followed) =>
    (await import("./genai-perf/files.ts")).createArtifact(key)(plan, sink, path, followed);
}

/** Reports whether GenAI-Perf also prints perf_analyzer's output. */
function isVerboseProfile({ style, verbosity }: Plan["outputs"]): boolean {
  return style === "genai-perf" && verbosity > 0;
}

/** Other receivers of the report of a run. */
export interface ReportWatch {
  onReport?(plan: Plan, json: ReportJson): void;
  /** Whether the report contains the run over time. Default: false */
  readonly followsTime?: boolean;
}

/** Creates the reports that a plan asks for. @throws UserError for a file without a report */
export async function createReports(
  plan: Plan,
  sink: TextSink,
  meter?: TokenLink,
  { onReport, followsTime = false }: ReportWatch = {},
): Promise<Report[]> {
  checkFiles(plan.outputs.files);
  const live = await openLive(plan, sink);
  const reports: Report[] = [...(live?.reports ?? [])];
  const out = live?.sink ?? sink;
  for (const kind of REPORTS) if (kind.isWanted(plan)) reports.push(await kind.create(plan, out));
  const { json, html } = plan.outputs.files;
  // The runs are followed only once, so that all reports show the same times.
  const followed = json === undefined && html === undefined && !followsTime ? undefined : followRuns(plan);
  if (followed !== undefined) reports.push({ ...followed.observer, finish() {}, finishRuns() {} });
  for (const [key, create] of Object.entries(FILE_REPORTS)) {
    const path = plan.outputs.files[key as keyof OutputFilesPlan];
    if (path === undefined) continue;
    const report = await create(plan, out, path, meter, followed);
    if (plan.repeat !== undefined && report.finishRuns === undefined) throw holdsSingleRun(key);
    reports.push(report);
  }
  if (onReport !== undefined) reports.push(createDataReport(plan, out, (json) => onReport(plan, json), followed));
  return reports;
}

/** Opens the reports that show the run while it lasts, if the plan asks for any. */
async function openLive(plan: Plan, sink: TextSink): Promise<LiveReports | undefined> {
  const { isLive, otlpUrl, style, watchPort } = plan.outputs;
  // Native commands show the state unless the user disables it.
  const hasView = isLive ?? style === "rampart";
  if (!hasView && watchPort === undefined && otlpUrl === undefined) return undefined;
  return (await import("./live/live-reports.ts")).createLiveReports(plan, sink, hasView);
}

function holdsSingleRun(key: string): UserError {
  const path = { setting: `outputs.files.${key}` as SettingPath };
  return userError("conflict", path, "holds a single run, and this one is repeated", {
    say: "room-for-one-run",
  });
}

function checkFiles(files: OutputFilesPlan): void {
  const keys = Object.keys(FILE_REPORTS);
  const unknown = Object.keys(files).filter((key) => !keys.includes(key));
  const hint = `Use one of ${keys.join(", ")}.`;
  if (unknown.length > 0)
    throw new UserError(unknown.map((key) => problem("unknown-name", `outputs.files.${key}`, "is not known", hint)));
}
