import { parseMetricsUrl } from "../../telemetry/metrics-url.ts";
import { type FlagReader, readCount } from "./flag-values.ts";

/** What the flags of the server's metrics and trace settings do with their values. */
export const TELEMETRY_FLAG_READERS: Readonly<Record<string, FlagReader>> = {
  "--collect-metrics": (settings) => {
    settings.isCollectingMetrics = true;
  },
  "--metrics-url": (settings, reader, value) => {
    settings.metricsUrl = value;
    if (parseMetricsUrl(value) === undefined)
      reader.fail(
        "--metrics-url",
        "Failed to parse --metrics-url. The value must be a URL without a name and password.",
        value,
        "Give for example localhost:8002/metrics.",
      );
  },
  "--metrics-interval": (settings, reader, value) => {
    settings.metricsIntervalMs = readCount(
      reader,
      "--metrics-interval",
      "--metrics-interval",
      value,
      "The value must be > 0 msecs.",
    );
  },
  "--trace-file": (settings, _reader, value) => {
    settings.trace.file = value;
  },
  "--trace-level": (settings, reader, value) => {
    const levels = settings.trace.levels ?? [];
    // Several levels add up, as the help says; OFF is the opposite of them all.
    if (value === "OFF") settings.trace.levels = ["OFF"];
    else if (value === "TIMESTAMPS" || value === "TENSORS") {
      if (levels.includes("OFF")) settings.trace.levels = [value];
      else if (!levels.includes(value)) settings.trace.levels = [...levels, value];
    } else
      reader.fail(
        "--trace-level",
        `Failed to parse --trace-level. Unsupported type provided: '${value}'. The available options are 'OFF', 'TIMESTAMPS', or 'TENSORS'.`,
        value,
        "Give OFF, TIMESTAMPS or TENSORS.",
      );
  },
  "--trace-rate": (settings, reader, value) => {
    const rate = reader.integer("--trace-rate", "--trace-rate", value);
    if (rate !== undefined && rate >= 0) settings.trace.rate = rate;
    else if (rate !== undefined)
      reader.fail("--trace-rate", "Failed to parse --trace-rate. The value must be > 0.", value, "Give 1 or more.");
  },
  "--trace-count": (settings, reader, value) => {
    const count = reader.integer("--trace-count", "--trace-count", value);
    if (count !== undefined && count >= -1) settings.trace.count = count;
    else if (count !== undefined)
      reader.fail(
        "--trace-count",
        "Failed to parse --trace-count. The value must be >= 0 or set to -1 (default).",
        value,
        "Give -1 for no limit, or 0 or more.",
      );
  },
  "--log-frequency": (settings, reader, value) => {
    const frequency = reader.integer("--log-frequency", "--log-frequency", value);
    if (frequency !== undefined && frequency >= 0) settings.trace.logFrequency = frequency;
    else if (frequency !== undefined)
      reader.fail(
        "--log-frequency",
        "Failed to parse --log-frequency. The value must be >= 0.",
        value,
        "Give 0 or more.",
      );
  },
};
