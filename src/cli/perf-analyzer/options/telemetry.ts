import { fieldOf } from "../../../plan/objects.ts";
import type { Plan } from "../../../plan/plan.ts";
import type { TraceLevel } from "../../../plan/telemetry.ts";
import { defaultMetricsUrl, parseMetricsUrl } from "../../../telemetry/metrics-url.ts";
import { withValue } from "../../options/place.ts";
import { type Land, option, type UngroupedOption } from "../settings.ts";
import { choice, count, on, text, whole } from "./readers.ts";

const LEVEL = choice(["OFF", "TIMESTAMPS", "TENSORS"]);

/** A plan has either all trace settings or none. */
const OF_TRACE: { readonly feature: "triton"; readonly land: Land } = {
  feature: "triton",
  land: (plan, { telemetry }) => withValue(plan, "telemetry.trace", telemetry.trace),
};

/** Options of the server's metrics and trace settings. */
export const TELEMETRY: readonly UngroupedOption[] = [
  option("isCollectingMetrics", {
    names: ["--collect-metrics"],
    help: "Read the server's GPU metrics in each window and report them.",
    parse: on,
    of: ({ telemetry }) => telemetry.metrics !== null,
  }),
  option("metricsUrl", {
    names: ["--metrics-url"],
    value: "URL",
    defaultText: "port 8002 of the server, path /metrics",
    help: "Where the metrics are, in Prometheus' text format: host:port/path, http://… or https://….",
    parse: (reader) => {
      if (parseMetricsUrl(reader.text) === undefined)
        reader.fail("The value must be a URL without a name and password.", "Give for example localhost:8002/metrics.");
      return reader.text;
    },
    of: metricsUrlOf,
  }),
  option("metricsIntervalMs", {
    names: ["--metrics-interval"],
    setting: "telemetry.metrics.intervalMs",
    value: "MSEC",
    unit: "milliseconds",
    help: "Time between two readings.",
    parse: count("The value must be > 0 msecs."),
    of: ({ telemetry }) => telemetry.metrics?.intervalMs,
    format: (intervalMs) => String(Math.max(1, Math.round(intervalMs))),
  }),
  option("telemetry.trace.file", {
    names: ["--trace-file"],
    ...OF_TRACE,
    value: "FILE",
    help: "The server's file for traces. Triton 2.51 refuses to change it.",
    parse: text,
  }),
  option("telemetry.trace.levels", {
    names: ["--trace-level"],
    ...OF_TRACE,
    choices: LEVEL.choices,
    isRepeatable: true,
    help: "What the server traces; OFF: nothing.",
    parse: (reader, before) => addLevel(LEVEL.parse(reader), before),
  }),
  option("telemetry.trace.rate", {
    names: ["--trace-rate"],
    ...OF_TRACE,
    value: "N",
    help: "One request of N is traced.",
    parse: whole((value) => value >= 0, "The value must be >= 0.", "Give 0 or more."),
  }),
  option("telemetry.trace.count", {
    names: ["--trace-count"],
    ...OF_TRACE,
    value: "N",
    help: "Most traces; -1: no limit.",
    parse: whole(
      (value) => value >= -1,
      "The value must be >= 0 or set to -1 (default).",
      "Give -1 for no limit, or 0 or more.",
    ),
  }),
  option("telemetry.trace.logFrequency", {
    names: ["--log-frequency"],
    ...OF_TRACE,
    value: "N",
    help: "The server writes a file after this many traces; 0: at the end.",
    parse: whole((value) => value >= 0, "The value must be >= 0.", "Give 0 or more."),
  }),
];

/** Returns the URL, unless it is Triton's default. */
function metricsUrlOf({ telemetry: { metrics }, target }: Plan): string | undefined {
  if (metrics === null) return undefined;
  const url = fieldOf(target, "url");
  return url !== undefined && metrics.url === defaultMetricsUrl(url) ? undefined : metrics.url;
}

/** Adds a level. Several levels are combined, as perf_analyzer's help says. OFF excludes all others. */
function addLevel(
  level: TraceLevel | undefined,
  before: readonly TraceLevel[] | null,
): readonly TraceLevel[] | undefined {
  if (level === undefined) return undefined;
  if (before === null || level === "OFF" || before.includes("OFF")) return [level];
  return before.includes(level) ? before : [...before, level];
}
