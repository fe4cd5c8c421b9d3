import assert from "node:assert/strict";
import { test } from "node:test";
import { GOODPUT_NAMES } from "../../../src/measure/tokens/goodput.ts";
import {
  entryOf,
  findLimited,
  LIMITED_NAMES,
  nameOfMetric,
  TOKEN_METRICS,
} from "../../../src/measure/tokens/metrics.ts";
import { JSON_METRICS, REQUEST_METRICS } from "../../../src/report/genai-perf/layout.ts";

test("every metric has one name everywhere", () => {
  const unique = (names: readonly (string | undefined)[]): void => {
    const given = names.filter((name) => name !== undefined);
    assert.equal(new Set(given).size, given.length, String(given));
  };
  const entries = TOKEN_METRICS.map(entryOf);
  unique(entries.map(({ label }) => label));
  unique(entries.map(({ more }) => more?.label));
  unique(entries.flatMap(({ genaiPerf, record }) => [genaiPerf?.name, record?.name]));
  unique(entries.map(({ genaiPerf }) => genaiPerf && String(genaiPerf.row)));
});

test("metrics with limits have a bound, and a name in GenAI-Perf's reports", () => {
  for (const metric of TOKEN_METRICS) {
    const { limit, genaiPerf } = entryOf(metric);
    if (limit !== undefined) assert.ok(genaiPerf !== undefined && GOODPUT_NAMES.includes(genaiPerf.name), metric);
  }
  assert.deepEqual(
    LIMITED_NAMES.map(findLimited).map((metric) => metric && nameOfMetric(metric)),
    ["requestLatency", ...LIMITED_NAMES.slice(1)],
  );
  assert.ok(!LIMITED_NAMES.includes("imagesPerSec"));
});

test("GenAI-Perf's reports keep its metrics and its order", () => {
  const names = (metrics: readonly { name: string }[]): string => metrics.map(({ name }) => name).join(" ");
  assert.equal(
    names(REQUEST_METRICS.text),
    "time_to_first_token time_to_second_token request_latency inter_token_latency output_token_throughput_per_user output_sequence_length input_sequence_length",
  );
  assert.equal(names(REQUEST_METRICS.images), "request_latency image_throughput image_latency");
  assert.equal(names(REQUEST_METRICS.plain), "request_latency");
  assert.equal(
    names(JSON_METRICS.text),
    "request_throughput request_latency request_goodput request_count time_to_first_token time_to_second_token inter_token_latency output_token_throughput output_token_throughput_per_user output_sequence_length input_sequence_length",
  );
  assert.equal(
    names(JSON_METRICS.images),
    "request_throughput request_latency request_goodput request_count image_throughput image_latency",
  );
});
