import assert from "node:assert/strict";
import { describe, test } from "node:test";
import protobuf from "protobufjs";
import { listMetrics } from "../../../src/report/live/metric-list.ts";
import { encodeOtlp } from "../../../src/report/live/otlp/otlp-exporter.ts";
import type { RunSnapshot } from "../../../src/report/live/run-snapshot.ts";
import { RunState } from "../../../src/report/live/run-state.ts";
import {
  acceptsProtobuf,
  encodePrometheus,
  formatPrometheusText,
} from "../../../src/report/live/watch/prometheus-formats.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { KserveServer } from "../../run/kserve-server.ts";
import { LIMIT } from "../../time-limit.ts";
import { startFakeRun } from "./fake-run.ts";
import { readMetrics } from "./read-metrics.ts";

/** The metrics of a run in each format. */

function takeSnapshot(): RunSnapshot {
  const run = startFakeRun(makePlan());
  run.state.onLevelStart("concurrency", 1, true);
  run.end(1);
  const phase = { index: 1, count: 2, label: 'a "quoted"\nname \\' };
  run.state.onLevelStart("request-rate", 2.5, false, phase);
  for (const latencyMs of [0.5, 4, 4, 4, 1000, 700_000]) run.end(latencyMs);
  run.end(undefined);
  run.state.finish();
  return run.state.snapshot() ?? assert.fail();
}

const PHASE = {
  level: "2.5",
  level_unit: "request-rate",
  stage: "measured",
  phase: 'a "quoted"\nname \\',
  phase_number: "2",
};

describe("Prometheus' text", () => {
  const samples = readMetrics(formatPrometheusText(listMetrics(takeSnapshot())));
  const find = (name: string, labels: Readonly<Record<string, string>>): number | undefined =>
    samples.find(
      (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    )?.value;

  test("counters are by outcome and level", () => {
    assert.equal(find("rampart_requests_total", { outcome: "completed", ...PHASE }), 6);
    assert.equal(find("rampart_requests_total", { outcome: "failed", ...PHASE }), 1);
    assert.equal(find("rampart_requests_total", { outcome: "completed", level: "1", stage: "warm-up" }), 1);
    assert.equal(find("rampart_requests_sent_total", PHASE), 7);
  });

  test("a histogram counts up to its bounds, and to all requests at +Inf", () => {
    const buckets = samples.filter(
      ({ name, labels }) => name === "rampart_latency_seconds_bucket" && labels["level"] === "2.5",
    );
    const upTo = (sec: number): number | undefined =>
      buckets.findLast(({ labels }) => Number(labels["le"]) <= sec)?.value;
    assert.deepEqual([0.0004, 0.0007, 0.006, 0.9, 1.1, 500].map(upTo), [0, 1, 4, 4, 5, 5]);
    assert.equal(find("rampart_latency_seconds_bucket", { ...PHASE, le: "+Inf" }), 6);
    assert.equal(find("rampart_latency_seconds_count", PHASE), 6);
    assert.ok(Math.abs((find("rampart_latency_seconds_sum", PHASE) ?? 0) - 701.0125) < 1e-6);
    for (const [i, { value }] of buckets.entries()) assert.ok(value >= (buckets[i - 1]?.value ?? 0), "cumulative");
  });

  test("a run that has not begun has no metrics, and no invalid text", () => {
    assert.deepEqual(readMetrics(formatPrometheusText([])), []);
  });
});

/** Prometheus' messages, as far as they are used. */
const PROTO = `syntax = "proto3";
message LabelPair { string name = 1; string value = 2; }
message Number { double value = 1; }
message Span { sint32 offset = 1; uint32 length = 2; }
message Histogram { uint64 sample_count = 1; double sample_sum = 2; sint32 schema = 5; double zero_threshold = 6;
  uint64 zero_count = 7; repeated Span positive_span = 12; repeated sint64 positive_delta = 13; }
message Metric { repeated LabelPair label = 1; Number gauge = 2; Number counter = 3; Histogram histogram = 7; }
message MetricFamily { string name = 1; string help = 2; int32 type = 3; repeated Metric metric = 4; }`;

interface Family {
  readonly name: string;
  readonly type: number;
  readonly metric: readonly {
    readonly counter?: { readonly value: number };
    readonly histogram?: {
      readonly sampleCount: number;
      readonly schema: number;
      readonly positiveSpan: readonly { readonly offset: number; readonly length: number }[];
      readonly positiveDelta: readonly number[];
    };
  }[];
}

test("in protobuf the histograms are native: each request is in the bucket that encloses its latency", () => {
  const type = protobuf.parse(PROTO).root.lookupType("MetricFamily");
  const reader = protobuf.Reader.create(encodePrometheus(listMetrics(takeSnapshot())));
  const families: Family[] = [];
  while (reader.pos < reader.len)
    families.push(type.toObject(type.decodeDelimited(reader), { longs: Number, defaults: true }) as Family);
  const requests = families.find(({ name }) => name === "rampart_requests_total");
  assert.deepEqual([requests?.type, requests?.metric[3]?.counter?.value], [0, 6]);
  const durations = families.find(({ name }) => name === "rampart_latency_seconds");
  assert.equal(durations?.type, 4);
  const { sampleCount, schema, positiveSpan, positiveDelta } = durations?.metric[1]?.histogram ?? assert.fail();
  const [span] = positiveSpan;
  assert.deepEqual([positiveSpan.length, span?.length, sampleCount], [1, positiveDelta.length, 6]);
  let count = 0;
  const counts = positiveDelta.map((delta) => {
    count += delta;
    return count;
  });
  assert.ok(counts.length <= 160);
  // Bucket i of a native histogram ends at 2^(i/2^schema) seconds.
  const bounds = counts.flatMap((number, i) => new Array(number).fill(2 ** (((span?.offset ?? 0) + i) / 2 ** schema)));
  const factor = 2 ** (1 / 2 ** schema);
  for (const [i, sec] of [0.0005, 0.004, 0.004, 0.004, 1, 700].entries()) {
    const bound = bounds[i] ?? 0;
    assert.ok(bound >= sec * (1 - 1e-9) && bound / factor <= sec * (1 + 1e-9), `${sec} s is below ${bound}`);
  }
});

const accepts: readonly (readonly [accept: string | undefined, isProtobuf: boolean])[] = [
  [
    "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.6,text/plain;version=0.0.4;q=0.3",
    true,
  ],
  ["application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3,*/*;q=0.2", false],
  ["*/*", false],
  [undefined, false],
];
for (const [accept, isProtobuf] of accepts)
  test(`Accept: ${accept} gets ${isProtobuf ? "protobuf" : "text"}`, () =>
    assert.equal(acceptsProtobuf(accept), isProtobuf));

test("OTLP has the same counts, as cumulative sums and exponential histograms", () => {
  const scope = { version: "1", attributes: { "service.name": "rampart" }, startEpochNs: 1n, atEpochNs: 2n ** 60n };
  const request = JSON.parse(encodeOtlp(listMetrics(takeSnapshot()), scope));
  const [{ resource, scopeMetrics }] = request.resourceMetrics;
  assert.deepEqual(resource.attributes, [{ key: "service.name", value: { stringValue: "rampart" } }]);
  const metrics = new Map(scopeMetrics[0].metrics.map((one: { name: string }) => [one.name, one]));
  const { sum } = metrics.get("rampart.requests") as { sum: { dataPoints: Record<string, unknown>[] } };
  assert.deepEqual(
    sum.dataPoints.map(({ asInt }) => asInt),
    ["1", "0", "0", "6", "1", "0"],
  );
  assert.deepEqual(
    [sum.dataPoints[0]?.["startTimeUnixNano"], sum.dataPoints[0]?.["timeUnixNano"]],
    ["1", String(2n ** 60n)],
  );
  const durations = metrics.get("rampart.latency") as {
    unit: string;
    exponentialHistogram: {
      dataPoints: { count: string; scale: number; positive: { offset: number; bucketCounts: string[] } }[];
    };
  };
  assert.equal(durations.unit, "s");
  const { count, scale, positive } = durations.exponentialHistogram.dataPoints[1] ?? assert.fail();
  const counts = positive.bucketCounts.map(Number);
  assert.deepEqual([count, counts.reduce((all, one) => all + one, 0)], ["6", 6]);
  // Bucket i of OTLP begins at 2^(i/2^scale) seconds.
  const lowest = 2 ** (positive.offset / 2 ** scale);
  assert.ok(lowest <= 0.0005 && lowest * 2 ** (1 / 2 ** scale) >= 0.0005);
});

test("when a run has ended, the counters are those of its result", LIMIT, async () => {
  await using server = await new KserveServer({
    onInfer: async ({ index }) => (index % 5 === 0 ? "refused on purpose" : undefined),
  }).start();
  const plan = makePlan({
    target: { url: server.url },
    load: { kind: "concurrency", levels: { kind: "list", values: [1, 3] }, search: "linear" },
    measurement: { mode: { kind: "requests", count: 40 } },
    failures: { maxRatio: 1 },
  });
  const state = new RunState(plan);
  const { levels } = await startPlan(plan, { openObserver: async () => state, check: async () => {} }).result;
  state.finish();
  const samples = readMetrics(formatPrometheusText(listMetrics(state.snapshot() ?? assert.fail())));
  const sumOf = (name: string, level: number, labels: Readonly<Record<string, string>> = {}): number =>
    samples
      .filter((one) => one.name === name && one.labels["level"] === String(level))
      .filter((one) => Object.entries(labels).every(([key, value]) => one.labels[key] === value))
      .reduce((sum, { value }) => sum + value, 0);
  assert.deepEqual(
    levels.map(({ window }) => window.requestCount + window.failedCount),
    [40, 40],
  );
  assert.equal(server.infers.length, 80);
  for (const { level, window } of levels) {
    const { requestCount, failedCount, sentCount, latency } = window;
    const own = ["completed", "failed"].map((outcome) => sumOf("rampart_requests_total", level, { outcome }));
    assert.deepEqual([...own, sumOf("rampart_requests_sent_total", level)], [requestCount, failedCount, sentCount]);
    assert.equal(sumOf("rampart_latency_seconds_count", level), requestCount);
    const seconds = sumOf("rampart_latency_seconds_sum", level);
    assert.ok(Math.abs(seconds / ((latency.mean * requestCount) / 1e9) - 1) < 1e-6, `${seconds}`);
  }
});
