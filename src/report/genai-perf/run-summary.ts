import { goodCountOf } from "../../measure/good-requests.ts";
import type { Measurement } from "../../measure/measurement.ts";
import { measureRows } from "../../measure/tokens/row-measurement.ts";
import type { TokenColumns } from "../../measure/tokens/token-columns.ts";
import { type TokenSamples, tokenSamples } from "../../measure/tokens/token-columns.ts";
import { findGood, type TokenMeasurement } from "../../measure/tokens/token-measurement.ts";
import { isCountedOtherwise } from "../../measure/tokens/token-warnings.ts";
import type { RunResult } from "../../result/run-result.ts";

/** Measurements beyond GenAI-Perf's metrics, for Rampart's table and JSON. */

/** Requests by outcome, without the warm-up. The rest were in flight at the end. */
interface RequestCounts {
  readonly sent: number;
  /** Requests with a response without an error. */
  readonly completed: number;
  /** Includes requests whose error was found only when the response was read. */
  readonly failed: number;
  /** Cancelled by this client, because the settings ask for it. */
  readonly cancelled: number;
}

export interface RunSummary {
  readonly samples: TokenSamples;
  /** Undefined if there are no windows. */
  readonly window: Measurement | undefined;
  /** Undefined for merged exports, which contain only requests with a response. */
  readonly counts: RequestCounts | undefined;
  /** Failed requests divided by sent requests, 0 to 1; undefined without counts, and if no request was sent. */
  readonly errorRatio: number | undefined;
  /** Ratio of measured requests, including failed ones, that meet all goodput limits, 0 to 1; undefined without limits. */
  readonly goodRatio: number | undefined;
  /** Whether to print the summary by default, because GenAI-Perf's numbers lack something important. */
  readonly isRemarkable: boolean;
}

export interface SummarySettings {
  readonly isStreaming: boolean;
  /** Undefined for merged exports. */
  readonly run: RunResult | undefined;
}

/** Summarizes a measurement. @param tokens of the same requests */
export function summarizeRun(columns: TokenColumns, tokens: TokenMeasurement, settings: SummarySettings): RunSummary {
  const { isStreaming, run } = settings;
  const counts = run && countRequests(run, columns);
  const failed = counts?.failed ?? columns.failedCount;
  return {
    samples: tokenSamples(columns, isStreaming),
    window:
      columns.count === 0
        ? undefined
        : measureRows(columns, tokens, {
            ...{ isScheduled: false, isStreamed: isStreaming, failedCount: failed, cancelledCount: 0 },
          }),
    counts,
    errorRatio: counts === undefined || counts.sent === 0 ? undefined : counts.failed / counts.sent,
    goodRatio: goodRatioOf(columns, tokens, run),
    isRemarkable: failed > 0 || hasReasoning(columns) || isCountedOtherwise(tokens),
  };
}

/** Counts the requests of a run, without its warm-up. */
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

/** Uses only measured requests. A run with time windows also sends requests outside of them, which are not judged. */
function goodRatioOf(
  { count, emptyCount, failedCount }: TokenColumns,
  tokens: TokenMeasurement,
  run: RunResult | undefined,
): number | undefined {
  const good = findGood(tokens);
  if (good === undefined || run === undefined) return undefined;
  const unanswered = run.levels.reduce((sum, { window }) => sum + window.failedCount, 0);
  const all = count + emptyCount + failedCount + unanswered;
  return all === 0 ? undefined : goodCountOf(good) / all;
}

function hasReasoning({ metrics }: TokenColumns): boolean {
  return !metrics.timeToFirstReasoningTokenNs.isEmpty;
}
