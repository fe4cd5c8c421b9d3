import * as v from "valibot";
import { aboveZeroSchema, atLeast, integerSchema, type PlanOf } from "./schema.ts";

/** Metrics to scrape and trace settings to change. */
export type TelemetryPlan = PlanOf<typeof telemetrySchema>;

/** GPU metrics of the server, scraped while a level is measured. */
export type MetricsPlan = NonNullable<TelemetryPlan["metrics"]>;

/** Metrics in Prometheus' text format from GPU exporters and inference servers, scraped during the run. */
export type ScrapePlan = NonNullable<TelemetryPlan["scrapes"]>;

/** Trace settings of the server for all models, restored after the run. Null: unchanged. */
export type TracePlan = NonNullable<TelemetryPlan["trace"]>;

/** Content of a server trace. */
export type TraceLevel = NonNullable<TracePlan["levels"]>[number];

/** No metrics, and unchanged trace settings. */
export const NO_TELEMETRY: TelemetryPlan = { metrics: null, trace: null };

/** No trace setting is changed. */
export const NO_TRACE: TracePlan = { file: null, levels: null, rate: null, count: null, logFrequency: null };

/** Default interval of metrics, in milliseconds. */
export const DEFAULT_METRICS_INTERVAL_MS = 1000;

/** Returns the schema of telemetry. @param isMetricsUrl reports whether a text is the address of a metrics page */
export function telemetrySchema(isMetricsUrl: (url: string) => boolean) {
  const whole = integerSchema();
  const natural = v.nullable(v.pipe(whole, atLeast(0)));
  /** Address of a page in Prometheus' text format: `host:port/path`, `http://…` or `https://…`. */
  const url = v.pipe(v.string(), v.check(isMetricsUrl, "must be a URL without a name and password"));
  const intervalMs = aboveZeroSchema();
  const level = v.picklist(["OFF", "TIMESTAMPS", "TENSORS"], "must be OFF, TIMESTAMPS or TENSORS");
  const trace = v.object({
    file: v.nullable(v.string()),
    levels: v.nullable(v.pipe(v.array(level), v.minLength(1, "must not be empty"))),
    /** Traces one of this number of requests. */
    rate: natural,
    /** Maximum number of traces; -1: no limit. */
    count: v.nullable(v.pipe(whole, atLeast(-1))),
    /** Number of traces per file; 0: written when the server stops or its settings change. */
    logFrequency: natural,
  });
  return v.object({
    /** Null: none. `isAsked`: the run requires a response. Absent: the run continues without one. */
    metrics: v.nullable(v.object({ url, intervalMs, isAsked: v.exactOptional(v.literal(true)) })),
    /** Null: unchanged. */
    trace: v.nullable(trace),
    /** Absent: none. `isAsked`: a missing response needs a warning. */
    scrapes: v.optional(v.object({ urls: v.array(url), intervalMs, isAsked: v.boolean() })),
  });
}
