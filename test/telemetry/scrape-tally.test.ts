import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { readGpus } from "../../src/report/genai-perf/telemetry/telemetry.ts";
import { estimateQuantile } from "../../src/telemetry/histogram-estimate.ts";
import { Readings } from "../../src/telemetry/readings.ts";
import type { ScrapedEndpoint, ScrapedSeries } from "../../src/telemetry/scrape-result.ts";
import { ScrapeTally } from "../../src/telemetry/scrape-tally.ts";

/** From texts of metrics to what was measured: recorded ones of llama.cpp and Triton, and made-up ones. */

function fixture(name: string): string {
  return readFileSync(new URL(`fixtures/${name}.txt`, import.meta.url), "utf8");
}

/** Reads the texts a second apart; the first is read before the measured time begins, half a second before the second one. */
function tally(...texts: readonly string[]): ScrapedEndpoint {
  const [before = "", ...during] = texts;
  const tallied = new ScrapeTally();
  tallied.add(before, 0, 1e6);
  tallied.begin(0.5e9, true);
  for (const [i, text] of during.entries()) tallied.add(text, (i + 1) * 1e9, 3e6);
  return tallied.result("http://h:1/metrics", 0, undefined);
}

function seriesOf({ families }: ScrapedEndpoint, name: string): readonly ScrapedSeries[] {
  return families.find((family) => family.name === name)?.series ?? [];
}

function gaugesOf(endpoint: ScrapedEndpoint, name: string): number[][] {
  return seriesOf(endpoint, name).map((one) => (one.kind === "histogram" ? [] : [...one.readings.values]));
}

function increasesOf(endpoint: ScrapedEndpoint, name: string): number[] {
  return seriesOf(endpoint, name).map((one) => (one.kind === "counter" ? one.increase : Number.NaN));
}

test("llama.cpp's own metrics: counters are counted from before the run, gauges are read in it", () => {
  const endpoint = tally(fixture("llama-cpp-before"), fixture("llama-cpp-after"));
  assert.deepEqual(increasesOf(endpoint, "llamacpp:prompt_tokens"), [15]);
  assert.deepEqual(increasesOf(endpoint, "llamacpp:tokens_predicted"), [20]);
  assert.deepEqual(gaugesOf(endpoint, "llamacpp:predicted_tokens_seconds"), [[8804.45]]);
  const { kind, unit, help } = endpoint.families.find(({ name }) => name === "llamacpp:prompt_tokens") ?? assert.fail();
  const about = "Number of prompt tokens processed, excluding cached tokens";
  assert.deepEqual([kind, unit, help], ["counter", "tokens", about]);
  assert.deepEqual([endpoint.scrapeCount, endpoint.durationSec, endpoint.fetchMeanMs], [1, 0.5, 3]);
});

test("Triton's own metrics keep their labels", () => {
  const idle = fixture("triton").replace(/(nv_inference_(?:request_success|count)\{.*\}) 1$/gm, "$1 0");
  const endpoint = tally(idle, fixture("triton"));
  const [success] = seriesOf(endpoint, "nv_inference_request_success");
  assert.deepEqual(Object.fromEntries(success?.labels ?? []), { model: "slow", version: "1" });
  assert.deepEqual(increasesOf(endpoint, "nv_inference_request_success"), [1]);
  assert.deepEqual(increasesOf(endpoint, "nv_inference_queue_duration_us"), [0]);
  assert.deepEqual(gaugesOf(endpoint, "nv_inference_pending_request_count"), [[0]]);
});

test("vLLM's metrics: a histogram covers the measured time", () => {
  const endpoint = tally(fixture("vllm-before"), fixture("vllm-after"));
  assert.deepEqual(gaugesOf(endpoint, "vllm:num_requests_running"), [[4]]);
  assert.deepEqual(increasesOf(endpoint, "vllm:generation_tokens"), [800]);
  // It was not there before the run: it counts from 0.
  assert.deepEqual(increasesOf(endpoint, "vllm:request_success"), [20]);
  const [queue] = seriesOf(endpoint, "vllm:request_queue_time_seconds");
  assert.ok(queue?.kind === "histogram");
  assert.deepEqual([queue.count, queue.sum], [20, 6]);
  assert.deepEqual(Object.fromEntries(queue.labels), { engine: "0", model_name: "tiny" });
  const counts = [
    [0.01, 0],
    [0.1, 10],
    [1, 8],
    [Number.POSITIVE_INFINITY, 2],
  ];
  assert.deepEqual(
    queue.buckets.map(({ upperBound, count }) => [upperBound, count]),
    counts,
  );
});

describe("counters", () => {
  test("after a server restart only the counts that it forgot are missing", () => {
    const texts = [10, 25, 5, 9].map((value) => `# TYPE x_total counter\nx_total ${value}\n`);
    assert.deepEqual(increasesOf(tally(...texts), "x"), [15 + 5 + 4]);
  });

  test("a restart is seen by the start of the process, also where each counter exceeds its earlier reading", () => {
    const text = (startSec: number, value: number): string =>
      `# TYPE x_total counter\nx_total ${value}\n# TYPE process_start_time_seconds gauge\n` +
      `process_start_time_seconds ${startSec}\n`;
    const texts = [text(1.76e9, 10), text(1.76e9, 25), text(1.76e9 + 3.5, 40), text(1.76e9 + 3.5, 50)];
    // 15, then all 40 of the new process, then 10.
    assert.deepEqual(increasesOf(tally(...texts), "x"), [65]);
    // A clock that is set by a second, and a balancer that passes to a process that is older.
    assert.deepEqual(increasesOf(tally(text(9, 10), text(10, 30), text(5, 50), text(10, 60)), "x"), [50]);
    const other = 'process_start_time_seconds{process="2"} 1\n';
    assert.deepEqual(increasesOf(tally(`${text(5, 10)}${other}`, `${text(50, 30)}${other}`), "x"), [20]);
  });

  test("the time before the run, in which nothing was sent, is not part of a rate", () => {
    const tallied = new ScrapeTally();
    const text = (value: number): string => `# TYPE x_total counter\nx_total ${value}\n`;
    tallied.add(text(7), 0, 0);
    tallied.begin(3e9, true);
    for (const [atSec, value] of [
      [3, 7],
      [4, 57],
      [5, 107],
    ] as const)
      tallied.add(text(value), atSec * 1e9, 0);
    const endpoint = tallied.result("http://h:1/metrics", 0, undefined);
    // 100 in 2 s, which a server that counts 50 a second says too.
    assert.deepEqual([increasesOf(endpoint, "x"), endpoint.durationSec], [[100], 2]);
  });

  test("requests of a warm-up do not count", () => {
    const tallied = new ScrapeTally();
    const text = (value: number): string => `# TYPE x_total counter\nx_total ${value}\n`;
    tallied.add(text(1), 0, 0);
    tallied.begin(5e9, false);
    tallied.add(text(100), 5e9, 0);
    tallied.add(text(130), 7e9, 0);
    const endpoint = tallied.result("http://h:1/metrics", 0, undefined);
    assert.deepEqual([increasesOf(endpoint, "x"), endpoint.durationSec], [[30], 2]);
  });
});

test("lines that move, appear and disappear are followed; invalid text is skipped", () => {
  const texts = [
    "# TYPE a gauge\na 1\nb 10\n",
    "# TYPE a gauge\na 2\nb 20\n",
    "# TYPE a gauge\nnew 7\na 3\n\nb NaN\n<html>\nb{ 1\nb 30 1700000000\n",
    "b 40\na 4",
  ];
  const endpoint = tally(...texts);
  assert.deepEqual(gaugesOf(endpoint, "a"), [[2, 3, 4]]);
  assert.deepEqual(gaugesOf(endpoint, "b"), [[20, 30, 40]]);
  assert.deepEqual(gaugesOf(endpoint, "new"), [[7]]);
  assert.deepEqual(endpoint.families.map(({ name }) => name).sort(), ["a", "b", "new"]);
});

test("a name that begins like another is another", () => {
  assert.deepEqual(gaugesOf(tally("a 1\n", "a 1\n", "ab 2\n"), "ab"), [[2]]);
});

test("series above the limit are counted, and the others stay complete", () => {
  const many = Array.from({ length: 5010 }, (_, i) => `x{i="${i}"} ${i}\n`).join("");
  const endpoint = tally(many, many, many);
  assert.deepEqual([seriesOf(endpoint, "x").length, endpoint.leftOutCount], [5000, 10]);
});

describe("DCGM exporters", () => {
  test("every metric of GenAI-Perf, by GPU", () => {
    const endpoint = tally(fixture("dcgm"), fixture("dcgm"));
    const gpus = readGpus({ endpoints: [endpoint] });
    assert.equal(gpus.size, 29);
    for (const [name, byGpu] of gpus) assert.deepEqual([...byGpu.keys()], ["0", "1"], name);
    assert.deepEqual(gpus.get("gpu_power_usage")?.get("1"), { label: "1", timesSec: [0.5], values: [301.25] });
    assert.deepEqual(gpus.get("energy_consumption")?.get("0")?.values, [1234567890123]);
  });

  test("GPUs of two machines stay separate, and parts of a GPU too", () => {
    const text = 'DCGM_FI_DEV_GPU_UTIL{gpu="0"} 1\nDCGM_FI_DEV_GPU_UTIL{gpu="0",GPU_I_ID="3"} 2\n';
    const one = tally(text, text);
    const other = { ...one, url: "http://other:9400/metrics" };
    const server = tally("up 1\n", "up 1\n");
    const labelsOf = (...endpoints: ScrapedEndpoint[]): unknown[] => [
      ...(readGpus({ endpoints }).get("gpu_utilization")?.keys() ?? []),
    ];
    assert.deepEqual(labelsOf(one, server), ["0", "0/3"]);
    assert.deepEqual(labelsOf(one, other), ["h:1/0", "h:1/0/3", "other:9400/0", "other:9400/0/3"]);
  });
});

test("a quantile of a histogram lies within its bucket, and never beyond the known range", () => {
  const buckets = [
    { upperBound: 1, count: 10 },
    { upperBound: 2, count: 0 },
    { upperBound: 5, count: 10 },
    { upperBound: Number.POSITIVE_INFINITY, count: 5 },
  ];
  const estimates = [0.2, 0.4, 0.6, 0.8, 0.99].map((ratio) => estimateQuantile(buckets, ratio));
  assert.deepEqual(estimates, [0.5, 1, 3.5, 5, 5]);
  assert.ok(Number.isNaN(estimateQuantile([], 0.5)));
  assert.ok(Number.isNaN(estimateQuantile([{ upperBound: Number.POSITIVE_INFINITY, count: 3 }], 0.5)));
});

test("readings of a long run are thinned out evenly; least, greatest and mean are of all", () => {
  const readings = new Readings();
  const count = 20_000;
  for (let i = 0; i < count; i++) readings.add(i, i === 4711 ? 1e6 : 1);
  const { values, timesSec, ...rest } = readings.view();
  assert.ok(values.length <= 4096 && values.length > 2048);
  const steps = new Set([...timesSec].slice(1).map((time, i) => time - (timesSec[i] as number)));
  assert.deepEqual([...steps], [8]);
  assert.deepEqual(rest, { count, mean: (1e6 + count - 1) / count, min: 1, max: 1e6 });
});
