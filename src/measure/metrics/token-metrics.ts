import type { MetricPlan } from "../../plan/assertions.ts";
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
  TOKEN_METRICS,
  type TokenMetric,
} from "../tokens/metrics.ts";
import { findGood, lacksRates, sketchOf, type TokenMeasurement } from "../tokens/token-measurement.ts";
import { goodPerSec, outputTokensPerSec, sumPerSec, tokenRateInterval } from "../tokens/token-rates.ts";
import { explainNoRates, explainUnstreamed } from "../tokens/token-warnings.ts";
import { ALL_STATISTICS, type Asked, factsOf, type MeasuredPart, type Metric, type Need } from "./metric.ts";
import { type Ends, sampleOfNumbers } from "./sample.ts";

/** Metrics of generative models: those of single requests, from the table in `tokens/metrics.ts`, and those of all responses together. */

/** What the types of scenarios need to know of the metrics of single requests. */
type PerRequest = {
  readonly [K in Exclude<TokenMetric, "requestLatencyNs"> as NameOf<K>]: {
    readonly quantity: QuantityOf<K>;
    readonly statistics: typeof ALL_STATISTICS;
    readonly isOfReports: (typeof METRICS)[K] extends { readonly genaiPerf: { readonly families: readonly ["images"] } }
      ? true
      : false;
    readonly needs: (typeof METRICS)[K] extends { readonly isStreamed: true } ? "streams" : "tokens";
  };
};

/** The request latency of generative models is `latency` like that of all others. */
const PER_REQUEST = Object.fromEntries(
  TOKEN_METRICS.filter((metric) => metric !== "requestLatencyNs").map((metric) => [
    nameOfMetric(metric),
    toMetric(metric),
  ]),
) as unknown as PerRequest;

function toMetric(metric: TokenMetric): Metric {
  const { label, isStreamed, unit } = entryOf(metric);
  const [quantity, better] = [quantityOf(metric), directionOf(metric)];
  const needs: Need = isStreamed === true ? "streams" : "tokens";
  return {
    label,
    quantity,
    ...(quantity === "count" ? { unit: "tokens" } : unit === undefined ? {} : { unit }),
    ...(better === undefined ? {} : { better }),
    needs,
    // Only GenAI-Perf's mode measures images.
    ...(familiesOf(metric).includes("text") ? {} : { isOfReports: true }),
    statistics: ALL_STATISTICS,
    sample: ({ window: { tokens } }) => {
      const sketch = tokens && sketchOf(tokens, metric);
      return sketch && sampleOfNumbers(sketch);
    },
    ...(metric === "outputTokensPerSecPerUser"
      ? { explain: ({ window: { tokens } }) => tokens && explainNoRates(tokens) }
      : {}),
  };
}

const RESPONSES = {
  /** Of all responses. */
  outputTokensPerSec: {
    label: "output tokens/s",
    quantity: "rate",
    unit: "tokens/s",
    better: "higher",
    needs: "tokens",
    value: ({ window }) => window.tokens && outputTokensPerSec(window.tokens, window),
    ends: (part, _metric, asked) => rateEnds(part, asked, ({ metrics }) => [metrics.outputTokens]),
  },
  /** Of all requests and responses. */
  totalTokensPerSec: {
    label: "tokens/s",
    quantity: "rate",
    unit: "tokens/s",
    better: "higher",
    needs: "tokens",
    value: ({ window }) => {
      const { tokens } = window;
      const samples = tokens === undefined ? [] : allTokens(tokens);
      return samples.includes(undefined) ? undefined : sumPerSec(samples, window);
    },
    ends: (part, _metric, asked) => rateEnds(part, asked, allTokens),
  },
  /** Requests that meet all limits. */
  goodput: {
    label: "goodput",
    quantity: "rate",
    unit: "requests/s",
    better: "higher",
    needs: "tokens",
    value: ({ window }, metric) => {
      const { tokens } = window;
      if (tokens === undefined || isUnknown(tokens, metric)) return undefined;
      return goodPerSec(tokens, window, metric.limits ?? {});
    },
    ends: (part, { limits = {} }, asked) => rateEnds(part, asked, (tokens) => [findGood(tokens, limits)?.sample]),
    explain: ({ window: { tokens } }, metric) =>
      tokens && isUnknown(tokens, metric) ? (explainUnstreamed(tokens) ?? explainNoRates(tokens)) : undefined,
  },
  goodRatio: {
    label: "good requests",
    quantity: "ratio",
    better: "higher",
    isOfReports: true,
    value: () => undefined,
  },
} as const satisfies Readonly<Record<string, Metric>>;

/** Metrics of generative models: those of single requests, and those of all responses together. */
export const GENERATIVE_METRICS = { ...PER_REQUEST, ...factsOf(RESPONSES) };

/** Of all requests and of all responses; undefined for those that were not counted. */
function allTokens({ metrics }: TokenMeasurement): (Sketch | undefined)[] {
  return [metrics.inputTokens, metrics.outputTokens];
}

/** @param samplesOf returns what the requests add to the rate */
function rateEnds(
  { window }: MeasuredPart,
  { value, confidence }: Asked,
  samplesOf: (tokens: TokenMeasurement) => readonly (Sketch | undefined)[],
): Ends {
  return tokenRateInterval(window.tokens === undefined ? [] : samplesOf(window.tokens), window, value, confidence);
}

/** Whether limits are on times of tokens, and no response was streamed; or on rates that are not known. */
function isUnknown(tokens: TokenMeasurement, { limits = {} }: MetricPlan): boolean {
  const names = Object.keys(limits);
  const isUnstreamed = tokens.unstreamedCount >= tokens.count;
  return (
    (isUnstreamed && names.some((name) => name !== "latency")) ||
    (names.includes("outputTokensPerSecPerUser") && lacksRates(tokens))
  );
}
