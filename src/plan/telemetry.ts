import type { TelemetryPlan, TracePlan } from "./plan.ts";

/** GPU metrics of the server, read while a level is measured. */
export interface MetricsPlan {
  /** Of metrics in Prometheus' text format: `host:port/path`, `http://…` or `https://…`. */
  readonly url: string;
  readonly intervalMs: number;
}

/** Metrics of any servers in Prometheus' text format, read while the run measures: GPU exporters and inference servers. */
export interface ScrapePlan {
  /** `host:port/path`, `http://…` or `https://…`. */
  readonly urls: readonly string[];
  readonly intervalMs: number;
  /** Whether a user named them: it is told when there is nothing to read then. */
  readonly isAsked: boolean;
}

/** No metrics are read, and the server's trace settings stay as they are. */
export const NO_TELEMETRY: TelemetryPlan = { metrics: null, trace: null };

/** Trace settings of which none is asked for. */
export const NO_TRACE: TracePlan = { file: null, levels: null, rate: null, count: null, logFrequency: null };

/** Milliseconds between two readings of metrics unless said otherwise. */
export const DEFAULT_METRICS_INTERVAL_MS = 1000;
