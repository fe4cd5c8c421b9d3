import type { MetricPlan } from "../../plan/assertions.ts";
import type { GoodputPlan } from "../../plan/tokens.ts";
import { nsToMs, nsToSec } from "../../plan/units.ts";
import { type GoodputLimits, goodRows } from "../tokens/goodput.ts";
import {
  directionOf,
  entryOf,
  familiesOf,
  findLimited,
  isTimeMetric,
  type METRICS,
  type NameOf,
  nameOfMetric,
  quantityOf,
  TOKEN_METRICS,
  type TokenMetric,
} from "../tokens/metrics.ts";
import type { TokenColumns } from "../tokens/token-columns.ts";
import { tokenRateInterval } from "../tokens/token-rate-interval.ts";
import { goodPerSec, outputTokensPerSec } from "../tokens/token-rates.ts";
import { explainNoRates, explainUnstreamed } from "../tokens/token-warnings.ts";
import { type Asked, factsOf, type MeasuredPart, type Metric, type Need } from "./metric.ts";
import { type Ends, sampleOfValues } from "./sample.ts";

/** Metrics of generative models: those of single requests, from the table in `tokens/metrics.ts`, and those of all responses together. */

const ALL = ["average", "min", "max", "percentiles"] as const;

/** What the types of scenarios need to know of the metrics of single requests. */
type PerRequest = {
  readonly [K in Exclude<TokenMetric, "requestLatencyNs"> as NameOf<K>]: {
    readonly quantity: K extends `${string}Ns`
      ? "time"
      : K extends `${string}Ratio`
        ? "ratio"
        : K extends `${string}PerSec${string}`
          ? "rate"
          : "count";
    readonly statistics: typeof ALL;
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
    isInJson: true,
    statistics: ALL,
    sample: ({ tokens }) => tokens && sampleOfValues(tokens.metrics[metric].measured()),
    ...(metric === "outputTokensPerSecPerUser" ? { explain: ({ tokens }) => tokens && explainNoRates(tokens) } : {}),
  };
}

const RESPONSES = {
  /** Of all responses. */
  outputTokensPerSec: {
    label: "output tokens/s",
    isInJson: true,
    quantity: "rate",
    unit: "tokens/s",
    better: "higher",
    needs: "tokens",
    value: ({ tokens, window }) => tokens && outputTokensPerSec(tokens, window),
    ends: (part, _metric, asked) => rateEnds(part, asked, ({ metrics }) => metrics.outputTokens.view()),
  },
  /** Of all requests and responses. */
  totalTokensPerSec: {
    label: "tokens/s",
    quantity: "rate",
    unit: "tokens/s",
    better: "higher",
    needs: "tokens",
    value: ({ tokens, window: { durationNs } }) => {
      const sum = tokens && allTokens(tokens).reduce((all, one) => all + (Number.isNaN(one) ? 0 : one), 0);
      return sum === undefined || sum === 0 || durationNs <= 0 ? undefined : sum / nsToSec(durationNs);
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
    value: ({ tokens, window }, metric) => {
      if (tokens === undefined || isUnknown(tokens, metric)) return undefined;
      return goodPerSec(tokens, window, toNamedLimits(metric));
    },
    ends: (part, metric, asked) => rateEnds(part, asked, (tokens) => goodRows(tokens, "text", toNamedLimits(metric))),
    explain: ({ tokens }, metric) => (tokens && isUnknown(tokens, metric) ? explainUnstreamed(tokens) : undefined),
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

function allTokens({ metrics }: TokenColumns): Float64Array {
  const inputs = metrics.inputTokens.view();
  return metrics.outputTokens.view().map((count, row) => count + (inputs[row] as number));
}

/** @param weigh returns what each request adds to the rate; undefined when that is not known */
function rateEnds(
  { tokens, window }: MeasuredPart,
  { value, confidence }: Asked,
  weigh: (tokens: TokenColumns) => Float64Array | undefined,
): Ends {
  const weights = tokens && weigh(tokens);
  if (tokens === undefined || weights === undefined) return { low: null, high: null };
  return tokenRateInterval({ columns: tokens, weights, durationNs: window.durationNs }, value, confidence);
}

/** Whether limits are on times of tokens, and no answer was streamed. */
function isUnknown(tokens: TokenColumns, { limits }: MetricPlan): boolean {
  return tokens.unstreamedCount >= tokens.count && Object.keys(limits ?? {}).some((name) => name !== "latency");
}

/** Converts limits to GenAI-Perf's names, with times in milliseconds. */
function toNamedLimits({ limits }: MetricPlan): GoodputLimits {
  const named = Object.entries(limits ?? ({} satisfies GoodputPlan)).map(([name, limit]) => {
    const metric = findLimited(name) as TokenMetric;
    return [entryOf(metric).genaiPerf?.name ?? name, isTimeMetric(metric) ? nsToMs(limit) : limit];
  });
  return Object.fromEntries(named) as GoodputLimits;
}
