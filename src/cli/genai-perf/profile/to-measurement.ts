import type { MeasurementPlan } from "../../../plan/plan.ts";
import type { GenaiSettings } from "../settings.ts";

const DEFAULT_INTERVAL_MS = 10_000;
const MIN_REQUESTS = 10;
const MAX_TRIALS = 10;

/** What is measured of a run. @param entryCount requests in the file of inputs */
export function toMeasurement(settings: GenaiSettings, entryCount: number): MeasurementPlan {
  const { stimulus, warmupRequests } = settings.perfAnalyzer;
  return {
    mode: toMode(settings, entryCount),
    // As in the original, which never warms up with sessions; the user is told.
    warmupRequests: stimulus.kind === "session_concurrency" ? 0 : warmupRequests,
    percentile: null,
    latencyLimitMs: null,
  };
}

/** As in the original a payload file is sent once where nothing else is said, and sessions are held once whatever else is said. */
function toMode({ input, perfAnalyzer }: GenaiSettings, entryCount: number): MeasurementPlan["mode"] {
  const { measurement, stimulus, stabilityPct } = perfAnalyzer;
  if (stimulus.kind === "fixed_schedule" || stimulus.kind === "session_concurrency")
    return { kind: "requests", count: null };
  if (measurement.mode === "interval") {
    const windowMs = measurement.num ?? DEFAULT_INTERVAL_MS;
    return { kind: "time-windows", windowMs, stabilityPct, maxTrials: MAX_TRIALS };
  }
  if (measurement.num !== null) return { kind: "requests", count: measurement.num };
  if (input.file.startsWith("payload:")) return { kind: "requests", count: entryCount };
  const concurrency = stimulus.kind === "concurrency" ? stimulus.requests : 1;
  return { kind: "requests", count: Math.max(MIN_REQUESTS, 2 * concurrency) };
}
