import type { ServerDelta } from "../../measure/server-delta.ts";
import { formatCount, formatDurationNs } from "../../plan/units.ts";
import type { RunResult } from "../../result/run-result.ts";
import { formatTable } from "./format.ts";

/** The counts of a whole run for people. */

/** Formats the counts of a run. */
export function formatTotals(result: RunResult): string {
  const cancelled = result.cancelledCount === 0 ? "" : `, ${formatCount(result.cancelledCount)} cancelled`;
  const resent = result.resendCount === 0 ? "" : `, ${formatCount(result.resendCount)} sent again`;
  const server = result.server === undefined ? "" : formatServerCounts(result.server, result);
  const { sentCount, connectionCount } = result;
  const requests = `${formatCount(sentCount)} ${sentCount === 1 ? "request" : "requests"}`;
  const connections = connectionCount === 1 ? "connection" : "connections";
  // A target in process has none, and none was opened to one that is not there.
  const over = connectionCount === 0 ? "" : ` over ${connectionCount} ${connections}`;
  return `sent ${requests}${over} in ${formatDurationNs(result.durationNs)}: ${formatCount(result.completedCount)} completed, ${formatCount(result.failedCount)} failed${cancelled}${resent}${server}`;
}

function formatServerCounts(
  { successCount, failCount }: ServerDelta,
  { sentCount, connectionCount }: RunResult,
): string {
  const counts = `; the server counted ${formatCount(successCount)} successes and ${formatCount(failCount)} failures`;
  // Requests of an earlier run can be counted late, at most one for each connection.
  const hasOthers = successCount + failCount > sentCount + connectionCount;
  return hasOthers ? `${counts}, more than this run sent: other clients used the model during the run` : counts;
}

/** Formats the counts of conversations. */
export function formatSessions({
  sessionCount,
  cutCount,
  unsentCount,
  unreadReason,
}: NonNullable<RunResult["sessions"]>): string {
  const unread = unreadReason === undefined ? "" : ` (first answer that could not be continued: ${unreadReason})`;
  const cut = `, ${formatCount(cutCount)} of them cut short by a turn that failed: ${formatCount(unsentCount)} turns were not sent${unread}`;
  return `${formatCount(sessionCount)} conversations${cutCount === 0 ? "" : cut}`;
}

/** Formats the failures of a run by their kind. */
export function formatFailures(result: RunResult): string {
  const rows = result.failures.map(({ kind, status, count, example, isWarmup }) => [
    `${kind}${status === undefined ? "" : ` ${status}`}${isWarmup === true ? " (warm-up)" : ""}`,
    formatCount(count),
    example,
  ]);
  const title = result.cancelledCount === 0 ? "failed requests" : "failed or cancelled";
  return `${formatTable([title, "count", "for example"], rows)}${formatWrongAnswers(result)}`;
}

/** Shows the first answers that the scenario's check refused. */
function formatWrongAnswers({ failures }: RunResult): string {
  const answers = failures.flatMap(({ answers = [] }) => answers);
  if (answers.length === 0) return "";
  const lines = answers.map(({ reason, answer }) => `  ${reason}\n    ${answer === "" ? "(an empty answer)" : answer}`);
  return `\n\nthe first answers that check refused\n${lines.join("\n")}`;
}
