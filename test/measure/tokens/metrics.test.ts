import assert from "node:assert/strict";
import { test } from "node:test";
import { detectCustomKind } from "../../../src/measure/tokens/custom-kind.ts";
import { GOODPUT_NAMES } from "../../../src/measure/tokens/goodput.ts";
import {
  entryOf,
  findLimited,
  LIMITED_NAMES,
  nameOfMetric,
  TOKEN_METRICS,
} from "../../../src/measure/tokens/metrics.ts";
import { tokenSamples } from "../../../src/measure/tokens/token-columns.ts";
import { JSON_METRICS, REQUEST_METRICS } from "../../../src/report/genai-perf/layout.ts";
import type { ResponseField } from "../../../src/service/openai/response-field.ts";
import { makeColumns, makeTimes } from "./make-columns.ts";

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

const field = (found: unknown): ResponseField => ({ find: () => found }) as unknown as ResponseField;

const CASES: readonly (readonly [name: string, answer: unknown, kind: string | undefined, found?: unknown])[] = [
  ["a vector", [0.1, 0.2], "embeddings"],
  ["vectors", [[0.1], [0.2]], "embeddings"],
  ["an embedding by name", { embedding: [0.1] }, "embeddings"],
  ["OpenAI's list of embeddings", { data: [{ embedding: [0.1] }] }, "embeddings"],
  ["a ranking", [{ score: 0.5 }], "rankings"],
  ["a ranking by name", { results: [{ relevance_score: 0.5 }] }, "rankings"],
  ["logits", { rankings: [{ logit: 0.5 }] }, "rankings"],
  ["text", { text: "hello" }, "custom"],
  ["an empty list", { data: [] }, "custom"],
  ["a field that holds a vector", { out: [1] }, "embeddings", [1]],
  ["a field that holds a ranking", { out: 1 }, "rankings", [{ score: 1 }]],
  ["a field that holds text", { embedding: [1] }, "custom", "text"],
  ["a field that is not there", { embedding: [1] }, undefined, null],
];
for (const [name, answer, kind, found] of CASES)
  test(`${name}: ${kind ?? "nothing shows it"}`, () => {
    assert.equal(detectCustomKind([JSON.stringify(answer)], found === undefined ? undefined : field(found)), kind);
  });

test("the end of a stream does not determine its kind", () => {
  assert.equal(detectCustomKind(["data: [DONE]\n\n"], undefined), undefined);
  assert.equal(detectCustomKind(['data: {"text":"a"}\n\n', "data: [DONE]\n\n"], undefined), "custom");
});

test("samples are the measured values, in the order of the metrics", () => {
  const samples = tokenSamples(makeColumns({ times: makeTimes([50, 60]) }, { times: makeTimes([80]) }), true);
  const names = [...samples.keys()];
  assert.ok(names.length > 5);
  assert.deepEqual(
    names,
    TOKEN_METRICS.filter((metric) => samples.has(metric)),
  );
  assert.deepEqual([...(samples.get("requestLatencyNs")?.measured() ?? [])], [60e6, 80e6]);
  assert.deepEqual(
    [...(samples.get("timeToSecondTokenNs")?.measured() ?? [])],
    [10e6],
    "what a request does not have is left out",
  );
});

test("a metric that no request has is not shown, nor are reasoning metrics without reasoning", () => {
  const without = tokenSamples(makeColumns({ times: makeTimes([50]) }), true);
  assert.deepEqual([without.has("serverOutputTokens"), without.has("reasoningTokens")], [false, false]);
  const reasoning = tokenSamples(makeColumns({ times: makeTimes([50], { reasoningTokens: 3 }) }), true);
  assert.deepEqual([...(reasoning.get("reasoningTokens")?.measured() ?? [])], [3]);
});

test("without streams there are no times of tokens", () => {
  const names = [...tokenSamples(makeColumns({ times: makeTimes([50, 60]) }), false).keys()];
  assert.ok(names.includes("requestLatencyNs"));
  assert.deepEqual(
    names.filter((name) => entryOf(name).isStreamed),
    [],
  );
});
