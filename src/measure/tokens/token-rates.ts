import { sumOf } from "../statistics.ts";
import type { WindowResult } from "../window.ts";
import { countGood, type GoodputLimits } from "./goodput.ts";
import type { TokenColumns } from "./token-columns.ts";

/**
 * Rates of tokens over the same windows, and of the same requests, as the level's throughput. GenAI-Perf's files have its own formula, from
 * the first send to the last content: `systemMetrics`.
 */

type Span = Pick<WindowResult, "durationNs">;

/** Output tokens per second of the measured time; undefined where no tokens were counted. */
export function outputTokensPerSec(columns: TokenColumns, { durationNs }: Span): number | undefined {
  const counts = columns.metrics.outputTokens.measured();
  return counts.length === 0 || durationNs <= 0 ? undefined : sumOf(counts) / (durationNs / 1e9);
}

/** Requests per second that keep to all limits; undefined when no request ended, or a limit's name is unknown. */
export function goodPerSec(columns: TokenColumns, { durationNs }: Span, limits: GoodputLimits): number | undefined {
  if (columns.count + columns.emptyCount + columns.failedCount === 0 || durationNs <= 0) return undefined;
  const good = countGood(columns, "text", limits);
  return good === undefined ? undefined : good / (durationNs / 1e9);
}
