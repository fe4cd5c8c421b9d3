import type { Measurement } from "../../measure/measurement.ts";
import { meanGapNs } from "../../measure/metrics.ts";
import { averageUs } from "../../measure/server-delta.ts";
import { formatDurationNs, formatPct } from "../../plan/units.ts";
import type { LevelResult } from "../../result/run-result.ts";
import { describeLimitState } from "./find-max.ts";
import { formatUs } from "./format.ts";

/** Parts of a level's row and notes. */

/** Formats the server's average time of a request. */
export function formatServer({ server }: Measurement): string {
  return server === undefined ? "-" : formatUs(averageUs(server.successNs, server.successCount));
}

/** @param isRamp lanes that do not send yet are not overhead, and look the same as lanes that lost time */
export function describeClient({ health, overheadPct }: Measurement, isRamp: boolean): string {
  const overhead = isRamp ? "" : `, overhead ${overheadPct.toFixed(2)} %`;
  return `client: ${formatPct(health.cpuRatio)} of a core, event loop at most ${formatDurationNs(health.loopLagMaxNs)} late${overhead}`;
}

/** Formats the mean time between the responses of a request. */
export function formatGap(window: Measurement): string {
  const gapNs = meanGapNs(window);
  return gapNs === undefined ? "-" : formatDurationNs(gapNs);
}

/** Names an outcome that is not as planned; empty otherwise. */
export function describeOutcome({ outcome, limits }: LevelResult): string {
  if (limits !== undefined) return describeLimitState(limits);
  if (outcome === "unstable") return "UNSTABLE";
  if (outcome === "partial") return "PARTIAL";
  return outcome === "over-limit" ? "over the latency limit" : "";
}
