import { compactBuckets, type ExponentialHistogram, SCALE } from "../../../measure/exponential-histogram.ts";
import { nsToSec } from "../../../plan/units.ts";
import { joinBytes } from "../../../runtime/bytes.ts";
import { ProtoWriter, WIRE } from "../../../service/protobuf/wire.ts";
import type { Labels, Metric } from "../metric-list.ts";

/**
 * Metrics in Prometheus' protobuf format, with native histograms. A server that scrapes native histograms requests this format.
 * Source: the messages of `io.prometheus.client` in prometheus/client_model.
 */

/** The media type of the messages. */
export const PROTOBUF_TYPE =
  "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited";

/** Reports whether a client accepts the format. @param accept header of its request */
export function acceptsProtobuf(accept: string | undefined): boolean {
  return /application\/vnd\.google\.protobuf\s*;[^,]*proto=io\.prometheus\.client\.MetricFamily/.test(accept ?? "");
}

/** Field numbers of the messages. */
const FAMILY = { name: 1, help: 2, type: 3, metric: 4 } as const;
const METRIC = { label: 1, gauge: 2, counter: 3, histogram: 7 } as const;
const LABEL = { name: 1, value: 2 } as const;
const NUMBER_VALUE = 1;
const HISTOGRAM = { count: 1, sum: 2, schema: 5, zeroThreshold: 6, zeroCount: 7, span: 12, delta: 13 } as const;
const SPAN = { offset: 1, length: 2 } as const;
const TYPES = { counter: 0, gauge: 1, histogram: 4 } as const;

/** The usual limit of Prometheus clients. */
const MOST_BUCKETS = 160;
const ZERO_THRESHOLD = 2 ** -128;

/** Encodes metrics, each preceded by its length. */
export function encodePrometheus(metrics: readonly Metric[]): Uint8Array {
  const families = metrics.map(encodeFamily);
  const lengths = families.map(({ length }) => write((writer) => writer.varint(length)));
  return joinBytes(families.flatMap((family, i) => [lengths[i] as Uint8Array, family]));
}

function encodeFamily(metric: Metric): Uint8Array {
  return write((writer) => {
    writer.string(FAMILY.name, prometheusName(metric));
    writer.string(FAMILY.help, metric.help);
    writer.tag(FAMILY.type, WIRE.varint);
    writer.varint(TYPES[metric.kind]);
    for (const point of metric.points)
      writer.bytes(
        FAMILY.metric,
        write((inner) => {
          writeLabels(inner, point.labels);
          if ("histogram" in point) inner.bytes(METRIC.histogram, encodeHistogram(point.histogram));
          else inner.bytes(metric.kind === "counter" ? METRIC.counter : METRIC.gauge, encodeNumber(point.value));
        }),
      );
  });
}

function writeLabels(writer: ProtoWriter, labels: Labels): void {
  for (const [name, value] of Object.entries(labels))
    writer.bytes(
      METRIC.label,
      write((inner) => {
        inner.string(LABEL.name, name);
        inner.string(LABEL.value, value);
      }),
    );
}

function encodeNumber(value: number): Uint8Array {
  return write((writer) => writeDouble(writer, NUMBER_VALUE, value));
}

/** Encodes a histogram. One span contains all buckets; each count is encoded as its difference from the previous one. */
function encodeHistogram(histogram: ExponentialHistogram): Uint8Array {
  const { scale, offset, counts } = compactBuckets(histogram, MOST_BUCKETS);
  return write((writer) => {
    writer.tag(HISTOGRAM.count, WIRE.varint);
    writer.varint(histogram.count);
    writeDouble(writer, HISTOGRAM.sum, nsToSec(histogram.sumNs));
    writer.tag(HISTOGRAM.schema, WIRE.varint);
    writer.varint(zigzag(scale));
    writeDouble(writer, HISTOGRAM.zeroThreshold, ZERO_THRESHOLD);
    writer.tag(HISTOGRAM.zeroCount, WIRE.varint);
    writer.varint(0);
    // Prometheus identifies a bucket by its upper bound, and OpenTelemetry by its lower bound.
    writer.bytes(HISTOGRAM.span, encodeSpan(counts.length === 0 ? 0 : offset + 1, counts.length));
    let before = 0;
    const deltas = write((packed) => {
      for (const count of counts) {
        packed.varint(zigzag(count - before));
        before = count;
      }
    });
    writer.bytes(HISTOGRAM.delta, deltas);
  });
}

function encodeSpan(offset: number, length: number): Uint8Array {
  return write((writer) => {
    writer.tag(SPAN.offset, WIRE.varint);
    writer.varint(zigzag(offset));
    writer.tag(SPAN.length, WIRE.varint);
    writer.varint(length);
  });
}

function writeDouble(writer: ProtoWriter, fieldNumber: number, value: number): void {
  writer.tag(fieldNumber, WIRE.fixed64);
  writer.double(value);
}

function zigzag(value: number): number {
  return value >= 0 ? value * 2 : -value * 2 - 1;
}

function write(fill: (writer: ProtoWriter) => void): Uint8Array {
  const writer = new ProtoWriter();
  fill(writer);
  return writer.finish();
}

/** Metrics in Prometheus' text format 0.0.4. */

/** The media type of the text. */
export const TEXT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Buckets between a duration and its double. Each bound is also a bound of the histogram's buckets, so counts are exact. */
const BOUNDS_PER_DOUBLE = 2;
const LOWEST_BOUND_EXPONENT = -14; // 61 us
const HIGHEST_BOUND_EXPONENT = 9; // 512 s
const BUCKETS_PER_BOUND = 2 ** SCALE / BOUNDS_PER_DOUBLE;

const BOUNDS: readonly { readonly le: string; readonly end: number }[] = Array.from(
  { length: (HIGHEST_BOUND_EXPONENT - LOWEST_BOUND_EXPONENT) * BOUNDS_PER_DOUBLE + 1 },
  (_, i) => {
    const index = LOWEST_BOUND_EXPONENT * BOUNDS_PER_DOUBLE + i;
    return { le: String(2 ** (index / BOUNDS_PER_DOUBLE)), end: index * BUCKETS_PER_BOUND };
  },
);

const UNITS: Readonly<Record<string, string>> = { s: "_seconds" };

/** Formats metrics. Names get their unit as a suffix, and counters `_total`. */
export function formatPrometheusText(metrics: readonly Metric[]): string {
  return `${metrics.flatMap(formatFamily).join("\n")}\n`;
}

function prometheusName({ name, unit, kind }: Metric): string {
  return `${name.replaceAll(".", "_")}${UNITS[unit] ?? ""}${kind === "counter" ? "_total" : ""}`;
}

function formatFamily(metric: Metric): string[] {
  const name = prometheusName(metric);
  const head = [`# HELP ${name} ${metric.help}`, `# TYPE ${name} ${metric.kind}`];
  if (metric.kind !== "histogram")
    return [...head, ...metric.points.map(({ labels, value }) => `${name}${formatLabels(labels)} ${value}`)];
  return [...head, ...metric.points.flatMap(({ labels, histogram }) => formatHistogram(name, labels, histogram))];
}

function formatHistogram(
  name: string,
  labels: Labels,
  { offset, counts, count, sumNs }: ExponentialHistogram,
): string[] {
  let passed = 0;
  let at = 0;
  const lines = BOUNDS.map(({ le, end }) => {
    for (; offset + at < end; at++) passed += counts[at] ?? 0;
    return `${name}_bucket${formatLabels({ ...labels, le })} ${passed}`;
  });
  return [
    ...lines,
    `${name}_bucket${formatLabels({ ...labels, le: "+Inf" })} ${count}`,
    `${name}_sum${formatLabels(labels)} ${nsToSec(sumNs)}`,
    `${name}_count${formatLabels(labels)} ${count}`,
  ];
}

function formatLabels(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escapeValue(value)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escapeValue(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n");
}
