/** GPU metrics of the server, scraped while a level is measured. */
export interface MetricsPlan {
  /** Address of metrics in Prometheus' text format: `host:port/path`, `http://…` or `https://…`. */
  readonly url: string;
  readonly intervalMs: number;
}

/** Metrics in Prometheus' text format from GPU exporters and inference servers, scraped during the run. */
export interface ScrapePlan {
  /** `host:port/path`, `http://…` or `https://…`. */
  readonly urls: readonly string[];
  readonly intervalMs: number;
  /** Whether the user gave the addresses, so that a missing one needs a warning. */
  readonly isAsked: boolean;
}

/** No metrics, and unchanged trace settings. */
export const NO_TELEMETRY: TelemetryPlan = { metrics: null, trace: null };

/** No trace setting is changed. */
export const NO_TRACE: TracePlan = { file: null, levels: null, rate: null, count: null, logFrequency: null };

/** Default interval of metrics in milliseconds. */
export const DEFAULT_METRICS_INTERVAL_MS = 1000;

/** Metrics to scrape and trace settings to change. */
export interface TelemetryPlan {
  /** Null: none. */
  readonly metrics: MetricsPlan | null;
  /** Null: unchanged. */
  readonly trace: TracePlan | null;
  /** Absent: none. */
  readonly scrapes?: ScrapePlan | undefined;
}

/** Content of a server trace. */
export type TraceLevel = "OFF" | "TIMESTAMPS" | "TENSORS";

/** Trace settings of the server for all models, restored after the run. Null: unchanged. */
export interface TracePlan {
  readonly file: string | null;
  readonly levels: readonly TraceLevel[] | null;
  /** Trace one in this many requests. */
  readonly rate: number | null;
  /** Maximum number of traces; -1: no limit. */
  readonly count: number | null;
  /** Number of traces per file; 0: write when the server stops or its settings change. */
  readonly logFrequency: number | null;
}
