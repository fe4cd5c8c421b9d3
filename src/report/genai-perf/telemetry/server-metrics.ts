import { PERCENTILES, summarize } from "../../../measure/numpy-statistics.ts";
import { estimateQuantile } from "../../../telemetry/histogram-estimate.ts";
import type { ScrapedEndpoint, ScrapedFamily, ScrapedSeries, ScrapeResult } from "../../../telemetry/scrape-result.ts";
import type { TelemetryMetric } from "../../../telemetry/series.ts";

/** Statistics of the servers' metrics during a run. Names are AIPerf's where it has the same value. */

/** By statistic: `avg`, `min`, `p99`, `total`, `rate`, `p99_estimate`, … Statistics without values are left out. */
export type ServerStatistics = ReadonlyMap<string, number>;

/** One series and its statistics. */
export interface ServerMetric {
  readonly endpoint: ScrapedEndpoint;
  readonly family: ScrapedFamily;
  readonly labels: ReadonlyMap<string, string>;
  readonly statistics: ServerStatistics;
  /** Whether it was ever not 0 and, for counters, changed. */
  readonly isActive: boolean;
}

/** Percentiles to estimate from a histogram. */
export const ESTIMATED = [50, 90, 95, 99] as const;

/** Returns all series by family name, then in the order of the servers. */
export function toServerMetrics({ endpoints }: ScrapeResult): ServerMetric[] {
  return endpoints
    .flatMap((endpoint) =>
      endpoint.families.flatMap((family) =>
        family.series.map((series) => ({
          endpoint,
          family,
          labels: series.labels,
          statistics: statisticsOf(series, endpoint.durationSec),
          isActive: isActive(series),
        })),
      ),
    )
    .toSorted((a, b) => (a.family.name < b.family.name ? -1 : a.family.name > b.family.name ? 1 : 0));
}

/** Returns gauges, and the rates of counters, over time. @param result scrapes of a run */
export function toServerSeries({ endpoints }: ScrapeResult): TelemetryMetric[] {
  const metrics = new Map<string, { name: string; unit: string; series: TelemetryMetric["series"][number][] }>();
  const hasMany = hasManyServers({ endpoints });
  for (const { url, families } of endpoints) {
    for (const { name, kind, unit, series } of families) {
      if (kind === "histogram") continue;
      const isRate = kind === "counter";
      const shown = isRate ? { name: `${name}_rate`, unit: unit === "" ? "1/s" : `${unit}/s` } : { name, unit };
      const metric = metrics.get(shown.name) ?? { ...shown, series: [] };
      metrics.set(shown.name, metric);
      for (const one of series) {
        if (one.kind === "histogram") continue;
        const place = hasMany ? [new URL(url).host] : [];
        const label = [...place, ...(one.labels.size > 0 ? [formatLabels(one.labels)] : [])].join(" ");
        const { timesSec, values } = one.readings;
        metric.series.push({
          label,
          ...(isRate ? toRates(timesSec, values) : { timesSec: [...timesSec], values: [...values] }),
        });
      }
    }
  }
  return [...metrics.values()];
}

const NOISE = /^(?:DCGM_|python_|process_|go_|promhttp_)|_created(?:_rate)?$/;

/** Reports whether a metric describes the server's process instead of its requests, or describes GPUs, which have their own tables. */
export function isNoise(name: string): boolean {
  return NOISE.test(name);
}

/** Reports whether several endpoints returned metrics. */
export function hasManyServers({ endpoints }: ScrapeResult): boolean {
  return endpoints.filter(({ families }) => families.length > 0).length > 1;
}

/** Formats labels: `model="m", version="1"`. */
export function formatLabels(labels: ReadonlyMap<string, string>): string {
  return [...labels].map(([label, value]) => `${label}=${JSON.stringify(value)}`).join(", ");
}

function toRates(timesSec: Float64Array, values: Float64Array): { timesSec: number[]; values: number[] } {
  const rates: { timesSec: number[]; values: number[] } = { timesSec: [], values: [] };
  for (let i = 1; i < values.length; i++) {
    const before = values[i - 1] as number;
    const now = values[i] as number;
    const seconds = (timesSec[i] as number) - (timesSec[i - 1] as number);
    if (seconds <= 0) continue;
    rates.timesSec.push(timesSec[i] as number);
    rates.values.push((now >= before ? now - before : now) / seconds);
  }
  return rates;
}

function statisticsOf(series: ScrapedSeries, durationSec: number): ServerStatistics {
  const perSec = (value: number): number => (durationSec > 0 ? value / durationSec : Number.NaN);
  return measured(
    series.kind === "gauge"
      ? gaugeStatistics(series)
      : series.kind === "counter"
        ? [
            ["total", series.increase],
            ["rate", perSec(series.increase)],
          ]
        : [
            ["count", series.count],
            ["count_rate", perSec(series.count)],
            ["sum", series.sum],
            ["sum_rate", perSec(series.sum)],
            ["avg", series.sum / series.count],
            ...ESTIMATED.map((p): [string, number] => [`p${p}_estimate`, estimateQuantile(series.buckets, p / 100)]),
          ],
  );
}

/** Uses all readings; percentiles use only the kept ones. */
function gaugeStatistics({ readings }: Extract<ScrapedSeries, { kind: "gauge" }>): [string, number][] {
  const summary = summarize(readings.values);
  if (summary === undefined) return [];
  return [
    ["avg", readings.mean],
    ["min", readings.min],
    ["max", readings.max],
    ["std", summary.std],
    ...PERCENTILES.map((p): [string, number] => [`p${p}`, summary[`p${p}`]]),
  ];
}

function measured(statistics: readonly [string, number][]): ServerStatistics {
  return new Map(statistics.filter(([, value]) => Number.isFinite(value)));
}

function isActive(series: ScrapedSeries): boolean {
  if (series.kind === "gauge") return series.readings.min !== 0 || series.readings.max !== 0;
  return series.kind === "counter" ? series.increase > 0 : series.count > 0;
}
