import type { SettingPath, Text } from "../plan/messages.ts";
import type { MeasurementModePlan } from "../plan/plan.ts";
import { countOf, formatDurationNs, formatPct, nsToSec } from "../plan/units.ts";
import { DEFAULT_THROUGHPUT_UNIT } from "../service/service.ts";
import { clientLimitText, ofCore, saturationReason } from "./derived-values.ts";
import type { Measurement } from "./measurement.ts";
import { type AskedRate, isRateMissed } from "./rate-shortfall.ts";

/** Why a level did not become stable, and what may help. */

/** One of the compared windows. */
interface UnsteadyWindow {
  /** Inferences per second. */
  readonly inferPerSec: number;
  /** The latency that stability is based on. */
  readonly latencyNs: number;
  readonly requestCount: number;
}

/** A level that did not become stable. */
export interface Instability {
  /** Variation over the last windows: max/min minus 1. */
  readonly throughputRatio: number;
  readonly latencyRatio: number;
  /** Allowed variation, as a ratio. */
  readonly toleranceRatio: number;
  /** Number of measured windows. */
  readonly trials: number;
  /** The last windows, which were compared. */
  readonly windows: readonly UnsteadyWindow[];
  /** Whether only throughput must be stable. */
  readonly isThroughputOnly: boolean;
}

/**
 * What may help:
 * - `less-load`: the client or the server is at its limit
 * - `longer-windows`: a window has too few requests
 * - `more-trials`: the level was still settling
 * - `wider-tolerance`: the variation is only slightly above the tolerance
 */
type Remedy = "less-load" | "longer-windows" | "more-trials" | "wider-tolerance";

/** Explains an unstable level. The sentences have no full stop. */
interface InstabilityReport {
  /** What varied, by how much, over which windows. */
  readonly moved: string;
  /** The key of the only metric that varied; absent when several did, or none. */
  readonly metric?: string;
  /** The likely cause, and whether it was the client. */
  readonly cause: string;
  readonly remedy: Remedy;
}

const FEW_REQUESTS = 50;
/** A server that misses the requested rate by more than this cannot keep up. */
const MISSED_RATE_RATIO = 0.02;

/**
 * Explains why a level did not become stable.
 * @param window the compared windows, merged
 * @param asked the requested rate; undefined when the load has none
 */
export function explainInstability(
  instability: Instability,
  window: Measurement,
  asked: AskedRate | undefined,
  unit = DEFAULT_THROUGHPUT_UNIT,
): InstabilityReport {
  const [metric, ...others] = movedMetrics(instability);
  return {
    moved: describeMovement(instability, unit),
    ...(metric === undefined || others.length > 0 ? {} : { metric }),
    ...explainCause(instability, window, asked),
  };
}

function explainCause(
  instability: Instability,
  window: Measurement,
  asked: AskedRate | undefined,
): Pick<InstabilityReport, "cause" | "remedy"> {
  const { windows, toleranceRatio } = instability;
  const saturation = saturationReason(window);
  if (saturation !== undefined) return { cause: clientLimitText(saturation), remedy: "less-load" };
  const idle = `the client was not the limit (${ofCore(window.health.cpuRatio)})`;
  const answeredPerSec = window.requestCount / nsToSec(window.durationNs);
  if (asked !== undefined && isRateMissed(answeredPerSec, asked, window.durationNs, MISSED_RATE_RATIO))
    return {
      cause: `${idle}; the server answered ${answeredPerSec.toFixed(1)} of ${asked.perSec} requests per second`,
      remedy: "less-load",
    };
  const fewest = Math.min(...windows.map(({ requestCount }) => requestCount));
  if (fewest < FEW_REQUESTS)
    return {
      cause: `${idle}; a window held as few as ${countOf(fewest, "request")}`,
      remedy: "longer-windows",
    };
  const values = windows.map((one) => (isThroughputWorse(instability) ? one.inferPerSec : one.latencyNs));
  if (isMonotone(values)) return { cause: `${idle}; the values kept moving in one direction`, remedy: "more-trials" };
  const worst = Math.max(instability.throughputRatio, instability.isThroughputOnly ? 0 : instability.latencyRatio);
  if (worst <= 2 * toleranceRatio) return { cause: `${idle}; the values went up and down`, remedy: "wider-tolerance" };
  return { cause: `${idle}; the values went up and down`, remedy: "longer-windows" };
}

/** What to change so that the level becomes stable; a sentence without a full stop. */
export function describeRemedy(remedy: Remedy, mode: MeasurementModePlan): Text {
  const at = windowSettingOf(mode);
  switch (remedy) {
    case "less-load":
      return "Lower the load, or give the client more CPU time";
    case "longer-windows":
      return { say: remedy, at };
    case "more-trials":
      return { say: remedy };
    case "wider-tolerance":
      return { say: remedy, at };
  }
}

/** The setting for the length of windows. */
export function windowSettingOf({ kind }: MeasurementModePlan): SettingPath {
  return kind === "count-windows" ? "measurement.mode.requestsPerWindow" : "measurement.mode.windowMs";
}

function isThroughputWorse({ throughputRatio, latencyRatio, isThroughputOnly }: Instability): boolean {
  return isThroughputOnly || throughputRatio >= latencyRatio;
}

function movedMetrics({ throughputRatio, latencyRatio, toleranceRatio, isThroughputOnly }: Instability): string[] {
  return [
    ...(throughputRatio > toleranceRatio ? ["throughput"] : []),
    ...(latencyRatio > toleranceRatio && !isThroughputOnly ? ["latency"] : []),
  ];
}

function describeMovement(instability: Instability, unit: string): string {
  const { throughputRatio, latencyRatio, toleranceRatio, trials, windows } = instability;
  const moved = movedMetrics(instability);
  const throughputs = windows.map(({ inferPerSec }) => Number(inferPerSec.toPrecision(5))).join(", ");
  const latencies = windows.map(({ latencyNs }) => formatDurationNs(latencyNs)).join(", ");
  const parts: string[] = [];
  if (moved.includes("throughput"))
    parts.push(`throughput moved by ${formatPct(throughputRatio)} (${throughputs} ${unit})`);
  if (moved.includes("latency")) parts.push(`latency moved by ${formatPct(latencyRatio)} (${latencies})`);
  const first = trials - windows.length + 1;
  // Stability needs a minimum number of windows.
  if (parts.length === 0) parts.push("there were too few windows to compare");
  return `over windows ${first} to ${trials} ${parts.join(" and ")}; ${formatPct(toleranceRatio)} is allowed`;
}

function isMonotone(values: readonly number[]): boolean {
  const steps = values.slice(1).map((value, index) => value - (values[index] as number));
  return steps.every((step) => step > 0) || steps.every((step) => step < 0);
}
