import type { MetricPlan } from "../../plan/assertions.ts";
import { defined } from "../../plan/objects.ts";
import { countOf, formatCount, nsToSec } from "../../plan/units.ts";
import { findLimits, type GoodRequests, goodCountOf, isOfRequests } from "../good-requests.ts";
import type { Measurement } from "../measurement.ts";
import type { Sketch } from "../sketch.ts";
import {
  directionOf,
  entryOf,
  familiesOf,
  type METRICS,
  type NameOf,
  nameOfMetric,
  type QuantityOf,
  quantityOf,
  type Shared,
  TOKEN_METRICS,
  type TokenMetric,
} from "../tokens/metrics.ts";
import {
  goodPerSec,
  lacksRates,
  sketchOf,
  sumPerSec,
  type TokenMeasurement,
  tokenRateInterval,
} from "../tokens/token-measurement.ts";
import { explainNoRates, explainUnstreamed } from "../tokens/token-warnings.ts";
import { ALL_STATISTICS, type Asked, factsOf, type MeasuredPart, type Metric, type Need, ratioOf } from "./metric.ts";
import { type Ends, sampleOfSketch } from "./sample.ts";

/** Metrics of generative models: those of single requests, from the table in `tokens/metrics.ts`, and those of all responses together. */

/** Facts about the metrics of single requests that the types of scenarios need. */
type PerRequest = {
  readonly [K in Exclude<TokenMetric, Shared> as NameOf<K>]: {
    readonly quantity: QuantityOf<K>;
    readonly statistics: typeof ALL_STATISTICS;
    readonly isOfReports: (typeof METRICS)[K] extends { readonly genaiPerf: { readonly families: readonly ["images"] } }
      ? true
      : false;
    readonly needs: (typeof METRICS)[K] extends { readonly isStreamed: true } ? "streams" : "tokens";
  };
};

/** The request latency of generative models is `latency`, as for all other models. */
const PER_REQUEST = Object.fromEntries(
  TOKEN_METRICS.filter((metric) => entryOf(metric).sameAs === undefined).map((metric) => [
    nameOfMetric(metric),
    toMetric(metric),
  ]),
) as unknown as PerRequest;

function toMetric(metric: TokenMetric): Metric {
  const { label, option, isStreamed, unit, showsCuts, differsByReasoning } = entryOf(metric);
  const [quantity, better] = [quantityOf(metric), directionOf(metric)];
  const needs: Need = isStreamed === true ? "streams" : "tokens";
  return {
    label,
    quantity,
    ...defined({ option, unit: quantity === "count" ? "tokens" : unit, better, showsCuts, differsByReasoning }),
    needs,
    // Only GenAI-Perf's mode measures images.
    ...(familiesOf(metric).includes("text") ? {} : { isOfReports: true }),
    statistics: ALL_STATISTICS,
    sample: ({ window: { tokens } }) => {
      const sketch = tokens && sketchOf(tokens, metric);
      return sketch && { ...sampleOfSketch(sketch), hasHistogram: false };
    },
    ...(metric === "outputTokensPerSecPerUser"
      ? { explain: ({ window: { tokens } }) => tokens && explainNoRates(tokens) }
      : {}),
  };
}

type SamplesOf = (tokens: TokenMeasurement) => readonly (Sketch | undefined)[];

/** Returns the samples that every request has, and undefined in place of the others. */
function ofAll(count: number, samples: readonly (Sketch | undefined)[]): (Sketch | undefined)[] {
  return samples.map((sample) => (sample?.count === count ? sample : undefined));
}

/** Fields of a rate of tokens: the sum of samples. Undefined if one of the samples is. */
function tokenRate(samplesOf: SamplesOf) {
  return {
    quantity: "rate",
    unit: "tokens/s",
    better: "higher",
    value: ({ window }: MeasuredPart): number | undefined => {
      const samples = window.tokens === undefined ? [] : samplesOf(window.tokens);
      return samples.includes(undefined) ? undefined : sumPerSec(samples, window);
    },
    ends: (part: MeasuredPart, _metric: unknown, asked: Asked): Ends => rateEnds(part, asked, samplesOf),
  } as const;
}

const RESPONSES = {
  /** Rate over all responses. */
  outputTokensPerSec: {
    label: "output tokens/s",
    needs: "tokens",
    ...tokenRate(({ metrics, count }) => ofAll(count, [metrics.outputTokens])),
    explain: ({ window: { tokens } }) => tokens && explainUncounted(tokens),
  },
  /** Rate over all requests and responses, because a sum over only some of them is not a rate. */
  totalTokensPerSec: {
    label: "total tokens/s",
    needs: "tokens",
    ...tokenRate(({ metrics, count }) => ofAll(count, [metrics.inputTokens, metrics.outputTokens])),
  },
  /** The same rate by the server's counts. */
  serverTokensPerSec: {
    label: "total tokens/s (server)",
    isOfReports: true,
    ...tokenRate(({ metrics, count }) => ofAll(count, [metrics.serverInputTokens, metrics.serverOutputTokens])),
  },
  /** Requests that meet all limits. If the metric has no limits, those that are measured are used, if there is one set of them. */
  goodput: {
    label: "goodput",
    quantity: "rate",
    unit: "requests/s",
    better: "higher",
    needsLimits: true,
    value: ({ window }, { limits }) => {
      const good = goodOf(window, limits);
      if (good === undefined || explainUnknown(window, good.limits) !== undefined) return undefined;
      if (window.good?.includes(good) !== true) return window.tokens && goodPerSec(window.tokens, window, good.limits);
      const { requestCount, failedCount, durationNs } = window;
      return requestCount + failedCount === 0 ? undefined : goodCountOf(good) / nsToSec(durationNs);
    },
    ends: ({ window }, { limits }, { value, confidence }) =>
      tokenRateInterval([goodOf(window, limits)?.sample], window, value, confidence),
    explain: ({ window }, { limits }) => explainUnknown(window, limits ?? goodOf(window)?.limits ?? {}),
  },
  /** Ratio of good requests to all requests that ended, including failed ones. */
  goodRatio: {
    label: "good requests",
    better: "higher",
    isOfReports: true,
    ...ratioOf(countGood),
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** Metrics of generative models: those of single requests, and those of all responses together. */
export const GENERATIVE_METRICS = { ...PER_REQUEST, ...factsOf(RESPONSES) };

/** Counts the requests that meet all limits, and all that ended. */
function countGood({ window }: MeasuredPart): { readonly count: number; readonly total: number } {
  const { requestCount, failedCount } = window;
  const good = goodOf(window);
  if (good === undefined) return { count: 0, total: 0 };
  return { count: goodCountOf(good), total: requestCount + failedCount };
}

/** @param samplesOf returns the samples that the rate sums up */
function rateEnds({ window }: MeasuredPart, { value, confidence }: Asked, samplesOf: SamplesOf): Ends {
  return tokenRateInterval(window.tokens === undefined ? [] : samplesOf(window.tokens), window, value, confidence);
}

/** Returns the requests that meet limits; undefined if they were not counted. @param limits default: the only ones that were counted */
function goodOf({ good = [], tokens }: Measurement, limits?: MetricPlan["limits"]): GoodRequests | undefined {
  // If both have the same limits, the counts of all requests are used.
  const ofTokens = tokens?.good.filter((one) => findLimits(good, one.limits) === undefined) ?? [];
  return findLimits([...good, ...ofTokens], limits);
}

/** Limits on metrics computed from a response's number of tokens. */
const PER_TOKEN: readonly string[] = ["interTokenLatency", "outputTokensPerSecPerUser"];

/** Explains why metrics that need the number of tokens of every response are unknown; undefined if they are known. */
function explainUncounted({ metrics, count }: TokenMeasurement): string | undefined {
  const counted = metrics.outputTokens?.count ?? 0;
  return counted === count
    ? undefined
    : `the tokens of ${formatCount(count - counted)} of ${countOf(count, "response")} are not known`;
}

/** Explains why it is unknown which requests meet limits; undefined if it is known. */
function explainUnknown({ tokens, isScheduled }: Measurement, limits: NonNullable<MetricPlan["limits"]>) {
  const names = Object.keys(limits);
  if (isOfRequests(limits))
    return names.includes("scheduledLatency") && !isScheduled ? "the load has no schedule" : undefined;
  if (tokens === undefined) return "no tokens were measured";
  const isUnstreamed = tokens.unstreamedCount >= tokens.count;
  if (!isUnstreamed && names.some((name) => PER_TOKEN.includes(name)) && explainUncounted(tokens) !== undefined)
    return explainUncounted(tokens);
  const isUnknown =
    (isUnstreamed && names.some((name) => name !== "latency")) ||
    (names.includes("outputTokensPerSecPerUser") && lacksRates(tokens));
  return isUnknown ? (explainUnstreamed(tokens) ?? explainNoRates(tokens)) : undefined;
}
