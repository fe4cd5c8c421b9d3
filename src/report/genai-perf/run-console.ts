import type { Plan } from "../../plan/plan.ts";
import type { Report, TextSink } from "../report.ts";
import { formatRampartWarning } from "../warnings.ts";
import { formatGenAiPerfConsole } from "./console.ts";
import { type Measured, measuredOf } from "./measured.ts";
import { formatMoreMetrics } from "./more-metrics.ts";
import { findDoubts, reportCourse, reportFailures } from "./run-notes.ts";
import { formatServerMetricsConsole } from "./telemetry/server-metrics-console.ts";
import { formatTelemetryConsole } from "./telemetry/telemetry.ts";

/** What GenAI-Perf prints: warnings during a run, and its notes and tables at the end. */

/** Creates the report. */
export function createGenaiPerfConsole({ outputs }: Plan, sink: TextSink): Report {
  const isVerbose = outputs.genaiPerf?.isVerbose === true;
  const note = (text: string): void => sink.err(`rampart: ${text}\n`);
  return {
    onWarning: (warning) => {
      // perf_analyzer's console also prints them.
      if (outputs.verbosity === 0) sink.err(`${formatRampartWarning(warning)}\n`);
    },
    finish: (run) => {
      if (isVerbose) reportCourse(run, note);
      const measured = measuredOf(run);
      reportFailures(run, measured?.columns, note);
      for (const text of measured?.doubts ?? findDoubts(run)) note(text);
      if (measured === undefined) {
        note("nothing was measured: there is no report");
        return;
      }
      printTables(measured, sink);
      if (!isVerbose || run.scrape === undefined) return;
      sink.out(formatTelemetryConsole(measured.result.telemetry ?? new Map()) + formatServerMetricsConsole(run.scrape));
    },
  };
}

/** Prints the tables of a run or of merged exports. */
export function printTables({ about, result, summary, warnings }: Measured, sink: TextSink): void {
  sink.out(formatGenAiPerfConsole(result));
  if (about.isVerbose || summary.isRemarkable) sink.out(formatMoreMetrics(summary));
  for (const warning of warnings) sink.err(`rampart: ${warning}.\n`);
}
