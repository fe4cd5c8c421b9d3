import type { OutputFilesPlan, Plan } from "../plan/plan.ts";
import type { LiveView } from "./live/live-view.ts";
import { outputFilesOf } from "./output-place.ts";
import { createPerfAnalyzerConsole } from "./perf-analyzer/console.ts";
import type { Report, TextSink } from "./report.ts";

/** A report that depends on the front door. */
interface ReportKind {
  isWanted(plan: Plan): boolean;
  create(plan: Plan, sink: TextSink): Report | Promise<Report>;
}

type CreateFile = (plan: Plan, sink: TextSink, path: string) => Report;

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
    isWanted: ({ outputs }) => outputs.style === "genai-perf" && !isVerboseProfile(outputs),
    create: async (_plan, sink) => (await import("./genai-perf/run-warnings.ts")).createRunWarnings(sink),
  },
];

/**
 * Reports that write a file, by their key in the plan's files. Each is loaded when needed. A new report is one file and one line here. The
 * meter writes single requests (`records`).
 */
const FILE_REPORTS: Readonly<Record<Exclude<keyof OutputFilesPlan, "records">, () => Promise<CreateFile>>> = {
  csv: async () => (await import("./perf-analyzer/csv.ts")).createPerfAnalyzerCsv,
  profileExport: async () => (await import("./profile-export.ts")).createProfileExport,
  json: async () => (await import("./rampart/json.ts")).createJsonReport,
};

/** Whether GenAI-Perf also prints perf_analyzer's output. */
function isVerboseProfile({ style, verbosity }: Plan["outputs"]): boolean {
  return style === "genai-perf" && verbosity > 0;
}

/** Creates the reports that a plan asks for. */
export async function createReports(plan: Plan, sink: TextSink): Promise<Report[]> {
  const live = plan.outputs.isLive === true ? await createLive(plan, sink) : undefined;
  const reports: Report[] = live === undefined ? [] : [live];
  const out = live?.sink ?? sink;
  for (const kind of REPORTS) if (kind.isWanted(plan)) reports.push(await kind.create(plan, out));
  for (const [key, load] of Object.entries(FILE_REPORTS)) {
    const path = plan.outputs.files[key as keyof OutputFilesPlan];
    if (path !== undefined) reports.push((await load())(plan, out, path));
  }
  return reports;
}

async function createLive(plan: Plan, sink: TextSink): Promise<LiveView> {
  return (await import("./live/live-view.ts")).createLiveView(plan, sink);
}
