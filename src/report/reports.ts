import type { TokenLink } from "../measure/tokens/token-link.ts";
import type { OutputFilesPlan, Plan } from "../plan/plan.ts";
import { problem, UserError, userError } from "../plan/problem.ts";
import { type SettingPath, setting } from "../plan/setting-names.ts";
import type { ArtifactKey } from "./genai-perf/files.ts";
import { createLiveReports, isLiveWanted } from "./live/live.ts";
import { outputFilesOf } from "./output-place.ts";
import type { FollowedRuns } from "./over-time/followed-runs.ts";
import { createPerfAnalyzerConsole } from "./perf-analyzer/console.ts";
import type { Report, TextSink } from "./report.ts";

/** A report that depends on the front door. */
interface ReportKind {
  isWanted(plan: Plan): boolean;
  create(plan: Plan, sink: TextSink): Report | Promise<Report>;
}

/**
 * @param meter measures the tokens of the run, if a front door has opened it
 * @param followed what follows the runs over time, for the reports that show that
 */
type CreateFile = (
  plan: Plan,
  sink: TextSink,
  path: string,
  meter: TokenLink | undefined,
  followed: FollowedRuns | undefined,
) => Report;

/** Reports on the terminal, and the removal of earlier files, in the order in which they receive events. */
const REPORTS: readonly ReportKind[] = [
  {
    isWanted: (plan) => outputFilesOf(plan).length > 0,
    create: async (plan) => (await import("./earlier-files.ts")).createEarlierFiles(plan),
  },
  {
    isWanted: ({ outputs }) => outputs.style === "perf_analyzer" || isVerboseProfile(outputs),
    create: createPerfAnalyzerConsole,
  },
  {
    isWanted: (plan) => plan.outputs.style === "rampart",
    create: async (plan, sink) => (await import("./rampart/console.ts")).createRampartConsole(plan, sink),
  },
  {
    isWanted: ({ outputs }) => outputs.style === "genai-perf",
    create: async (plan, sink) => (await import("./genai-perf/run-console.ts")).createGenaiPerfConsole(plan, sink),
  },
];

/** Reports that write a file, by their key in the plan's files. Each is loaded when needed. A new report is one file and one line here. */
const FILE_REPORTS = {
  perfAnalyzerCsv: async () => (await import("./perf-analyzer/csv.ts")).createPerfAnalyzerCsv,
  profileExport: async () => (await import("./profile-export.ts")).createProfileExport,
  json: async () => (await import("./model-report.ts")).createJsonReport,
  csv: async () => (await import("./csv.ts")).createCsvReport,
  html: async () => (await import("./html/report-page.ts")).createHtmlReport,
  junit: async () => (await import("./junit.ts")).createJunitReport,
  markdown: async () => (await import("./markdown.ts")).createMarkdownReport,
  genaiPerfJson: () => artifact("genaiPerfJson"),
  genaiPerfCsv: () => artifact("genaiPerfCsv"),
  genaiPerfRampart: () => artifact("genaiPerfRampart"),
  serverMetricsJson: () => artifact("serverMetricsJson"),
  serverMetricsCsv: () => artifact("serverMetricsCsv"),
  plots: async () => (await import("./genai-perf/plots.ts")).createPlots,
  records: async () => (await import("./records/records.ts")).createRecordsReport,
} satisfies Readonly<Record<string, () => Promise<CreateFile>>>;

declare module "../plan/plan.ts" {
  interface OutputFilesPlan extends Readonly<Partial<Record<keyof typeof FILE_REPORTS, string>>> {}
}

async function artifact(key: ArtifactKey): Promise<CreateFile> {
  return (await import("./genai-perf/files.ts")).createArtifact(key);
}

/** Whether GenAI-Perf also prints perf_analyzer's output. */
function isVerboseProfile({ style, verbosity }: Plan["outputs"]): boolean {
  return style === "genai-perf" && verbosity > 0;
}

/** Creates the reports that a plan asks for. @throws UserError for a file of no report */
export async function createReports(plan: Plan, sink: TextSink, meter?: TokenLink): Promise<Report[]> {
  checkFiles(plan.outputs.files);
  const live = isLiveWanted(plan) ? await createLiveReports(plan, sink) : undefined;
  const reports: Report[] = [...(live?.reports ?? [])];
  const out = live?.sink ?? sink;
  for (const kind of REPORTS) if (kind.isWanted(plan)) reports.push(await kind.create(plan, out));
  const { json, html } = plan.outputs.files;
  const followed = json === undefined && html === undefined ? undefined : await follow(plan);
  if (followed !== undefined) reports.push({ ...followed.observer, finish() {}, finishRuns() {} });
  for (const [key, load] of Object.entries(FILE_REPORTS)) {
    const path = plan.outputs.files[key as keyof OutputFilesPlan];
    if (path === undefined) continue;
    const report = (await load())(plan, out, path, meter, followed);
    if (plan.repeat !== undefined && report.finishRuns === undefined) throw lacksRoom(key);
    reports.push(report);
  }
  return reports;
}

/** Follows the runs once, so that all reports show the same times. */
async function follow(plan: Plan): Promise<FollowedRuns> {
  return (await import("./over-time/followed-runs.ts")).followRuns(plan);
}

function lacksRoom(key: string): UserError {
  const path = setting(`outputs.files.${key}` as SettingPath);
  const hint = `Leave it out and read the runs in ${setting("outputs.files.json")}, or run once.`;
  return userError("conflict", path, "has room for one run only, and this one is repeated", hint);
}

function checkFiles(files: OutputFilesPlan): void {
  const keys = Object.keys(FILE_REPORTS);
  const unknown = Object.keys(files).filter((key) => !keys.includes(key));
  const hint = `Use one of ${keys.join(", ")}.`;
  if (unknown.length > 0)
    throw new UserError(unknown.map((key) => problem("unknown-name", `outputs.files.${key}`, "is not known", hint)));
}
