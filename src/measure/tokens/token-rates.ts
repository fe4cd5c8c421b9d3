import { nsToSec } from "../../plan/units.ts";
import type { Measurement } from "../measurement.ts";
import { sumOf } from "../statistics.ts";
import { countGood, type GoodputLimits } from "./goodput.ts";
import type { TokenColumns } from "./token-columns.ts";

/**
 * Token rates over the same windows and requests as the level's throughput. GenAI-Perf's files use its formula, from the first send to the
 * last content: see `systemMetrics`.
 */

type Span = Pick<Measurement, "durationNs">;

/** Returns the output tokens per second of the measured time; undefined when tokens were not counted. */
export function outputTokensPerSec(columns: TokenColumns, { durationNs }: Span): number | undefined {
  const counts = columns.metrics.outputTokens.measured();
  return counts.length === 0 || durationNs <= 0 ? undefined : sumOf(counts) / nsToSec(durationNs);
}

/** Returns the requests per second that meet all limits; undefined when no request ended, or a limit's name is unknown. */
export function goodPerSec(columns: TokenColumns, { durationNs }: Span, limits: GoodputLimits): number | undefined {
  if (columns.count + columns.emptyCount + columns.failedCount === 0 || durationNs <= 0) return undefined;
  const good = countGood(columns, "text", limits);
  return good === undefined ? undefined : good / nsToSec(durationNs);
}
