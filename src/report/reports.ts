import type { Plan } from "../plan/plan.ts";
import type { LiveView } from "./live/live-view.ts";
import { outputFilesOf } from "./output-place.ts";
import { createPerfAnalyzerConsole } from "./perf-analyzer/console.ts";
import type { Report, TextSink } from "./report.ts";

/** One kind of report: whether a plan asks for it, and how it is made. Those that write files are loaded when asked for. */
interface ReportKind {
  isWanted(plan: Plan): boolean;
  create(plan: Plan, sink: TextSink): Report | Promise<Report>;
}

/** All reports, in the order in which they are told of events. A new report is one file and one entry here. */
const REPORTS: readonly ReportKind[] = [
  {
    // Before those that write files.
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
  {
    isWanted: (plan) => plan.outputs.csvFile !== "",
    create: async (plan, sink) => (await import("./perf-analyzer/csv.ts")).createPerfAnalyzerCsv(plan, sink),
  },
  {
    isWanted: (plan) => plan.outputs.profileExportFile !== "",
    create: async (plan, sink) => (await import("./profile-export.ts")).createProfileExport(plan, sink),
  },
  {
    isWanted: (plan) => plan.outputs.jsonFile !== "",
    create: async (plan) => (await import("./rampart/json.ts")).createJsonReport(plan),
  },
];

/** Whether GenAI-Perf is to show what perf_analyzer prints. */
function isVerboseProfile({ style, verbosity }: Plan["outputs"]): boolean {
  return style === "genai-perf" && verbosity > 0;
}

/** Makes the reports a plan asks for. */
export async function createReports(plan: Plan, sink: TextSink): Promise<Report[]> {
  const live = plan.outputs.isLive === true ? await createLive(plan, sink) : undefined;
  const reports: Report[] = live === undefined ? [] : [live];
  for (const kind of REPORTS) if (kind.isWanted(plan)) reports.push(await kind.create(plan, live?.sink ?? sink));
  return reports;
}

async function createLive(plan: Plan, sink: TextSink): Promise<LiveView> {
  return (await import("./live/live-view.ts")).createLiveView(plan, sink);
}
