import { meanInFlight } from "../../measure/in-flight.ts";
import { estimateMetric } from "../../measure/metrics/read-metric.ts";
import { summarize } from "../../measure/numpy-statistics.ts";
import { entryOf, TOKEN_METRICS, type TokenMetric } from "../../measure/tokens/metrics.ts";
import { type Text, word } from "../../plan/messages.ts";
import type { Plan } from "../../plan/plan.ts";
import type { Report, TextSink } from "../report.ts";
import { formatRampartWarning, formatSlowServer } from "../warning-text.ts";
import { formatGenAiPerfConsole } from "./console.ts";
import { TABLE_STATISTICS } from "./layout.ts";
import { type Measured, measuredOf } from "./measured.ts";
import { formatTwoDecimals } from "./python-format.ts";
import { formatRichTable } from "./rich-table.ts";
import { reliabilityWarnings, reportCourse, reportFailures } from "./run-notes.ts";
import type { RunSummary } from "./run-summary.ts";
import { formatServerMetricsConsole } from "./telemetry/server-metrics.ts";
import { formatTelemetryConsole } from "./telemetry/telemetry.ts";

/** Console output of GenAI-Perf: warnings during a run, and its notes and tables at the end. */

/** Creates GenAI-Perf's console output of a run. */
export function createGenaiPerfConsole({ outputs }: Plan, sink: TextSink): Report {
  const isVerbose = outputs.genaiPerf?.isVerbose === true;
  const note = (text: Text): void => sink.err(`rampart: ${word(text, sink.nameOf)}\n`);
  // With more verbosity, perf_analyzer's console prints them.
  const say = (text: string): void => {
    if (outputs.verbosity === 0) sink.err(text);
  };
  let hasSaidSlow = false;
  return {
    onSlowServer: (url) => {
      if (!hasSaidSlow) say(formatSlowServer(url));
      hasSaidSlow = true;
    },
    onWarning: (warning) => say(`${formatRampartWarning(warning, sink.nameOf)}\n`),
    finish: (run) => {
      if (isVerbose) reportCourse(run, note);
      const measured = measuredOf(run);
      reportFailures(run, measured?.columns, note);
      for (const text of measured?.doubts ?? reliabilityWarnings(run)) note(text);
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
export function printTables({ outputs, result, summary, warnings }: Measured, sink: TextSink): void {
  sink.out(formatGenAiPerfConsole(result));
  if (outputs.isVerbose || summary.isRemarkable) sink.out(formatMoreMetrics(summary));
  for (const warning of warnings) sink.err(`rampart: ${warning}.\n`);
}

/** Reports whether the second list begins with the first. */
function areEqual(values: Float64Array, others: Float64Array): boolean {
  return values.every((value, i) => value === others[i]);
}

/** Formats Rampart's table of metrics that GenAI-Perf's table lacks. Rows without data are omitted; empty if no row has data. */
export function formatMoreMetrics({ samples, window, errorRatio, goodRatio }: RunSummary): string {
  const ofRequests = TOKEN_METRICS.flatMap((metric) => {
    const { more } = entryOf(metric);
    if (more === undefined) return [];
    const { label, scale = 1 } = more;
    const beside = (more.beside ?? metric) as TokenMetric;
    const values = samples.get(metric)?.measured() ?? new Float64Array();
    const others = samples.get(beside);
    const summary =
      others === undefined || (beside !== metric && areEqual(values, others.measured()))
        ? undefined
        : summarize(values, true);
    if (summary === undefined) return [];
    return [[label, ...TABLE_STATISTICS.map((statistic) => formatTwoDecimals(summary[statistic] * scale))]];
  });
  const rate = (key: string): number | undefined => window && estimateMetric({ key }, { window }, 1)?.value;
  const ofRun = [
    ["Total Token Throughput (tokens/sec)", rate("totalTokensPerSec")],
    ["Total Token Throughput, Server's Count", rate("serverTokensPerSec")],
    ["Effective Concurrency (requests)", window && meanInFlight(window)],
    ["Error Rate (%)", errorRatio && errorRatio * 100],
    ["Good Requests (%)", goodRatio && goodRatio * 100],
  ] as const;
  const rows = [
    ...ofRequests,
    ...ofRun.flatMap(([label, value]) =>
      value === undefined ? [] : [[label, formatTwoDecimals(value), ...TABLE_STATISTICS.slice(1).map(() => "N/A")]],
    ),
  ];
  return rows.length === 0 ? "" : formatRichTable("Rampart | More Metrics", ["Statistic", ...TABLE_STATISTICS], rows);
}
