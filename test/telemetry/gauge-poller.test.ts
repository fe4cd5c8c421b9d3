import assert from "node:assert/strict";
import { test } from "node:test";
import { type GaugeReading, seriesOf } from "../../src/measure/gauge-readings.ts";
import { GaugePoller, type GaugeWarning, missingFamilies, readGauges } from "../../src/telemetry/gauge-poller.ts";
import { FakeClock } from "../runtime/fake-clock.ts";
import { twoGpus } from "../servers/metrics-stub.ts";
import { LIMIT } from "../time-limit.ts";

/** When metrics are read, and what is told of it. */

/** An endpoint whose responses the test gives. */
class Endpoint {
  readonly warnings: GaugeWarning[] = [];
  /** How the readings under way are ended, oldest first. */
  readonly pending: { answer(text: string): void; fail(reason: Error): void }[] = [];
  readonly clock = new FakeClock();
  count = 0;

  readonly fetch = (): Promise<string> => {
    this.count++;
    const { promise, resolve, reject } = Promise.withResolvers<string>();
    this.pending.push({ answer: resolve, fail: reject });
    return promise;
  };

  readonly warn = (warning: GaugeWarning): void => {
    this.warnings.push(warning);
  };

  /** Moves the clock on until a reading is under way, and gives it. */
  async asked(): Promise<{ answer(text: string): void; fail(reason: Error): void }> {
    while (this.pending.length === 0) await this.clock.advanceMs(1);
    return this.pending.shift() as { answer(text: string): void; fail(reason: Error): void };
  }
}

function makePoller(endpoint: Endpoint, intervalMs: number): GaugePoller {
  const { fetch, warn, clock } = endpoint;
  return new GaugePoller({ url: "host:1/metrics", intervalMs, fetch, warn, clock });
}

/** Lets everything that waits for a promise go on. */
function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

const utilizationOf = (poller: GaugePoller): number[] =>
  seriesOf(poller.take(), "gpuUtilizationRatio").map(([, { mean }]) => mean);

test("it fetches at the start and then at the interval, one fetch at a time", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 20);
  poller.start();
  assert.equal(endpoint.count, 1);
  for (let scrape = 0; scrape < 4; scrape++) (await endpoint.asked()).answer(twoGpus(scrape));
  await settle();
  assert.equal(endpoint.count, 4);
  assert.equal(endpoint.clock.nowMs, 60);
  const tally = poller.take();
  assert.equal(tally.count, 4);
  assert.deepEqual(seriesOf(tally, "gpuMemoryUsedBytes")[0], [
    "GPU-aaa",
    {
      ...{ count: 4, changeCount: 3, mean: 1000000001.5, max: 1000000003 },
      ...{ first: 1000000000, last: 1000000003, firstNs: 0, lastNs: 60e6 },
    },
  ]);
  await endpoint.asked();
  assert.equal(endpoint.pending.length, 0);
  await endpoint.clock.advanceMs(1000);
  assert.equal(endpoint.count, 5, "no second reading while one is under way");
  poller.stop();
});

test("an interval of years does not become 0", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 1e12);
  poller.start();
  (await endpoint.asked()).answer(twoGpus(0));
  await endpoint.clock.advanceMs(1e9);
  assert.equal(endpoint.count, 1);
  poller.stop();
});

test("samples belong to the window in which they arrived", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 1);
  poller.start();
  (await endpoint.asked()).answer(twoGpus(0));
  const second = await endpoint.asked();
  assert.deepEqual(utilizationOf(poller), [0.25, 0.5]);
  assert.deepEqual(utilizationOf(poller), []);
  second.answer(twoGpus(1));
  await endpoint.asked();
  assert.deepEqual(utilizationOf(poller), [0.26, 0.5]);
  poller.stop();
});

test("a start discards earlier samples and pending fetches", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 10_000);
  poller.start();
  const stale = await endpoint.asked();
  poller.start();
  assert.equal(endpoint.count, 1, "the reading under way is waited for");
  stale.answer(twoGpus(2));
  (await endpoint.asked()).answer(twoGpus(1));
  await settle();
  assert.deepEqual(utilizationOf(poller), [0.26, 0.5]);
  poller.stop();
});

test("after a stop it neither fetches nor warns", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 1);
  poller.start();
  const last = await endpoint.asked();
  poller.stop();
  last.fail(new Error("closed"));
  await endpoint.clock.advanceMs(1000);
  assert.equal(endpoint.count, 1);
  assert.deepEqual(endpoint.warnings, []);
  assert.equal(poller.take().count, 0);
});

test("a failure is reported once, however long it took, and polling continues", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 1);
  poller.start();
  for (const reason of ["Connection refused", "HTTP status 503"]) {
    const reading = await endpoint.asked();
    endpoint.clock.spendMs(20);
    reading.fail(new Error(reason));
  }
  (await endpoint.asked()).answer(twoGpus(0));
  await endpoint.asked();
  assert.deepEqual(endpoint.warnings, [
    { kind: "metrics-unreachable", url: "host:1/metrics", reason: "Connection refused" },
  ]);
  assert.equal(poller.take().count, 1);
  poller.stop();
});

test("an endpoint that does not answer is reported at the end of a window without readings", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 100);
  poller.start();
  const stalled = await endpoint.asked();
  await endpoint.clock.advanceMs(90);
  assert.equal(poller.take().count, 0);
  assert.deepEqual(endpoint.warnings, [], "a window that is shorter than the interval may have none");
  await endpoint.clock.advanceMs(2910);
  for (let window = 0; window < 2; window++) assert.equal(poller.take().count, 0);
  assert.deepEqual(endpoint.warnings, [
    { kind: "metrics-unreachable", url: "host:1/metrics", reason: "no response within 3 s" },
  ]);
  stalled.answer(twoGpus(0));
  await settle();
  assert.equal(poller.take().count, 1);
  poller.stop();
});

test("missing families are reported once, at the first sample that lacks some", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 1);
  poller.start();
  for (const text of [twoGpus(0), 'nv_gpu_utilization{gpu_uuid="a"} 1', ""]) (await endpoint.asked()).answer(text);
  await endpoint.asked();
  assert.deepEqual(
    endpoint.warnings,
    ["nv_gpu_power_usage", "nv_gpu_memory_used_bytes", "nv_gpu_memory_total_bytes"].map((family) => ({
      kind: "metrics-missing",
      family,
    })),
  );
  assert.equal(poller.take().count, 3);
  poller.stop();
});

test("a fetch slower than the interval is reported once", LIMIT, async () => {
  const endpoint = new Endpoint();
  const poller = makePoller(endpoint, 5);
  poller.start();
  for (let scrape = 0; scrape < 2; scrape++) {
    const reading = await endpoint.asked();
    endpoint.clock.spendMs(20.5);
    reading.answer(twoGpus(scrape));
  }
  await endpoint.asked();
  poller.stop();
  const [warning, ...others] = endpoint.warnings;
  assert.deepEqual(others, []);
  assert.deepEqual(warning, { kind: "metrics-slow", tookMs: 20, intervalMs: 5 });
});

/** Triton's GPU metrics. */

function plain(reading: GaugeReading): Record<string, Record<string, number>> {
  return Object.fromEntries(Object.entries(reading).map(([metric, byUuid]) => [metric, Object.fromEntries(byUuid)]));
}

test("every family of every GPU is read", () => {
  assert.deepEqual(plain(readGauges(twoGpus(1))), {
    gpuUtilizationRatio: { "GPU-aaa": 0.26, "GPU-bbb": 0.5 },
    gpuPowerWatts: { "GPU-aaa": 51.5, "GPU-bbb": 60 },
    gpuPowerLimitWatts: { "GPU-aaa": 300, "GPU-bbb": 250 },
    gpuEnergyJoules: { "GPU-aaa": 1010, "GPU-bbb": 500 },
    gpuMemoryTotalBytes: { "GPU-aaa": 17179869184, "GPU-bbb": 17179869184 },
    gpuMemoryUsedBytes: { "GPU-aaa": 1000000001, "GPU-bbb": 2000000000 },
  });
  assert.deepEqual(missingFamilies(readGauges(twoGpus(1)), true), []);
});

test("samples without a GPU, without a number and of other families are left out", () => {
  const text = [
    "nv_gpu_utilization 0.5",
    'nv_gpu_power_usage{gpu_uuid="a"} NaN',
    'nv_gpu_memory_used_bytes{gpu_uuid="a",host="h"} 1e3',
    'nv_inference_count{model="m"} 7',
    'nv_gpu_utilization_total{gpu_uuid="a"} 1',
  ].join("\n");
  const reading = readGauges(text);
  assert.deepEqual(plain(reading), { gpuMemoryUsedBytes: { a: 1000 } });
  assert.deepEqual(missingFamilies(reading, true), [
    "nv_gpu_utilization",
    "nv_gpu_power_usage",
    "nv_gpu_memory_total_bytes",
  ]);
});

test("the use of KV caches is read from the pages of engines, which have no GPUs", () => {
  const text = [
    'vllm:kv_cache_usage_perc{engine="0",model_name="m"} 0.25',
    'vllm:kv_cache_usage_perc{engine="1",model_name="m"} 0.5',
    "sglang:token_usage 0.83",
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="used",model="t",version="1"} 3',
    'nv_trt_llm_kv_cache_block_metrics{kv_cache_block_type="fraction",model="t",version="1"} 0.1',
  ].join("\n");
  const reading = readGauges(text);
  assert.deepEqual(plain(reading), { kvCacheUsageRatio: { "0 m": 0.25, "1 m": 0.5, "": 0.83, "fraction t 1": 0.1 } });
  assert.deepEqual(missingFamilies(reading, false), []);
  assert.equal(missingFamilies(reading, true).length, 4);
});

test("missing are those that perf_analyzer reports, in its order", () => {
  assert.deepEqual(missingFamilies(readGauges(""), true), [
    "nv_gpu_utilization",
    "nv_gpu_power_usage",
    "nv_gpu_memory_used_bytes",
    "nv_gpu_memory_total_bytes",
  ]);
});
