import { entryOf, isTimeMetric, nameOfMetric, TOKEN_METRICS } from "../../../measure/tokens/metrics.ts";
import { registerArguments } from "../../../plan/secrets.ts";
import { type MeasuredValue, putStatistics } from "./measured-run.ts";

/** Metrics in the JSON of GenAI-Perf and AIPerf: an object per metric, `{"unit": "ms", "avg": …, "p99": …}`. */

interface Known {
  readonly metric: string;
  readonly isTime: boolean;
  /** Whether its single value is `avg`, because it belongs to the whole run. */
  readonly isOfRun: boolean;
}

const perRequest = (metric: string, isTime: boolean): Known => ({ metric, isTime, isOfRun: false });
const ofRun = (metric: string): Known => ({ metric, isTime: false, isOfRun: true });

/** Metrics by the key in the file. */
const KNOWN: ReadonlyMap<string, Known> = new Map([
  ...TOKEN_METRICS.flatMap((metric) => {
    const { genaiPerf, record } = entryOf(metric);
    const key = genaiPerf?.name ?? record?.name;
    return key === undefined ? [] : [[key, perRequest(nameOfMetric(metric), isTimeMetric(metric))] as const];
  }),
  ["request_latency", perRequest("latency", true)],
  // AIPerf's latency from the time at which the request was due.
  ["effective_latency", perRequest("scheduledLatency", true)],
  ["request_throughput", ofRun("throughput")],
  ["output_token_throughput", ofRun("outputTokensPerSec")],
  ["total_token_throughput", ofRun("totalTokensPerSec")],
  ["request_goodput", ofRun("goodput")],
  ["goodput", ofRun("goodput")],
  ["request_error_rate", ofRun("errorRate")],
]);

/** Factors to nanoseconds, or to ratios, by the unit in the file. */
const SCALES: ReadonlyMap<string, number> = new Map(
  Object.entries({ ns: 1, us: 1e3, ms: 1e6, sec: 1e9, s: 1e9, "%": 0.01 }),
);

/** Reads the metrics that comparisons support. {@link listOtherMetrics} names the others. */
export function readForeignMetrics(document: Readonly<Record<string, unknown>>): Map<string, MeasuredValue> {
  const values = new Map<string, MeasuredValue>();
  for (const [key, given] of Object.entries(document)) {
    const known = KNOWN.get(key);
    if (known === undefined || typeof given !== "object" || given === null) continue;
    const statistics = given as Readonly<Record<string, unknown>>;
    const unit = String(statistics["unit"] ?? "").split("/")[0] ?? "";
    const { metric, isTime, isOfRun } = known;
    const scale = isTime || unit === "%" ? (SCALES.get(unit) ?? 1e6) : 1;
    if (!isOfRun) putStatistics(values, metric, statistics, scale);
    else if (typeof statistics["avg"] === "number") values.set(metric, { value: statistics["avg"] * scale });
  }
  return values;
}

/**
 * Lists the metrics that comparisons do not support, and the parts of the file that contain several metrics: sessions, whose names
 * and lengths differ between runs, and telemetry.
 */
export function listOtherMetrics(document: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(document).flatMap(([key, given]) => {
    if (KNOWN.has(key) || typeof given !== "object" || given === null) return [];
    if (PARTS.has(key)) {
      const count = Object.keys(given).length;
      return count === 0 ? [] : [key === "sessions" ? `sessions (${count})` : key];
    }
    return "avg" in given ? [key] : [];
  });
}

/** Keys of objects that contain numbers but are not metrics. */
const PARTS = new Set(["sessions", "telemetry_stats", "telemetry_data"]);

/**
 * Lists the values of plain data by path: `target.model` → `resnet50`. A list of plain values is one value. Keys and passwords that
 * other tools write to their files are registered as secrets, so that no report shows them.
 * @param skip paths to omit, with everything below them
 */
export function listFacts(data: unknown, skip: ReadonlySet<string> = new Set()): Map<string, string> {
  const facts = new Map<string, string>();
  const visit = (value: unknown, path: string): void => {
    if (skip.has(path) || value === undefined) return;
    const isPlainList = Array.isArray(value) && value.every((item) => typeof item !== "object" || item === null);
    if (typeof value !== "object" || value === null || isPlainList) {
      registerSecrets(path, [value].flat());
      facts.set(path, typeof value === "string" ? value : JSON.stringify(value));
      return;
    }
    for (const [key, item] of Object.entries(value)) visit(item, path === "" ? key : `${path}.${key}`);
  };
  visit(data, "");
  return facts;
}

/** Registers values whose names mark them as secret, headers in texts, and logins in addresses. */
function registerSecrets(path: string, values: readonly unknown[]): void {
  const name = path.slice(path.lastIndexOf(".") + 1).replaceAll("_", "-");
  for (const value of values) if (typeof value === "string") registerArguments([value, `${name}: ${value}`]);
}
