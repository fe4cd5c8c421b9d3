import type { AnswerFamily } from "../../measure/tokens/goodput.ts";
import type { TokenMetric } from "../../measure/tokens/token-metrics.ts";
import type { AnswerKind } from "../../service/openai/answer-kind.ts";

/** GenAI-Perf's metrics: names, units and order, which scripts rely on. */

/** A metric of each request. */
export interface RequestMetric {
  readonly name: string;
  readonly column: TokenMetric;
  /** In table and CSV. */
  readonly unit: string;
  /** In JSON. */
  readonly jsonUnit: string;
  /** Shown only for streamed answers. */
  readonly isStreaming: boolean;
}

/** A number of the whole run. */
export interface SystemMetric {
  readonly name: "request_throughput" | "request_goodput" | "request_count" | "output_token_throughput";
  readonly unit: string;
  readonly jsonUnit: string;
}

const LATENCY = metric("request_latency", "requestLatencyNs", "ms");
const TTFT = metric("time_to_first_token", "timeToFirstTokenNs", "ms", true);
const TTST = metric("time_to_second_token", "timeToSecondTokenNs", "ms", true);
const ITL = metric("inter_token_latency", "interTokenLatencyNs", "ms", true);
const PER_USER = metric("output_token_throughput_per_user", "outputTokensPerSecPerUser", "tokens/sec/user", true);
const OSL = metric("output_sequence_length", "outputTokens", "tokens");
const ISL = metric("input_sequence_length", "inputTokens", "tokens");
const IMAGE_RATE: RequestMetric = {
  ...metric("image_throughput", "imagesPerSec", "images/sec"),
  jsonUnit: "pages/sec",
};
const IMAGE_LATENCY: RequestMetric = { ...metric("image_latency", "timePerImageNs", "ms/image"), jsonUnit: "ms" };

const RATE: SystemMetric = { name: "request_throughput", unit: "per sec", jsonUnit: "requests/sec" };
const GOODPUT: SystemMetric = { name: "request_goodput", unit: "per sec", jsonUnit: "requests/sec" };
const COUNT: SystemMetric = { name: "request_count", unit: "count", jsonUnit: "count" };
const TOKEN_RATE: SystemMetric = { name: "output_token_throughput", unit: "tokens/sec", jsonUnit: "tokens/sec" };

/** In the order of table and CSV. */
export const REQUEST_METRICS: Readonly<Record<AnswerFamily, readonly RequestMetric[]>> = {
  text: [TTFT, TTST, LATENCY, ITL, PER_USER, OSL, ISL],
  images: [LATENCY, IMAGE_RATE, IMAGE_LATENCY],
  plain: [LATENCY],
};
export const SYSTEM_METRICS: Readonly<Record<AnswerFamily, readonly SystemMetric[]>> = {
  text: [TOKEN_RATE, RATE, GOODPUT, COUNT],
  images: [RATE, GOODPUT, COUNT],
  plain: [RATE, GOODPUT, COUNT],
};
/** In the order of JSON. */
export const JSON_METRICS: Readonly<Record<AnswerFamily, readonly (RequestMetric | SystemMetric)[]>> = {
  text: [RATE, LATENCY, GOODPUT, COUNT, TTFT, TTST, ITL, TOKEN_RATE, PER_USER, OSL, ISL],
  images: [RATE, LATENCY, GOODPUT, COUNT, IMAGE_RATE, IMAGE_LATENCY],
  plain: [RATE, LATENCY, GOODPUT, COUNT],
};

/** Which metrics an endpoint of this kind has. */
export function familyOf(kind: AnswerKind): AnswerFamily {
  if (kind === "image-retrieval") return "images";
  return kind === "embeddings" || kind === "nvclip" || kind === "rankings" ? "plain" : "text";
}

/** What the report is called, by endpoint type (`chat`, `embeddings`, …). */
export function reportTitle(endpointType: string): string {
  return `NVIDIA GenAI-Perf | ${TITLES[endpointType] ?? "LLM"} Metrics`;
}

const TITLES: Readonly<Record<string, string>> = {
  embeddings: "Embeddings",
  rankings: "Rankings",
  image_retrieval: "Image Retrieval",
  multimodal: "Multi-Modal",
};

/** A metric's name for people: `Request Latency (ms)`. */
export function metricLabel({ name, unit }: { readonly name: string; readonly unit: string }): string {
  return `${titleCase(name)} (${unit})`;
}

function titleCase(name: string): string {
  return name
    .split("_")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join(" ");
}

/** GPU metrics write their abbreviation in capitals. */
export function telemetryLabel(name: string, unit: string): string {
  return `${titleCase(name).replace(/\bGpu\b/g, "GPU")}${unit === "" ? "" : ` (${unit})`}`;
}

function metric(name: string, column: TokenMetric, unit: string, isStreaming = false): RequestMetric {
  return { name, column, unit, jsonUnit: unit, isStreaming };
}
