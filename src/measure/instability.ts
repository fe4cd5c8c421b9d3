import type { SettingPath, Text } from "../plan/messages.ts";
import type { MeasurementModePlan } from "../plan/plan.ts";
import { countOf, formatDurationNs, formatPct, nsToSec } from "../plan/units.ts";
import { DEFAULT_THROUGHPUT_UNIT } from "../service/service.ts";
import { clientLimitText, ofCore, saturationReason } from "./client-limit.ts";
import type { Measurement } from "./measurement.ts";
import { type AskedRate, isRateMissed } from "./rate-shortfall.ts";
import { STABILITY_WINDOWS } from "./stability.ts";

/** Why a level did not become stable, and what may help. */

interface UnsteadyWindow {
  /** Inferences per second. */
  readonly inferPerSec: number;
  /** The latency used for stability. */
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
 * Possible remedies:
 * - `less-load`: the client or the server is at its limit
 * - `longer-windows`: a window has too few requests
 * - `more-trials`: the level was still settling
 * - `three-windows`: fewer windows are allowed than the rule compares
 * - `wider-tolerance`: the variation is only slightly above the tolerance
 */
type Remedy = "less-load" | "longer-windows" | "more-trials" | "three-windows" | "wider-tolerance";

/** Explanation of an unstable level. The sentences have no full stop. */
interface InstabilityReport {
  /** The value that varied, by how much, and over which windows. */
  readonly moved: string;
  /** Key of the only metric that varied; absent if several did, or none. */
  readonly metric?: string;
  /** The likely cause, and whether it was the client. */
  readonly cause: string;
  /** `moved` and `cause` in fewer words: without the windows and their values, and for the client only that it was the limit. */
  readonly brief: readonly [moved: string, cause: string];
  readonly remedy: Remedy;
}

const FEW_REQUESTS = 50;
/** A server that misses the requested rate by more than this cannot keep up. */
const MISSED_RATE_RATIO = 0.02;

/**
 * Explains why a level did not become stable.
 * @param window the compared windows, merged
 * @param asked the requested rate; undefined if the load has none
 */
export function explainInstability(
  instability: Instability,
  window: Measurement,
  asked: AskedRate | undefined,
): InstabilityReport {
  const [metric, ...others] = movedMetrics(instability);
  if (isTooShort(instability)) {
    const cause = `a level needs ${STABILITY_WINDOWS} of them`;
    const brief = [describeBriefly(instability), cause] as const;
    return { moved: brief[0], cause, brief, remedy: "three-windows" };
  }
  const saturation = saturationReason(window);
  const { why, remedy }: Cause =
    saturation === undefined
      ? findCause(instability, window, asked)
      : { why: clientLimitText(saturation), remedy: "less-load" };
  const idle = saturation === undefined ? `the client was not the limit (${ofCore(window.health.cpuRatio)}); ` : "";
  return {
    moved: describeMovement(instability),
    ...(metric === undefined || others.length > 0 ? {} : { metric }),
    cause: `${idle}${why}`,
    brief: [describeBriefly(instability), why],
    remedy,
  };
}

interface Cause {
  readonly why: string;
  readonly remedy: Remedy;
}

/** Finds the likely cause of an unstable level if the client was not the limit. */
function findCause(instability: Instability, window: Measurement, asked: AskedRate | undefined): Cause {
  const { windows, toleranceRatio } = instability;
  const answeredPerSec = window.requestCount / nsToSec(window.durationNs);
  if (asked !== undefined && isRateMissed(answeredPerSec, asked, window.durationNs, MISSED_RATE_RATIO))
    return {
      why: `the server answered ${answeredPerSec.toFixed(1)} of ${asked.perSec} requests per second`,
      remedy: "less-load",
    };
  const fewest = Math.min(...windows.map(({ requestCount }) => requestCount));
  if (fewest < FEW_REQUESTS)
    return { why: `a window held as few as ${countOf(fewest, "request")}`, remedy: "longer-windows" };
  const values = windows.map((one) => (isThroughputWorse(instability) ? one.inferPerSec : one.latencyNs));
  if (isMonotone(values)) return { why: "the values kept moving in one direction", remedy: "more-trials" };
  const worst = Math.max(instability.throughputRatio, instability.isThroughputOnly ? 0 : instability.latencyRatio);
  return {
    why: "the values went up and down",
    remedy: worst <= 2 * toleranceRatio ? "wider-tolerance" : "longer-windows",
  };
}

/** Describes the change that makes the level stable; a sentence without a full stop. */
export function describeRemedy(remedy: Remedy, mode: MeasurementModePlan): Text {
  const at = windowSettingOf(mode);
  switch (remedy) {
    case "less-load":
      return "Lower the load, or give the client more CPU time";
    case "longer-windows":
      return { say: remedy, at };
    case "more-trials":
    case "three-windows":
      return { say: remedy };
    case "wider-tolerance":
      return { say: remedy, at };
  }
}

export function windowSettingOf({ kind }: MeasurementModePlan): SettingPath {
  return kind === "count-windows" ? "measurement.mode.requestsPerWindow" : "measurement.mode.windowMs";
}

function isThroughputWorse({ throughputRatio, latencyRatio, isThroughputOnly }: Instability): boolean {
  return isThroughputOnly || throughputRatio >= latencyRatio;
}

function isTooShort({ windows }: Instability): boolean {
  return windows.length < STABILITY_WINDOWS;
}

/** Metrics that varied; none if there are too few windows to say so. */
function movedMetrics(instability: Instability): string[] {
  const { throughputRatio, latencyRatio, toleranceRatio, isThroughputOnly } = instability;
  if (isTooShort(instability)) return [];
  return [
    ...(throughputRatio > toleranceRatio ? ["throughput"] : []),
    ...(latencyRatio > toleranceRatio && !isThroughputOnly ? ["latency"] : []),
  ];
}

function describeMovement(instability: Instability): string {
  const { throughputRatio, latencyRatio, toleranceRatio, trials, windows } = instability;
  const moved = movedMetrics(instability);
  const throughputs = windows.map(({ inferPerSec }) => Number(inferPerSec.toPrecision(5))).join(", ");
  const latencies = windows.map(({ latencyNs }) => formatDurationNs(latencyNs)).join(", ");
  const parts: string[] = [];
  if (moved.includes("throughput"))
    parts.push(`throughput moved by ${formatPct(throughputRatio)} (${throughputs} ${DEFAULT_THROUGHPUT_UNIT})`);
  if (moved.includes("latency")) parts.push(`latency moved by ${formatPct(latencyRatio)} (${latencies})`);
  const first = trials - windows.length + 1;
  return `over windows ${first} to ${trials} ${parts.join(" and ")}; ${formatPct(toleranceRatio)} is allowed`;
}

/** Describes what moved: `throughput moved by 82 % and latency by 73 %; 5 % is allowed`. */
function describeBriefly(instability: Instability): string {
  const { throughputRatio, latencyRatio, toleranceRatio, trials } = instability;
  const [first, second] = movedMetrics(instability).map(
    (name) => [name, formatPct(name === "latency" ? latencyRatio : throughputRatio)] as const,
  );
  if (first === undefined) return `${countOf(trials, "window is", "windows are")} too few to compare`;
  const also = second === undefined ? "" : ` and ${second[0]} by ${second[1]}`;
  return `${first[0]} moved by ${first[1]}${also}; ${formatPct(toleranceRatio)} is allowed`;
}

function isMonotone(values: readonly number[]): boolean {
  const steps = values.slice(1).map((value, index) => value - (values[index] as number));
  return steps.every((step) => step > 0) || steps.every((step) => step < 0);
}
