import { saturationReason } from "../../../measure/metrics.ts";
import type { WindowResult } from "../../../measure/window.ts";
import { formatDurationNs } from "../../../plan/units.ts";
import { describeLoadNotes } from "../../../report/load-notes.ts";
import type { RunResult } from "../../../run/observer.ts";
import type { GenaiSettings } from "../settings.ts";

/** What the user must know of the run besides its numbers. */
export function tellRun(result: RunResult, settings: GenaiSettings, note: (text: string) => void): void {
  const { failedCount, sentCount, failures, error, isInterrupted, prepared, levels } = result;
  for (const warning of prepared.warnings) note(warning);
  if (settings.isVerbose) {
    const seconds = (result.durationNs / 1e9).toFixed(3);
    note(`sent ${sentCount} requests over ${result.connectionCount} connections in ${seconds} s, warm-up included`);
    for (const { window } of levels)
      note(`the client used ${Math.round(window.health.cpuRatio * 100)} % of a core while it was measured`);
  }
  const needed = neededConnections(settings, result);
  if (failedCount === 0 && result.connectionCount > needed + 1)
    note(
      `the server closed connections between requests: ${result.connectionCount} were made for ${sentCount} requests, whose times contain that; a request that a closed one did not take went on the next`,
    );
  if (failedCount > 0) {
    note(`${failedCount} of ${sentCount} requests failed, and are in no statistic but the counts:`);
    for (const { kind, count, example } of failures) note(`  ${count} x ${kind}: ${example}`);
  }
  const { sessions } = result;
  if (sessions !== undefined && sessions.cutCount > 0)
    note(
      `${sessions.cutCount} of ${sessions.sessionCount} sessions ended early, where a turn failed or its answer could not be read; turns that were not sent for that: ${sessions.unsentCount}`,
    );
  if (error !== undefined) note(`${error.message}. ${error.hint}`);
  else if (isInterrupted) note("the run was interrupted: the report is on what was measured until then");
  for (const level of levels) {
    for (const text of describeLoadNotes(prepared.plan, level)) note(text);
    if ((level.heldBack?.count ?? 0) > 0) note(describeDueLatency(level.window));
  }
  for (const { window } of levels) {
    const reason = saturationReason(window);
    if (reason !== undefined) note(`the client may have been the limit, not the server: ${reason}.`);
  }
}

/** The original's table knows only when requests were sent. */
function describeDueLatency({ scheduledLatency }: WindowResult): string {
  const [average, p99] = [scheduledLatency.meanNs, scheduledLatency.percentileUs(99) * 1000].map(formatDurationNs);
  return `latencies count from when a request was sent; from when it was due they are ${average} on average, ${p99} at p99`;
}

/** Connections that a load needs; of loads that do not say it, more than this would be too many. */
function neededConnections({ perfAnalyzer: { stimulus } }: GenaiSettings, { prepared, sentCount }: RunResult): number {
  if (stimulus.kind === "concurrency") return stimulus.requests;
  return stimulus.kind === "session_concurrency" ? stimulus.sessions : Math.max(prepared.laneCount, sentCount / 2);
}
