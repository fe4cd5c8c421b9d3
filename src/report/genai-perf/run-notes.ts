import { areGenerated } from "../../inputs/prompts/requests-plan.ts";
import { clientLimitText, ofCore, saturationReason } from "../../measure/client-limit.ts";
import { latencyOf, type Measurement } from "../../measure/measurement.ts";
import { percentileAt } from "../../measure/sketch.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import type { Text } from "../../plan/messages.ts";
import { formatRunError } from "../../plan/problem.ts";
import { formatDurationNs, nsToSec, plural } from "../../plan/units.ts";
import { urlsOf } from "../../registry/service-kinds.ts";
import type { FailureCount, RunResult } from "../../result/run-result.ts";
import { isCancelled } from "../../transport/failure.ts";
import { toOneLine } from "../markup.ts";
import { describeDelivery, describeUndelivered, ONLY_THROUGHPUT, whyUnstable } from "../notes/load-delivery.ts";
import {
  describeCutSessions,
  describeLoadNotes,
  describeReconnects,
  describeRepeats,
  describeResends,
} from "../notes/load-notes.ts";

/** Notes on a run in addition to its numbers. */

/** Returns warnings that a run's numbers may be misleading; whole sentences. */
export function reliabilityWarnings(result: RunResult): Text[] {
  const { error, isInterrupted, prepared, levels, sessions } = result;
  const { requests } = prepared.plan;
  const doubts: Text[] = [...prepared.warnings];
  const resends = describeResends(result);
  if (resends !== undefined) doubts.push(resends);
  const reconnects = describeReconnects(result);
  if (reconnects !== undefined) doubts.push(reconnects);
  const repeats = describeRepeats(result);
  if (repeats !== undefined)
    doubts.push(requests !== undefined && areGenerated(requests) ? { say: "more-prompts", repeats } : repeats);
  const cut = describeCutSessions(sessions);
  if (cut !== undefined) doubts.push(cut);
  if (error !== undefined) doubts.push(formatRunError(error));
  else if (isInterrupted) doubts.push("the run was interrupted: the report covers what was measured until then");
  doubts.push(...describeInstability(result));
  for (const level of levels) {
    const undelivered = describeUndelivered(prepared.plan, level);
    // The missing resources of the client, below, are the cause.
    if (undelivered !== undefined && saturationReason(level.window) === undefined) doubts.push(`load: ${undelivered}`);
    doubts.push(...describeLoadNotes(prepared.plan, level));
    if ((level.delayedByLimit?.count ?? 0) > 0) doubts.push(describeDueLatency(level.window));
  }
  for (const { window } of levels) {
    const reason = saturationReason(window);
    if (reason !== undefined) doubts.push(`${clientLimitText(reason)}.`);
  }
  return doubts;
}

/** Explains why the run did not become stable and what would help; empty if it was stable. */
function describeInstability({ levels, prepared: { plan } }: RunResult): Text[] {
  return levels.flatMap((level): Text[] => {
    const why = whyUnstable(plan, level);
    if (why !== undefined) return [[`the measurement is not stable: ${why.moved}; ${why.cause}. `, why.advice, "."]];
    return level.isLatencyUnstable ? [`${ONLY_THROUGHPUT}.`] : [];
  });
}

/** Reports how many requests were sent, and the load on the client. */
export function reportCourse(
  { prepared, sentCount, durationNs, connectionCount, levels, servers = [] }: RunResult,
  note: (text: string) => void,
): void {
  const seconds = nsToSec(durationNs).toFixed(3);
  note(
    `sent ${sentCount} ${plural(sentCount, "request")} over ${connectionCount} ${plural(connectionCount, "connection")} in ${seconds} s, warm-up included`,
  );
  for (const { name, sentCount: count, failedCount: failed } of servers)
    note(`  ${name}: ${count} of them${failed === 0 ? "" : `, of which ${failed} failed`}`);
  // An undelivered load is a warning, which is always printed.
  for (const level of levels)
    if (describeUndelivered(prepared.plan, level) === undefined)
      note(`load: ${describeDelivery(prepared.plan, level)}`);
  for (const { window } of levels) note(`the client used ${ofCore(window.health.cpuRatio)} while it was measured`);
}

/** GenAI-Perf's table measures only from the actual send. */
function describeDueLatency(window: Measurement): string {
  const latency = latencyOf(window, "scheduledLatency");
  const [average, p99] = [latency.mean, percentileAt(latency, 99)].map(formatDurationNs);
  return `latencies count from when a request was sent; from when it was due they are ${average} on average, ${p99} at p99`;
}

/** Reports the requests without a valid response, by cause. @param columns the measured requests, if any */
export function reportFailures(result: RunResult, columns: TokenColumns | undefined, note: (text: Text) => void): void {
  const { failures, cancelledCount } = result;
  const warmup = result.warmup ?? { sentCount: 0, failedCount: 0 };
  const sentCount = result.sentCount - warmup.sentCount;
  const unreadCount = columns?.failedCount ?? 0;
  const failedCount = result.failedCount - warmup.failedCount + unreadCount;
  const list = (isWanted: (failure: FailureCount) => boolean): void => {
    for (const failure of failures)
      if (isWanted(failure)) note(`  ${failure.count} x ${failure.kind}: ${toOneLine(failure.example)}`);
  };
  if (warmup.failedCount > 0) {
    note(
      `${warmup.failedCount} of ${warmup.sentCount} ${plural(warmup.sentCount, "request")} of the warm-up failed; the statistics exclude them:`,
    );
    list(({ isWarmup }) => isWarmup === true);
  }
  if (failedCount > 0) {
    note(
      `${failedCount} of ${sentCount} ${plural(sentCount, "request")} failed; the statistics exclude them, except the counts:`,
    );
    list((failure) => failure.isWarmup !== true && !isCancelled(failure));
    if (unreadCount > 0) note(`  ${unreadCount} x model: ${toOneLine(columns?.failureExample ?? "")}`);
    const [url] = urlsOf(result.prepared.plan.target);
    const isUnreached = unreadCount === 0 && failures.every(({ kind }) => kind === "connect");
    if (result.hint !== undefined && result.error === undefined) note(result.hint);
    if (isUnreached && url !== undefined) note({ say: "check-address", url });
  }
  if (cancelledCount > 0) {
    note(
      `${cancelledCount} of ${sentCount} ${plural(sentCount, "request")} ${plural(cancelledCount, "was cancelled; it is not a failure", "were cancelled; they are not failures")}, and the statistics exclude them:`,
    );
    list(isCancelled);
  }
}
