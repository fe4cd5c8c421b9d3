import * as v from "valibot";
import { findEntry } from "../../../measure/metrics/catalogue.ts";
import { jsonNameOf, type MeasuredPart } from "../../../measure/metrics/metric.ts";
import { parseMetric } from "../../../measure/metrics/metric-names.ts";
import { toMetricsJson } from "../../json/metrics.ts";
import { type MeasuredJson, serverSchema } from "../../schema/level.ts";

/** What older versions of Rampart's JSON had in fields of their own, as the `metrics` of today. */

/** Versions that are converted. In both, the fields that are picked here are the same. */
export const OLD_VERSIONS: readonly unknown[] = [1, 2];

const number = v.optional(v.nullable(v.number()));
const interval = v.object({ low: number, high: number, isReliable: v.optional(v.boolean()) });

const latencySchema = v.object({
  meanUs: v.number(),
  meanLowUs: number,
  meanHighUs: number,
  minUs: v.number(),
  maxUs: v.number(),
  percentiles: v.record(
    v.string(),
    v.object({ us: v.number(), lowUs: number, highUs: number, isReliable: v.boolean() }),
  ),
});
type Latency = v.InferOutput<typeof latencySchema>;

const spreadSchema = v.objectWithRest(
  { mean: v.number(), confidence95: v.optional(v.record(v.string(), interval)) },
  v.unknown(),
);
type Spread = v.InferOutput<typeof spreadSchema>;

const latency = v.optional(v.nullable(latencySchema));

/** What requests of a level measured. */
const partSchema = v.object({
  requests: v.number(),
  failed: v.number(),
  errorRatio: v.number(),
  inferPerSec: v.optional(v.number()),
  inferPerSecLow: number,
  inferPerSecHigh: number,
  latency,
  scheduledLatency: latency,
  firstResponse: latency,
  responsesPerSec: v.optional(v.number()),
  betweenResponsesMeanUs: v.optional(v.number()),
  sequencesPerSec: v.optional(v.number()),
  server: v.optional(serverSchema({ object: v.object })),
  tokens: v.optional(
    v.object({ outputTokensPerSec: v.optional(v.number()), metrics: v.record(v.string(), spreadSchema) }),
  ),
  extracted: v.optional(v.record(v.string(), v.object({ numbers: v.optional(spreadSchema) }))),
  values: v.optional(v.record(v.string(), v.object({ value: v.number(), low: number, high: number }))),
});
type Part = v.InferOutput<typeof partSchema>;

/** What was measured of requests, as the schema of today has it. */
export type ReadPart = Pick<MeasuredJson, "metrics" | "extracted" | "derived">;

/** What an older version measured of requests. It lacks fields that no reader of runs takes. */
export const upgradedPart: v.GenericSchema<unknown, ReadPart> = v.pipe(
  partSchema,
  v.transform((part) => ({ metrics: metricsOf(part), extracted: extractedOf(part) }) as unknown as ReadPart),
);

function metricsOf(part: Part): Record<string, unknown> {
  const { requests, failed, errorRatio, inferPerSec, inferPerSecLow, inferPerSecHigh, tokens, server } = part;
  const single = (name: string, value: number | undefined): object =>
    value === undefined ? {} : { [name]: { value } };
  const rate = tokens?.outputTokensPerSec;
  return {
    errorRateRatio: { value: errorRatio, count: failed, total: requests + failed },
    ...(inferPerSec === undefined
      ? {}
      : { throughputPerSec: { value: inferPerSec, low: inferPerSecLow, high: inferPerSecHigh } }),
    ...fromLatency("latencyUs", part.latency),
    ...fromLatency("scheduledLatencyUs", part.scheduledLatency),
    ...fromLatency("firstResponseUs", part.firstResponse),
    ...(part.betweenResponsesMeanUs === undefined ? {} : { betweenResponsesUs: { mean: part.betweenResponsesMeanUs } }),
    ...single("responsesPerSec", part.responsesPerSec),
    ...single("sequencesPerSec", part.sequencesPerSec),
    ...single("outputTokensPerSec", rate === 0 ? undefined : rate),
    ...Object.fromEntries(Object.entries(tokens?.metrics ?? {}).map(([name, found]) => [name, fromSpread(found)])),
    ...(server === undefined
      ? {}
      : toMetricsJson({ window: { server } } as MeasuredPart, 1, {
          isWanted: ({ needs }) => needs === "statistics",
        })),
    ...fromValues(part.values ?? {}),
  };
}

function extractedOf({ extracted = {} }: Part): Record<string, { readonly numbers?: unknown }> {
  const found = Object.entries(extracted).map(([name, { numbers }]) => [
    name,
    numbers === undefined ? {} : { numbers: fromSpread(numbers) },
  ]);
  return Object.fromEntries(found) as Record<string, { readonly numbers?: unknown }>;
}

function fromSpread({ mean, confidence95 = {}, ...rest }: Spread): object {
  return { ...rest, mean, confidence95: { ...confidence95, mean: confidence95["mean"] } };
}

function fromLatency(name: string, latency: Latency | null | undefined): object {
  if (latency === null || latency === undefined) return {};
  const { meanUs, meanLowUs, meanHighUs, minUs, maxUs, percentiles } = latency;
  const entries = Object.entries(percentiles);
  const values = entries.map(([percentile, { us }]) => [percentile, us] as const);
  const intervals = entries.map(
    ([percentile, { lowUs, highUs, isReliable }]) => [percentile, { low: lowUs, high: highUs, isReliable }] as const,
  );
  const mean = { low: meanLowUs, high: meanHighUs };
  return {
    [name]: {
      mean: meanUs,
      min: minUs,
      max: maxUs,
      ...Object.fromEntries(values),
      confidence95: { mean, ...Object.fromEntries(intervals) },
    },
  };
}

/** Version 2 named metrics without a field as comparisons did: `gpuPower.max`. */
function fromValues(values: NonNullable<Part["values"]>): Record<string, object> {
  const metrics: Record<string, object> = {};
  for (const [name, { value, low, high }] of Object.entries(values)) {
    const metric = parseMetric(name);
    const entry = metric && findEntry(metric.key);
    if (metric === undefined || entry === undefined) continue;
    const { statistic } = metric;
    const at = jsonNameOf(metric.key, entry);
    if (statistic === undefined) metrics[at] = { value, low, high };
    else metrics[at] = { ...metrics[at], [typeof statistic === "number" ? `p${statistic}` : statistic]: value };
  }
  return metrics;
}
