import { countGood, type GoodputLimits } from "../../measure/tokens/goodput.ts";
import type { AnswerFamily } from "../../measure/tokens/metrics.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { type TokenSamples, tokenSamples } from "../../measure/tokens/token-samples.ts";
import { type SystemMetrics, systemMetrics } from "../../measure/tokens/token-system.ts";
import { isCountedOtherwise } from "../../measure/tokens/token-warnings.ts";
import type { RunResult } from "../../result/run-result.ts";

/** What a run measured beyond GenAI-Perf's metrics: Rampart's own table and JSON print it. */

/** Requests by what became of them, without the warm-up. What is neither completed nor failed nor cancelled was under way at the end. */
export interface RequestCounts {
  readonly sent: number;
  /** With an answer that says of nothing that it went wrong. */
  readonly completed: number;
  /** Those included whose answer only said so when it was read. */
  readonly failed: number;
  /** Given up by this client, as the settings ask. */
  readonly cancelled: number;
}

export interface RunSummary {
  readonly samples: TokenSamples;
  readonly system: SystemMetrics;
  /** Undefined where several exports were merged: these have only requests that were answered. */
  readonly counts: RequestCounts | undefined;
  /** Failed over sent, 0 to 1; undefined like the counts, and where nothing was sent. */
  readonly errorRatio: number | undefined;
  /** Requests that keep to all of goodput's limits over all measured ones, failed ones included, 0 to 1; undefined without limits. */
  readonly goodRatio: number | undefined;
  /** Whether the whole summary is worth a look unasked: GenAI-Perf's numbers leave something out. */
  readonly isRemarkable: boolean;
}

export interface SummarySettings {
  readonly family: AnswerFamily;
  readonly isStreaming: boolean;
  readonly goodput: GoodputLimits | null;
  /** Undefined where several exports were merged. */
  readonly run: RunResult | undefined;
}

/** Sums up what was measured. */
export function summarizeRun(columns: TokenColumns, settings: SummarySettings): RunSummary {
  const { isStreaming, run } = settings;
  const counts = run && countRequests(run, columns);
  const failed = counts?.failed ?? columns.failedCount;
  return {
    samples: tokenSamples(columns, isStreaming),
    system: systemMetrics(columns),
    counts,
    errorRatio: counts === undefined || counts.sent === 0 ? undefined : counts.failed / counts.sent,
    goodRatio: goodRatioOf(columns, settings),
    isRemarkable: failed > 0 || hasReasoning(columns) || isCountedOtherwise(columns),
  };
}

/** Requests of a run, without those of its warm-up. */
export function countRequests(run: RunResult, columns: TokenColumns): RequestCounts {
  const warmup = run.warmup ?? { sentCount: 0, failedCount: 0 };
  const warmedUp = warmup.sentCount - warmup.failedCount;
  return {
    sent: run.sentCount - warmup.sentCount,
    completed: run.completedCount - warmedUp - columns.failedCount,
    failed: run.failedCount - warmup.failedCount + columns.failedCount,
    cancelled: run.cancelledCount,
  };
}

/** Only of what was measured: a run by time windows sends requests outside of them, whose goodness nobody knows. */
function goodRatioOf(columns: TokenColumns, { family, goodput, run }: SummarySettings): number | undefined {
  if (goodput === null || Object.keys(goodput).length === 0 || run === undefined) return undefined;
  const good = countGood(columns, family, goodput);
  const unanswered = run.levels.reduce((sum, { window }) => sum + window.failedCount, 0);
  const all = columns.count + columns.emptyCount + columns.failedCount + unanswered;
  return good === undefined || all === 0 ? undefined : good / all;
}

function hasReasoning({ metrics }: TokenColumns): boolean {
  return metrics.timeToFirstReasoningTokenNs.measured().length > 0;
}
