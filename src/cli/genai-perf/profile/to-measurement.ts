import type { MeasurementPlan } from "../../../plan/plan.ts";
import { secToMs } from "../../../plan/units.ts";
import { isPayloadFile } from "../input-format.ts";
import { loadOf } from "../loads.ts";
import type { GenaiSettings } from "../options/settings.ts";
import type { GivenSettings } from "../options/settings-builder.ts";

const DEFAULT_INTERVAL_MS = 10_000;
const MIN_REQUESTS = 10;
const MAX_TRIALS = 10;

/** Returns the measurement of a run. @param entryCount number of requests in the input file */
export function toMeasurement(settings: GenaiSettings, given: GivenSettings, entryCount: number): MeasurementPlan {
  const { durationSec, gracePeriodSec, warmupSec } = settings.rampart;
  const mode: MeasurementPlan["mode"] =
    durationSec === null || isOverridden(given)
      ? toMode(settings, entryCount)
      : { kind: "duration", durationMs: secToMs(durationSec), graceMs: secToMs(gracePeriodSec) };
  const { stimulus, warmupRequests } = settings.perfAnalyzer;
  return {
    mode,
    // Like GenAI-Perf, which never warms up with sessions. A warning says so.
    warmupRequests: loadOf(stimulus.kind).holdsSessions ? 0 : warmupRequests,
    ...(warmupSec === null || warmupSec === 0 ? {} : { warmupMs: secToMs(warmupSec) }),
    percentile: null,
    latencyLimitMs: null,
  };
}

/** Reports whether a file sets the duration and the command line asks for another measurement. */
function isOverridden(given: GivenSettings): boolean {
  const source = given.get("perfAnalyzer.measurement.num")?.source;
  return source === "flag" && given.get("rampart.durationSec")?.source !== "flag";
}

/** Like in GenAI-Perf, a payload file is sent once by default, and sessions always run once. */
function toMode(settings: GenaiSettings, entryCount: number): MeasurementPlan["mode"] {
  const { measurement, stimulus, stabilityPct } = settings.perfAnalyzer;
  const { sendsOnce, isInFlight } = loadOf(stimulus.kind);
  if (sendsOnce) return { kind: "requests", count: null };
  if (measurement.mode === "interval") {
    const windowMs = measurement.num ?? DEFAULT_INTERVAL_MS;
    return { kind: "time-windows", windowMs, stabilityPct, maxTrials: MAX_TRIALS };
  }
  if (measurement.num !== null) return { kind: "requests", count: measurement.num };
  if (isPayloadFile(settings)) return { kind: "requests", count: entryCount };
  return { kind: "requests", count: Math.max(MIN_REQUESTS, isInFlight ? 2 * (stimulus.value ?? 1) : 0) };
}
