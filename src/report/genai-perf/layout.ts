import {
  entryOf,
  familiesOf,
  type ResponseFamily,
  TOKEN_METRICS,
  type TokenMetric,
} from "../../measure/tokens/metrics.ts";
import type { ResponseKind } from "../../service/openai/response-kind.ts";

/** GenAI-Perf's metrics: names, units and order. Scripts depend on them. */

/** A metric of single requests. */
export interface RequestMetric {
  readonly name: string;
  readonly column: TokenMetric;
  /** Unit in table and CSV. */
  readonly unit: string;
  readonly jsonUnit: string;
  /** Shown only for streamed responses. */
  readonly isStreaming: boolean;
}

/** A metric of the whole run. */
export interface SystemMetric {
  readonly name: "request_throughput" | "request_goodput" | "request_count" | "output_token_throughput";
  readonly unit: string;
  readonly jsonUnit: string;
}

const RATE: SystemMetric = { name: "request_throughput", unit: "per sec", jsonUnit: "requests/sec" };
const GOODPUT: SystemMetric = { name: "request_goodput", unit: "per sec", jsonUnit: "requests/sec" };
const COUNT: SystemMetric = { name: "request_count", unit: "count", jsonUnit: "count" };
const TOKEN_RATE: SystemMetric = { name: "output_token_throughput", unit: "tokens/sec", jsonUnit: "tokens/sec" };

/** In the order of the table and the CSV. */
export const REQUEST_METRICS = byFamily(requestMetrics);
export const SYSTEM_METRICS: Readonly<Record<ResponseFamily, readonly SystemMetric[]>> = {
  text: [TOKEN_RATE, RATE, GOODPUT, COUNT],
  images: [RATE, GOODPUT, COUNT],
  plain: [RATE, GOODPUT, COUNT],
};
/** In the order of the JSON, in which the output token throughput precedes the throughput per user. */
export const JSON_METRICS = byFamily((family): (RequestMetric | SystemMetric)[] => {
  const [latency, ...others] = REQUEST_METRICS[family].toSorted((a, b) => rankOf(a) - rankOf(b));
  const metrics = others.flatMap((metric) =>
    metric.column === "outputTokensPerSecPerUser" ? [TOKEN_RATE, metric] : [metric],
  );
  return [RATE, ...(latency === undefined ? [] : [latency]), GOODPUT, COUNT, ...metrics];
});

function rankOf({ column }: RequestMetric): number {
  return entryOf(column).sameAs === undefined ? 1 : 0;
}

function byFamily<T>(of: (family: ResponseFamily) => T): Readonly<Record<ResponseFamily, T>> {
  return { text: of("text"), images: of("images"), plain: of("plain") };
}

function requestMetrics(family: ResponseFamily): RequestMetric[] {
  return TOKEN_METRICS.flatMap((column) => {
    const { genaiPerf, isStreamed = false } = entryOf(column);
    if (genaiPerf === undefined || !familiesOf(column).includes(family)) return [];
    const { name, unit, jsonUnit = unit, row } = genaiPerf;
    return [{ name, column, unit, jsonUnit, isStreaming: isStreamed, row }];
  }).toSorted((a, b) => a.row - b.row);
}

/** The statistics of GenAI-Perf's tables, in the order of their columns. */
export const TABLE_STATISTICS = ["avg", "min", "max", "p99", "p90", "p75"] as const;

/** Families of responses that are not text. */
const FAMILIES: Readonly<Partial<Record<ResponseKind, ResponseFamily>>> = {
  "image-retrieval": "images",
  embeddings: "plain",
  nvclip: "plain",
  rankings: "plain",
  grpc: "plain",
};

/** Returns the family of metrics for a kind of responses; `text` if the kind is unknown. */
export function familyOf(kind: ResponseKind | undefined): ResponseFamily {
  return (kind && FAMILIES[kind]) ?? "text";
}

/** Returns the report's title for an endpoint type such as `chat` or `embeddings`. */
export function reportTitle(endpointType: string): string {
  return `NVIDIA GenAI-Perf | ${TITLES[endpointType] ?? "LLM"} Metrics`;
}

const TITLES: Readonly<Record<string, string>> = {
  embeddings: "Embeddings",
  rankings: "Rankings",
  image_retrieval: "Image Retrieval",
  multimodal: "Multi-Modal",
};

/** Returns a metric's label: `Request Latency (ms)`. */
export function metricLabel({ name, unit }: { readonly name: string; readonly unit: string }): string {
  return `${titleCase(name)} (${unit})`;
}

function titleCase(name: string): string {
  return name
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/** Returns the label of a GPU metric, with abbreviations in capitals. */
export function telemetryLabel(name: string, unit: string): string {
  return `${titleCase(name).replace(/\bGpu\b/g, "GPU")}${unit === "" ? "" : ` (${unit})`}`;
}
