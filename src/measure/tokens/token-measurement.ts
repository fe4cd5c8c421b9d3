import type { GoodputPlan } from "../../plan/tokens.ts";
import { nsToSec } from "../../plan/units.ts";
import { findLimits, type GoodRequests, goodCountOf, joinGood } from "../good-requests.ts";
import { type Interval, UNKNOWN } from "../intervals/certainty.ts";
import { rateInterval, SHORTEST_STRETCH_NS } from "../intervals/throughput.ts";
import { addBins, type CompletionBins, wholeBins } from "../intervals/time-bins.ts";
import { joinSketches, type Sketch, sumOfValues } from "../sketch.ts";
import { shownMetrics, TOKEN_METRICS, type TokenMetric } from "./metrics.ts";
import { joinCounts, type ResponseCounts } from "./response-counts.ts";

/** Token metrics of a measurement: plain data in bounded memory, which can be cloned, stored, sent and joined. */

/** Counts and lengths that differ by more than this ratio count as different. */
export const DIFFERENT_RATIO = 0.02;

/** Sums over the requests that have both counts. */
export interface CountedTwice {
  /** Count by the client, including reasoning. */
  readonly client: number;
  readonly server: number;
}

/** Responses with a requested length. */
interface AskedLengths {
  readonly count: number;
  /** Sums of tokens, by the server's count if available, because limits are in the server's tokens. */
  readonly asked: number;
  readonly got: number;
  /** Number of responses with another length. */
  readonly otherCount: number;
}

export interface TokenMeasurement extends ResponseCounts {
  /** Sketches by metric, in nanoseconds for times. A metric without values is absent. */
  readonly metrics: Readonly<Partial<Record<TokenMetric, Sketch>>>;
  /** One for each goodput that the plan judges. */
  readonly good: readonly GoodRequests[];
  readonly inputTwice: CountedTwice;
  readonly outputTwice: CountedTwice;
  readonly lengths: AskedLengths;
  /** Responses that began with reasoning. */
  readonly reasoningFirstCount: number;
}

/** Joins the token metrics of consecutive or parallel measurements; undefined if there are none. */
export function joinTokens(parts: readonly TokenMeasurement[]): TokenMeasurement | undefined {
  const [first] = parts;
  if (first === undefined || parts.length === 1) return first;
  const metrics = TOKEN_METRICS.flatMap((metric) => {
    const sketches = parts.flatMap((part) => part.metrics[metric] ?? []);
    return sketches.length === 0 ? [] : [[metric, joinSketches(sketches)] as const];
  });
  return {
    ...joinCounts(parts),
    count: parts.reduce((sum, { count }) => sum + count, 0),
    metrics: Object.fromEntries(metrics),
    good: joinGood(parts.map(({ good }) => good)),
    inputTwice: addFields(parts.map(({ inputTwice }) => inputTwice)),
    outputTwice: addFields(parts.map(({ outputTwice }) => outputTwice)),
    lengths: addFields(parts.map(({ lengths }) => lengths)),
    reasoningFirstCount: parts.reduce((sum, part) => sum + part.reasoningFirstCount, 0),
  };
}

/** Returns the metrics with GenAI-Perf's rule for percentiles, for its mode. */
export function interpolated(tokens: TokenMeasurement): TokenMeasurement {
  const metrics = Object.entries(tokens.metrics).map(([metric, sketch]) => [
    metric,
    { ...sketch, isInterpolated: true } satisfies Sketch,
  ]);
  return { ...tokens, metrics: Object.fromEntries(metrics) };
}

function addFields<T extends object>(parts: readonly T[]): T {
  const sums = new Map<string, number>();
  for (const part of parts)
    for (const [name, value] of Object.entries(part)) sums.set(name, (sums.get(name) ?? 0) + (value as number));
  return Object.fromEntries(sums) as T;
}

/**
 * Returns the requests that meet limits; undefined for limits that the plan does not judge. @param limits default: the only
 * ones that it judges
 */
export function findGood({ good }: TokenMeasurement, limits?: GoodputPlan): GoodRequests | undefined {
  return findLimits(good, limits);
}

/** If more than this ratio of streams has no rate, the others are not a fair sample, because bunched streams differ from them. */
const FEW_WITHOUT_RATE = 0.05;

/** Counts the streams with known tokens, and those that have a rate of tokens per user because their tokens did not arrive together. */
export function ratedStreams({
  metrics: { outputTokensPerSecPerUser, outputTokens, bunchedRatio },
}: TokenMeasurement): {
  readonly all: number;
  readonly rated: number;
} {
  const all = Math.min(bunchedRatio?.count ?? 0, outputTokens?.count ?? 0);
  return { all, rated: outputTokensPerSecPerUser?.count ?? 0 };
}

/** Reports whether too many streams have no rate of tokens per user, so that none is reported. */
export function lacksRates(tokens: TokenMeasurement): boolean {
  const { all, rated } = ratedStreams(tokens);
  return rated < (1 - FEW_WITHOUT_RATE) * all;
}

/** Returns the values of a metric; undefined without values, or without a fair sample of them. */
export function sketchOf(tokens: TokenMeasurement, metric: TokenMetric): Sketch | undefined {
  return metric === "outputTokensPerSecPerUser" && lacksRates(tokens) ? undefined : tokens.metrics[metric];
}

/** Returns the token metrics of a measurement that reports show, with their values; empty if tokens are not measured. */
export function shownSketches({
  tokens,
  isStreamed,
}: {
  readonly tokens?: TokenMeasurement;
  readonly isStreamed: boolean;
}): ReadonlyMap<TokenMetric, Sketch> {
  const sketchesOf = (metric: TokenMetric): Sketch | undefined => tokens && sketchOf(tokens, metric);
  return shownMetrics(isStreamed, sketchesOf, ({ max }) => max);
}

/**
 * Token rates over the same windows and requests as the level's throughput. GenAI-Perf's files use its formula, from the first send to the
 * last content: see `systemMetrics`.
 */

/** The measured time, and the number of requests that ended in it. */
interface Span {
  readonly durationNs: number;
  readonly completions?: CompletionBins;
}

/** Returns the sum of values per second of the measured time; undefined if one has no values. */
export function sumPerSec(samples: readonly (Sketch | undefined)[], { durationNs }: Span): number | undefined {
  const known = samples.filter((sample) => sample !== undefined && sample.count > 0) as Sketch[];
  if (known.length === 0 || durationNs <= 0) return undefined;
  return known.reduce((sum, sample) => sum + sumOfValues(sample), 0) / nsToSec(durationNs);
}

/**
 * Returns the number of requests per second that meet all limits; undefined if no request ended, or the plan does not judge
 * these limits.
 * @param limits default: the only ones that it judges
 */
export function goodPerSec(tokens: TokenMeasurement, { durationNs }: Span, limits?: GoodputPlan): number | undefined {
  if (tokens.count + tokens.emptyCount + tokens.failedCount === 0 || durationNs <= 0) return undefined;
  const good = findGood(tokens, limits);
  return good && goodCountOf(good) / nsToSec(durationNs);
}

/**
 * Returns the interval of a rate of tokens, or of good requests, from its variation between stretches of time. So it includes
 * the variation of arrivals, of latencies and of lengths, whether or not these depend on each other.
 * @param samples the values of requests that the rate sums up @param perSec the rate
 */
export function tokenRateInterval(
  samples: readonly (Sketch | undefined)[],
  { durationNs, completions }: Span,
  perSec: number,
  confidence: number,
): Interval {
  // The rate at which no value at all would be too improbable.
  if (perSec === 0) return { low: 0, high: -Math.log((1 - confidence) / 2) / nsToSec(durationNs) };
  const bins = samples.flatMap((sample) => sample?.bins ?? []);
  if (bins.length === 0 || completions === undefined) return UNKNOWN;
  const none = (length: number): number[] => new Array<number>(length).fill(0);
  const sums = bins.map(
    ({ binNs, first, sums: counts }): CompletionBins => ({ binNs, first, counts, coveredNs: none(counts.length) }),
  );
  const measured: CompletionBins = { ...completions, counts: none(completions.counts.length) };
  const together = addBins([...sums, measured], "sum") as CompletionBins;
  const total = Math.max(...samples.map((sample) => sample?.count ?? 0));
  return rateInterval(wholeBins(together, SHORTEST_STRETCH_NS), total, perSec, { confidence });
}
