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

/** What is asked of the server and set in it besides the load. */
export interface TelemetryPlan {
  /** Null: none are read. */
  readonly metrics: MetricsPlan | null;
  /** Null: they stay as they are. */
  readonly trace: TracePlan | null;
  /** Left out: none are read. */
  readonly scrapes?: ScrapePlan | undefined;
}

/** What a trace of the server holds. */
export type TraceLevel = "OFF" | "TIMESTAMPS" | "TENSORS";

/** Trace settings of the server, all models' alike, set for the run and set back after it. Null: stays as it is. */
export interface TracePlan {
  readonly file: string | null;
  readonly levels: readonly TraceLevel[] | null;
  /** One request of so many is traced. */
  readonly rate: number | null;
  /** Most traces; -1: no limit. */
  readonly count: number | null;
  /** The server writes a file after so many traces; 0: when it stops or its settings change. */
  readonly logFrequency: number | null;
}
