import type { TelemetryPlan, TracePlan } from "./plan.ts";

/** No metrics are read, and the server's trace settings stay as they are. */
export const NO_TELEMETRY: TelemetryPlan = { metrics: null, trace: null };

/** Trace settings of which none is asked for. */
export const NO_TRACE: TracePlan = { file: null, levels: null, rate: null, count: null, logFrequency: null };

/** Milliseconds between two readings of metrics unless said otherwise. */
export const DEFAULT_METRICS_INTERVAL_MS = 1000;
