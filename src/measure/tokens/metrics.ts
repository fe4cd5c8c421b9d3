import type { Direction } from "../../plan/assertions.ts";
import { nsToMs, nsToSec } from "../../plan/units.ts";
import type { ServerUsage } from "../../service/openai/response-parts.ts";
import type { ResponseTimes } from "./response-times.ts";

/**
 * The metrics of single requests to generative models: GenAI-Perf's, by its formulas, and additional ones. Columns, reports,
 * goodput, limits and assertions derive from this table: a new metric is one entry.
 */

/** Families of responses: text, retrieved images, or anything else. */
export type ResponseFamily = "text" | "images" | "plain";

/** Inputs of a request's metrics. NaN means a missing value. */
export interface MetricInput {
  /** Time from the send to the last content. */
  readonly latencyNs: number;
  /** Time from the send to the end of the response. */
  readonly wholeNs: number;
  readonly times: ResponseTimes;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** The server's count of the text tokens. */
  readonly serverTextTokens: number;
  /** Number of tokens that the request asks for. */
  readonly requestedTokens: number;
  readonly interTokenLatencyNs: number;
  readonly usage: ServerUsage | undefined;
  /** Whether a stream was requested, but the response arrived whole. Then it has no first token. */
  readonly lacksStream: boolean;
  /** Images in the request; 0 if images are not measured. */
  readonly imageCount: number;
  /** Whether tokens that arrived together have no rate per user. Default: false, as in GenAI-Perf */
  readonly omitsBunchedRate?: boolean | undefined;
}

interface MetricEntry {
  /** Nanoseconds if the metric's name ends in `Ns`; otherwise tokens, a rate per second, or a ratio. NaN: no value. */
  readonly value: (input: MetricInput) => number;
  /** Name in Rampart's reports. Scenarios use the key of this table without `Ns`. */
  readonly label: string;
  /** Name in options, if shorter. */
  readonly option?: string;
  /** Whether displays and monitoring show it during a run: a time as a histogram, another metric as the sum of its values. */
  readonly isFollowed?: true;
  /** Whether only streamed responses have it. */
  readonly isStreamed?: true;
  readonly unit?: string;
  /** Set if goodput and limits can use it: a maximum for latencies, a minimum for rates. */
  readonly limit?: "most" | "least";
  /** Name and unit in GenAI-Perf's reports, the families of responses that have it (default: text), and its place in the table. */
  readonly genaiPerf?: {
    readonly name: string;
    readonly unit: string;
    /** Default: `unit` */
    readonly jsonUnit?: string;
    readonly families?: readonly ResponseFamily[];
    readonly row: number;
  };
  /** Whether it counts tokens of reasoning, and is omitted if there was none. */
  readonly isOfReasoning?: true;
  /** Whether it differs from another metric only if there was reasoning, and is omitted if there was none. */
  readonly differsByReasoning?: true;
  /** Whether it shows how the response was split instead of how fast tokens were generated, if many tokens arrived together. */
  readonly showsCuts?: true;
  /** Key of the equal metric that all requests have, including those without tokens. Absent: only generative models have it. */
  readonly sameAs?: string;
  /** Name and unit in the file of single requests: AIPerf's name, if GenAI-Perf has none. */
  readonly record?: {
    readonly name: string;
    readonly unit: string;
    /** Whether a value of 0 is omitted. */
    readonly omitsZero?: true;
  };
  /** Row in the table below GenAI-Perf's: the factor of the values (default: 1), and a metric to show next to it if the two differ. */
  readonly more?: { readonly label: string; readonly scale?: number; readonly beside?: string };
}

/** From this ratio of tokens that arrived together, token times show how the response was split instead of how it was generated. */
export const BUNCHED_RATIO = 0.2;
/** Reads closer together than this arrived together: 10,000 tokens/s for one user, which no model reaches. */
export const BUNCH_GAP_NS = 100_000;
const NS_TO_MS = nsToMs(1);
const ALL_FAMILIES: readonly ResponseFamily[] = ["text", "images", "plain"];

/** The metrics, in the order of Rampart's reports. */
export const METRICS = {
  requestLatencyNs: {
    label: "latency",
    sameAs: "latency",
    limit: "most",
    genaiPerf: { name: "request_latency", unit: "ms", families: ALL_FAMILIES, row: 3 },
    value: ({ latencyNs }) => latencyNs,
  },
  timeToFirstTokenNs: {
    label: "time to first token",
    option: "ttft",
    isFollowed: true,
    isStreamed: true,
    limit: "most",
    genaiPerf: { name: "time_to_first_token", unit: "ms", row: 1 },
    value: ({ times, lacksStream }) => (lacksStream ? Number.NaN : (times.contentNs[0] ?? Number.NaN)),
  },
  /** First token that is not reasoning. */
  timeToFirstOutputTokenNs: {
    label: "time to first output token",
    isStreamed: true,
    differsByReasoning: true,
    record: { name: "time_to_first_output_token", unit: "ms" },
    more: { label: "Time To First Output Token (ms)", scale: NS_TO_MS },
    value: ({ times, lacksStream }) => (lacksStream ? Number.NaN : times.firstOutputNs),
  },
  timeToFirstReasoningTokenNs: {
    label: "time to first reasoning token",
    isStreamed: true,
    more: { label: "Time To First Reasoning Token (ms)", scale: NS_TO_MS },
    value: ({ times, lacksStream }) => (lacksStream ? Number.NaN : times.firstReasoningNs),
  },
  timeToSecondTokenNs: {
    label: "time to second token",
    option: "ttst",
    isStreamed: true,
    limit: "most",
    genaiPerf: { name: "time_to_second_token", unit: "ms", row: 2 },
    value: ({ times: { contentNs } }) => (contentNs[1] ?? Number.NaN) - (contentNs[0] ?? Number.NaN),
  },
  interTokenLatencyNs: {
    label: "inter-token latency",
    option: "itl",
    isFollowed: true,
    isStreamed: true,
    showsCuts: true,
    limit: "most",
    genaiPerf: { name: "inter_token_latency", unit: "ms", row: 4 },
    value: ({ interTokenLatencyNs }) => interTokenLatencyNs,
  },
  /** Latency, to the end of the response, divided by output tokens. The chunking of a stream does not change it. */
  normalizedTimePerOutputTokenNs: {
    label: "latency per output token",
    more: { label: "Time Per Output Token, Normalized (ms)", scale: NS_TO_MS },
    value: ({ wholeNs, outputTokens }) => (outputTokens > 0 ? wholeNs / outputTokens : Number.NaN),
  },
  outputTokensPerSecPerUser: {
    label: "output tokens/s per user",
    unit: "tokens/s",
    isStreamed: true,
    limit: "least",
    genaiPerf: { name: "output_token_throughput_per_user", unit: "tokens/sec/user", row: 5 },
    // There is no such rate if all tokens arrive together. GenAI-Perf divides by zero then.
    value: (input) =>
      input.interTokenLatencyNs > 0 && !(input.omitsBunchedRate === true && bunchedRatio(input) >= BUNCHED_RATIO)
        ? 1 / nsToSec(input.interTokenLatencyNs)
        : Number.NaN,
  },
  /** Ratio of tokens that arrived together with the previous one, 0 to 1. */
  bunchedRatio: {
    label: "bunched tokens",
    isFollowed: true,
    isStreamed: true,
    more: { label: "Tokens Bunched (%)", scale: 100 },
    value: bunchedRatio,
  },
  outputTokens: {
    label: "output tokens",
    isFollowed: true,
    genaiPerf: { name: "output_sequence_length", unit: "tokens", row: 6 },
    more: { label: "Output Tokens, Client's Count", beside: "serverOutputTokens" },
    value: ({ outputTokens }) => outputTokens,
  },
  serverOutputTokens: {
    label: "output tokens (server)",
    record: { name: "usage_completion_tokens", unit: "tokens" },
    more: { label: "Output Tokens, Server's Count" },
    value: ({ usage }) => usage?.completionTokens ?? Number.NaN,
  },
  reasoningTokens: {
    label: "reasoning tokens",
    isOfReasoning: true,
    record: { name: "reasoning_token_count", unit: "tokens", omitsZero: true },
    more: { label: "Reasoning Tokens, Client's Count" },
    // Without a tokenizer, the client does not know about reasoning that is not sent.
    value: ({ times, usage }) =>
      Number.isNaN(times.outputTokens) ? usage?.reasoningTokens || times.reasoningTokens : times.reasoningTokens,
  },
  serverReasoningTokens: {
    label: "reasoning tokens (server)",
    isOfReasoning: true,
    record: { name: "usage_reasoning_tokens", unit: "tokens" },
    more: { label: "Reasoning Tokens, Server's Count" },
    value: ({ usage }) => usage?.reasoningTokens ?? Number.NaN,
  },
  inputTokens: {
    label: "input tokens",
    isFollowed: true,
    genaiPerf: { name: "input_sequence_length", unit: "tokens", row: 7 },
    more: { label: "Input Tokens, Client's Count", beside: "serverInputTokens" },
    value: ({ inputTokens }) => inputTokens,
  },
  serverInputTokens: {
    label: "input tokens (server)",
    record: { name: "usage_prompt_tokens", unit: "tokens" },
    more: { label: "Input Tokens, Server's Count" },
    value: ({ usage }) => usage?.promptTokens ?? Number.NaN,
  },
  /** The requested length, if the load asks for lengths. */
  requestedOutputTokens: {
    label: "requested output tokens",
    value: ({ requestedTokens }) => requestedTokens,
  },
  imagesPerSec: {
    label: "images/s",
    unit: "images/s",
    limit: "least",
    genaiPerf: { name: "image_throughput", unit: "images/sec", jsonUnit: "pages/sec", families: ["images"], row: 8 },
    value: ({ imageCount, latencyNs }) => (imageCount === 0 ? Number.NaN : imageCount / nsToSec(latencyNs)),
  },
  timePerImageNs: {
    label: "time per image",
    limit: "most",
    genaiPerf: { name: "image_latency", unit: "ms/image", jsonUnit: "ms", families: ["images"], row: 9 },
    value: ({ imageCount, latencyNs }) => (imageCount === 0 ? Number.NaN : latencyNs / imageCount),
  },
} as const satisfies Readonly<Record<string, MetricEntry>>;

/** A key of the table. */
export type TokenMetric = keyof typeof METRICS;

/** A metric's name everywhere except in columns: `timeToFirstToken`. */
export type NameOf<K> = K extends `${infer Name}Ns` ? Name : K;

type Having<A> = { [K in TokenMetric]: (typeof METRICS)[K] extends A ? K : never }[TokenMetric];
/** Metrics that all requests have. */
export type Shared = Having<{ sameAs: string }>;
/** Metrics that can limit a good request, whose response must be text. */
type Limited<L extends "most" | "least"> = Exclude<
  Having<{ limit: L }>,
  Having<{ genaiPerf: { families: readonly ["images"] } }>
>;
/** Times, other than the whole latency, that can limit a good request. */
export type LimitedTimeName = NameOf<Exclude<Limited<"most">, Shared>>;
/** Rates that can limit a good request. */
export type LimitedRateName = NameOf<Limited<"least">>;

type Followed = NameOf<Having<{ isFollowed: true }>>;
/** Times that displays show during a run. */
export type FollowedTime = Exclude<Followed, TokenMetric>;
/** Other metrics that displays show during a run. */
export type FollowedSum = Extract<Followed, TokenMetric>;

/** All metrics, in the order of the table. */
export const TOKEN_METRICS = Object.keys(METRICS) as readonly TokenMetric[];

export function entryOf(metric: TokenMetric): MetricEntry {
  return METRICS[metric];
}

/** Returns the families of responses for which GenAI-Perf's reports show the metric. */
export function familiesOf(metric: TokenMetric): readonly ResponseFamily[] {
  return entryOf(metric).genaiPerf?.families ?? ["text"];
}

/** Reports whether a metric is a time in nanoseconds. */
export function isTimeMetric(metric: TokenMetric): boolean {
  return metric.endsWith("Ns");
}

/** Returns whether lower or higher values are better: short times, and high rates that goodput may limit; undefined for other metrics. */
export function directionOf(metric: TokenMetric): Direction | undefined {
  if (isTimeMetric(metric)) return "lower";
  return entryOf(metric).limit === "least" ? "higher" : undefined;
}

/** Returns a metric's name in scenarios: `timeToFirstToken`. */
export function nameOfMetric(metric: TokenMetric): string {
  return isTimeMetric(metric) ? metric.slice(0, -2) : metric;
}

/** Quantity of a metric, as the result type of {@link quantityOf}; derived from its key. */
export type QuantityOf<K> = K extends `${string}Ns`
  ? "time"
  : K extends `${string}Ratio`
    ? "ratio"
    : K extends `${string}PerSec${string}`
      ? "rate"
      : "count";

export function quantityOf<K extends TokenMetric>(metric: K): QuantityOf<K> {
  const ends = { Ns: "time", Ratio: "ratio", PerSec: "rate", PerSecPerUser: "rate" };
  const found = Object.entries(ends).find(([end]) => metric.endsWith(end));
  return (found?.[1] ?? "count") as QuantityOf<K>;
}

/**
 * Returns the metrics that reports show, in the order of their table, with their values. Omits reasoning if there was none.
 * @param valuesOf undefined if there are none @param mostOf returns the largest value
 */
export function shownMetrics<V>(
  isStreamed: boolean,
  valuesOf: (metric: TokenMetric) => V | undefined,
  mostOf: (values: V) => number,
): ReadonlyMap<TokenMetric, V> {
  const shown = TOKEN_METRICS.filter((metric) => isStreamed || entryOf(metric).isStreamed !== true);
  const found = shown.flatMap((metric) => {
    const values = valuesOf(metric);
    const isNothing = values === undefined || (entryOf(metric).isOfReasoning === true && mostOf(values) === 0);
    return isNothing ? [] : [[metric, values] as const];
  });
  return new Map(found);
}

/** Returns the metric that can limit a good request under a name: `latency` for the whole request; undefined for other names. */
export function findLimited(name: string): TokenMetric | undefined {
  return LIMITED.get(name);
}

const LIMITED: ReadonlyMap<string, TokenMetric> = new Map(
  TOKEN_METRICS.filter((metric) => entryOf(metric).limit !== undefined).map((metric) => [limitedName(metric), metric]),
);

/** Returns the name of a metric as a limit of a good request. */
export function limitedName(metric: TokenMetric): string {
  return entryOf(metric).sameAs ?? nameOfMetric(metric);
}

/** Names that a goodput of text can limit: metrics, and `latency` for the whole request. */
export const LIMITED_NAMES = [...LIMITED].flatMap(([name, metric]) =>
  familiesOf(metric).includes("text") ? [name] : [],
);

/**
 * Returns the ratio of tokens that arrived together: tokens beyond one per read, and tokens of reads that arrived together. A
 * single event is not a stream and has no value.
 */
function bunchedRatio({ times, outputTokens, serverTextTokens }: MetricInput): number {
  const { contentNs, eventCount } = times;
  if (eventCount < 2) return Number.NaN;
  // The smaller count, because a different tokenizer than the server's may find more tokens, and the server also counts tokens
  // without text.
  const counts = [outputTokens, serverTextTokens].filter((count) => !Number.isNaN(count));
  const tokens = counts.length === 0 ? eventCount : Math.max(eventCount, Math.min(...counts));
  const atOnce = contentNs.filter((timeNs, i) => i > 0 && timeNs - (contentNs[i - 1] as number) < BUNCH_GAP_NS).length;
  return (tokens - contentNs.length + atOnce) / (tokens - 1);
}
