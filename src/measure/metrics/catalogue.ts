import type { MetricPlan, Statistic } from "../../plan/assertions.ts";
import { defined } from "../../plan/objects.ts";
import { jsonNameOf, type Metric, type Need, type Quantity } from "./metric.ts";
import { OTHER_METRICS, REQUEST_METRICS } from "./request-metrics.ts";
import { GAUGE_METRICS } from "./server-gauges.ts";
import { SERVER_METRICS } from "./server-metrics.ts";
import { GENERATIVE_METRICS } from "./token-metrics.ts";

/**
 * The only catalogue of metrics. Assertions, limits, `findMax`, `--fail-if`, goodput, comparisons, the types of scenarios,
 * reports and the guide's reference derive from it: a new metric is one entry in one of the tables.
 */
const CATALOGUE = {
  ...REQUEST_METRICS,
  ...GENERATIVE_METRICS,
  ...SERVER_METRICS,
  ...GAUGE_METRICS,
  ...OTHER_METRICS,
} as const;

type Catalogue = typeof CATALOGUE;

/** A key of the catalogue. */
export type MetricKey = keyof Catalogue;
/** Keys of metrics whose entries have certain fields. */
export type KeyWith<F> = { [K in MetricKey]: Catalogue[K] extends F ? K : never }[MetricKey];
/** The statistics of a metric; `never` for a metric with one value. */
export type StatisticOf<K extends MetricKey> = Catalogue[K] extends { readonly statistics: readonly (infer S)[] }
  ? S
  : never;
/** Keys of metrics that scenarios refer to by key alone. Other metrics need more than a key. */
export type NamedKey = Exclude<
  MetricKey,
  KeyWith<{ readonly isOfReports: true } | { readonly definedIn: unknown } | { readonly needsLimits: true }>
>;

/** Names of metrics that have a statistic. */
export type NameWith<S extends "mean" | "min" | "max" | "percentiles"> = {
  [K in NamedKey]: S extends StatisticOf<K> ? K : never;
}[NamedKey];
/** Names of metrics with one value. */
export type SingleName = { [K in NamedKey]: [StatisticOf<K>] extends [never] ? K : never }[NamedKey];
/** Names of metrics of a quantity. */
export type NameOfQuantity<Q extends Quantity> = KeyWith<{ readonly quantity: Q }>;
/** Names of metrics that a run has only if it meets a need. */
export type NameNeeding<N extends Need> = Exclude<
  KeyWith<{ readonly needs: N }>,
  KeyWith<{ readonly isOfReports: true }>
>;

/** All keys, in the order of reports. */
export const METRIC_KEYS = Object.keys(CATALOGUE) as readonly MetricKey[];

/** Returns the entry of a key; undefined for an unknown key. */
export function findEntry(key: string): Metric | undefined {
  return Object.hasOwn(CATALOGUE, key) ? (CATALOGUE[key as MetricKey] as Metric) : undefined;
}

/** Returns the entry of a metric. @param metric of a valid plan @throws RangeError for an unknown key */
export function metricOf({ key, unit, better }: MetricPlan): Metric {
  const metric = findEntry(key);
  if (metric === undefined) throw new RangeError(`there is no metric ${key}`);
  return unit === undefined && better === undefined ? metric : { ...metric, ...defined({ unit, better }) };
}

/**
 * Returns the entries that JSON contains by name: all metrics of levels, except metrics that a scenario defines, of which there
 * can be several.
 */
export function reportedMetrics(): { readonly key: string; readonly name: string; readonly entry: Metric }[] {
  return METRIC_KEYS.flatMap((key) => {
    const entry = findEntry(key) as Metric;
    return entry.definedIn !== undefined || entry.isOfSearch === true
      ? []
      : [{ key, name: jsonNameOf(key, entry), entry }];
  });
}

/** Reports whether a metric has a statistic. @param statistic undefined: the metric has one value */
export function hasStatistic({ statistics }: Metric, statistic: Statistic | undefined): boolean {
  if (statistics === undefined || statistic === undefined) return statistics === statistic;
  return statistics.includes(typeof statistic === "number" ? "percentiles" : statistic);
}

/** Returns the keys that scenarios can use and that have a statistic. @param statistic undefined: keys of metrics with one value */
export function keysWith(statistic: Statistic | undefined): MetricKey[] {
  return METRIC_KEYS.filter((key) => {
    const metric = findEntry(key);
    const isNamed = metric !== undefined && metric.isOfReports !== true && metric.definedIn === undefined;
    return isNamed && hasStatistic(metric, statistic);
  });
}

/** Returns the needs of a metric, including those of its limits. */
export function needsOf({
  key,
  limits,
}: {
  readonly key: string;
  readonly limits?: object | undefined;
}): readonly Need[] {
  const keys = [key, ...Object.keys(limits ?? {})];
  return keys.flatMap((one) => findEntry(one)?.needs ?? []);
}

export function needsTokens(metric: { readonly key: string; readonly limits?: object | undefined }): boolean {
  return needsOf(metric).some((need) => need === "tokens" || need === "streams");
}
