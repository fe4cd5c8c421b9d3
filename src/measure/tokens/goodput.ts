import type { TokenColumns, TokenMetric } from "./token-metrics.ts";
import { STREAMED_METRICS } from "./token-samples.ts";

/** What a good request keeps to, by GenAI-Perf's metric names: milliseconds at most, or a rate at least. */
export type GoodputLimits = Readonly<Record<string, number>>;

interface Limited {
  readonly metric: TokenMetric;
  readonly bound: "most" | "least";
}

const TEXT_LIMITS: Readonly<Record<string, Limited>> = {
  time_to_first_token: { metric: "timeToFirstTokenNs", bound: "most" },
  time_to_second_token: { metric: "timeToSecondTokenNs", bound: "most" },
  inter_token_latency: { metric: "interTokenLatencyNs", bound: "most" },
  output_token_throughput_per_user: { metric: "outputTokensPerSecPerUser", bound: "least" },
};
const IMAGE_LIMITS: Readonly<Record<string, Limited>> = {
  image_latency: { metric: "timePerImageNs", bound: "most" },
  image_throughput: { metric: "imagesPerSec", bound: "least" },
};
const LATENCY_LIMIT: Readonly<Record<string, Limited>> = {
  request_latency: { metric: "requestLatencyNs", bound: "most" },
};

/** Which answers there are: of text, of images that were found, or of something else. */
export type AnswerFamily = "text" | "images" | "plain";

const FAMILIES: Readonly<Record<AnswerFamily, Readonly<Record<string, Limited>>>> = {
  text: { ...TEXT_LIMITS, ...LATENCY_LIMIT },
  images: { ...IMAGE_LIMITS, ...LATENCY_LIMIT },
  plain: LATENCY_LIMIT,
};

/** All names that may be limited, whatever the answers are. */
export const GOODPUT_NAMES: readonly string[] = Object.keys({ ...TEXT_LIMITS, ...IMAGE_LIMITS, ...LATENCY_LIMIT });

/**
 * How many requests keep to all limits. Each is judged by its own values: GenAI-Perf pairs lists by position, which mixes requests once
 * one of them lacks a value. A value that a request does not have breaks no limit. Requests that failed or had no content are not good.
 *
 * @returns undefined when a name is unknown; GenAI-Perf gives a goodput of -1 for that
 */
export function countGood(columns: TokenColumns, family: AnswerFamily, limits: GoodputLimits): number | undefined {
  const checks: { values: Float64Array; isBroken: (value: number, row: number) => boolean }[] = [];
  for (const [name, limit] of Object.entries(limits)) {
    const limited = FAMILIES[family][name];
    if (limited === undefined) return undefined;
    const bound = limited.metric.endsWith("Ns") ? limit * 1e6 : limit;
    // A comparison with NaN is false.
    const isBeyond = limited.bound === "most" ? (value: number) => value > bound : (value: number) => value < bound;
    const lacksStream = STREAMED_METRICS.has(limited.metric) && columns.unstreamedCount > 0;
    const firstNs = columns.metrics.timeToFirstTokenNs.view();
    // Whoever did not get the stream that was asked for got no good answer.
    const isBroken = lacksStream
      ? (value: number, row: number) => isBeyond(value) || Number.isNaN(firstNs[row])
      : isBeyond;
    checks.push({ values: columns.metrics[limited.metric].view(), isBroken });
  }
  let good = 0;
  for (let row = 0; row < columns.count; row++)
    if (!checks.some(({ values, isBroken }) => isBroken(values[row] as number, row))) good++;
  return good;
}
