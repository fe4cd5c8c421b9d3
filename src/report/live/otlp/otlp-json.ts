import { compactBuckets, type ExponentialHistogram } from "../../../measure/exponential-histogram.ts";
import { nsToSec } from "../../../plan/units.ts";
import type { Labels, Metric } from "../metric-list.ts";

/** Metrics as OTLP in JSON. Source: `ExportMetricsServiceRequest` of opentelemetry-proto; 64-bit integers are strings. */

/** As many as OpenTelemetry's SDKs send. */
const MOST_BUCKETS = 160;
const CUMULATIVE = 2;

/** What all metrics of a request share. */
export interface OtlpScope {
  readonly version: string;
  /** Attributes of the resource. */
  readonly attributes: Labels;
  readonly startEpochNs: bigint;
  readonly atEpochNs: bigint;
}

/** Encodes a request. */
export function encodeOtlp(metrics: readonly Metric[], scope: OtlpScope): string {
  return JSON.stringify({
    resourceMetrics: [
      {
        resource: { attributes: toAttributes(scope.attributes) },
        scopeMetrics: [
          {
            scope: { name: "rampart", version: scope.version },
            metrics: metrics.map((metric) => toMetric(metric, scope)),
          },
        ],
      },
    ],
  });
}

function toMetric(metric: Metric, { startEpochNs, atEpochNs }: OtlpScope): object {
  const { name, help, unit } = metric;
  const head = { name, description: help, unit };
  const timeUnixNano = String(atEpochNs);
  const times = { startTimeUnixNano: String(startEpochNs), timeUnixNano };
  if (metric.kind === "histogram") {
    const dataPoints = metric.points.map(({ labels, histogram }) => ({
      ...{ attributes: toAttributes(labels), ...times, ...toHistogram(histogram) },
    }));
    return { ...head, exponentialHistogram: { aggregationTemporality: CUMULATIVE, dataPoints } };
  }
  if (metric.kind === "counter") {
    const dataPoints = metric.points.map(({ labels, value }) => ({
      ...{ attributes: toAttributes(labels), ...times, asInt: String(value) },
    }));
    return { ...head, sum: { aggregationTemporality: CUMULATIVE, isMonotonic: true, dataPoints } };
  }
  const dataPoints = metric.points.map(({ labels, value }) => ({
    ...{ attributes: toAttributes(labels), timeUnixNano, asDouble: value },
  }));
  return { ...head, gauge: { dataPoints } };
}

function toHistogram(histogram: ExponentialHistogram): object {
  const { scale, offset, counts } = compactBuckets(histogram, MOST_BUCKETS);
  return {
    count: String(histogram.count),
    sum: nsToSec(histogram.sumNs),
    scale,
    zeroCount: "0",
    positive: { offset, bucketCounts: counts.map(String) },
  };
}

function toAttributes(labels: Labels): object[] {
  return Object.entries(labels).map(([key, value]) => ({ key, value: { stringValue: value } }));
}
