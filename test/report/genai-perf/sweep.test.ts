import assert from "node:assert/strict";
import { test } from "node:test";
import type { StatisticName } from "../../../src/measure/numpy-statistics.ts";
import { findBrokenLimits, formatLimit, parseLimit, type ResultLimit } from "../../../src/report/genai-perf/limits.ts";
import type { GenAiPerfResult, TelemetryStatistics } from "../../../src/report/genai-perf/result.ts";
import { chooseAxes, findPareto, type SweepPoint } from "../../../src/report/genai-perf/sweep/sweep.ts";
import { formatSweepCsv, formatSweepJson } from "../../../src/report/genai-perf/sweep/sweep-files.ts";
import { formatSweepTable } from "../../../src/report/genai-perf/sweep/sweep-table.ts";

/** Summaries of sweeps. */

type Values = Readonly<Record<string, Partial<Record<StatisticName, number>>>>;

function makeResult(values: Values, telemetry?: TelemetryStatistics): GenAiPerfResult {
  const statistics = Object.entries(values).map(
    ([name, one]) => [name, { unit: "ms", values: new Map(Object.entries(one) as [StatisticName, number][]) }] as const,
  );
  return {
    family: "text",
    endpointType: "chat",
    isStreaming: true,
    hasGoodput: false,
    statistics: new Map(statistics),
    sessions: new Map(),
    telemetry,
  };
}

function makePoint(name: string, load: number, values: Values, telemetry?: TelemetryStatistics): SweepPoint {
  return { name, parameters: [["concurrency", load]], result: makeResult(values, telemetry), folder: `f/${name}` };
}

/** The numbers of a recorded sweep of genai-perf 0.0.16, in the order in which it ran. */
const RECORDED: readonly (readonly [ttft: number, itl: number, latency: number, tokens: number, requests: number])[] = [
  [53.45, 10.09, 144.23, 70.6, 7.06],
  [50.74, 10.04, 140.92, 71.12, 7.112],
  [51.42, 10.07, 141.68, 70.9, 7.09],
  [51.07, 10.03, 140.98, 71.06, 7.106],
];
const HEAD =
  "Config Name,Concurrency,ISL,Num Dataset Entries,p99 Time To First Token (ms),p99 Inter Token Latency (ms),p99 Request Latency (ms)," +
  "p99 Output Sequence Length (tokens),Avg. Output Token Throughput (tokens/sec),Request Throughput (requests/sec)";
const GPU_HEAD =
  "Config Name,GPU,p99 GPU Power Usage (W),p99 GPU Energy Consumption (MJ),p99 GPU Utilization (%),p99 GPU Memory Used (GB)," +
  "Avg. GPU Power Limit (W),Avg. GPU Total Memory (GB)";

test("the CSV has the original's bytes: best first, no commas in numbers, an empty GPU block", () => {
  const rows = RECORDED.map(([ttft, itl, latency, tokens, requests], index) => ({
    ...makePoint(`tiny_run_config_${index}`, 1, {
      input_sequence_length: { p99: 550.9 },
      time_to_first_token: { p99: ttft },
      inter_token_latency: { p99: itl },
      request_latency: { p99: latency },
      output_sequence_length: { p99: 10 },
      output_token_throughput: { avg: tokens },
      request_throughput: { avg: requests },
    }),
    load: 1,
    datasetEntries: 10,
  }));
  assert.equal(
    formatSweepCsv(rows, "Concurrency"),
    [
      HEAD,
      "tiny_run_config_1,1,550,10,50.74,10.04,140.92,10.00,71.12,7.11",
      "tiny_run_config_3,1,550,10,51.07,10.03,140.98,10.00,71.06,7.11",
      "tiny_run_config_2,1,550,10,51.42,10.07,141.68,10.00,70.90,7.09",
      "tiny_run_config_0,1,550,10,53.45,10.09,144.23,10.00,70.60,7.06",
      "",
      GPU_HEAD,
      "",
    ].join("\r\n"),
  );
});

function makeTelemetry(gpus: number, watts: number): TelemetryStatistics {
  const values = new Map([["p99", watts] as const]);
  const names = Array.from({ length: gpus }, (_, gpu) => [`gpu${gpu}`, values] as const);
  return new Map([["gpu_power_usage", { unit: "W", gpus: new Map(names) }]]);
}

test("GPUs have a row each, with 0.00 for missing values", () => {
  const point = makePoint("a,b", 2.5, { request_throughput: { avg: 1234.5 } }, makeTelemetry(2, 1300));
  const text = formatSweepCsv([{ ...point, load: 2.5, datasetEntries: 3 }], "Request Rate");
  assert.deepEqual(text.split("\r\n").slice(1), [
    '"a,b",2.5,0,3,0.00,0.00,0.00,0.00,0.00,1234.50',
    "",
    GPU_HEAD,
    '"a,b",gpu0,1300.00,0.00,0.00,0.00,0.00,0.00',
    '"a,b",gpu1,1300.00,0.00,0.00,0.00,0.00,0.00',
    "",
  ]);
});

/** Points by throughput and latency. */
function pointsOf(...pairs: readonly (readonly [throughput: number, latency: number])[]): SweepPoint[] {
  return pairs.map(([throughput, latency], index) =>
    makePoint(`p${index}`, index + 1, {
      output_token_throughput: { avg: throughput },
      request_latency: { p99: latency },
    }),
  );
}

test("a point is Pareto-optimal unless another is no worse in both and better in one", () => {
  const isOptimal = (points: SweepPoint[]): boolean[] => findPareto(points).map((place) => place.isOptimal);
  assert.deepEqual(isOptimal(pointsOf([100, 10], [200, 20], [150, 25], [300, 20])), [true, false, false, true]);
  assert.deepEqual(isOptimal(pointsOf([100, 10], [100, 10])), [true, true]);
  assert.deepEqual(isOptimal(pointsOf([100, 10], [100, 9])), [false, true]);
  const none = makePoint("x", 1, { output_token_throughput: { avg: 9 } });
  assert.deepEqual(isOptimal([none, ...pointsOf([1, 1])]), [false, true]);
});

test("throughput is per GPU when all points report their GPUs, and counts requests without tokens", () => {
  const values = { output_token_throughput: { avg: 100 }, request_latency: { p99: 5 } };
  const points = [makePoint("a", 1, values, makeTelemetry(4, 9)), makePoint("b", 2, values, makeTelemetry(2, 9))];
  assert.deepEqual(
    findPareto(points).map(({ throughput, isOptimal }) => [throughput, isOptimal]),
    [
      [25, false],
      [50, true],
    ],
  );
  assert.equal(chooseAxes([...points, makePoint("c", 3, values)]).gpuCounts, undefined);
  const plain = [makePoint("a", 1, { request_throughput: { avg: 7 }, request_latency: { p99: 5 } })];
  assert.deepEqual(findPareto(plain), [{ throughput: 7, latencyMs: 5, isOptimal: true }]);
});

test("limits: means and percentiles, latencies at most and rates at least", () => {
  const result = makeResult({
    request_latency: { avg: 100, p99: 250 },
    output_token_throughput_per_user: { avg: 40, p1: 20 },
  });
  const limitOf = (name: string, value: number): ResultLimit => parseLimit(name, value) as ResultLimit;
  const broken = (name: string, value: number): string[] => findBrokenLimits(result, [limitOf(name, value)]);
  assert.deepEqual(broken("request_latency", 100), []);
  assert.deepEqual(broken("request_latency.p99", 249.9), ["request_latency.p99 <= 249.90 ms: 250.00"]);
  assert.deepEqual(broken("output_token_throughput_per_user.p1", 20), []);
  assert.deepEqual(broken("output_token_throughput_per_user", 41).length, 1);
  assert.deepEqual(broken("time_to_first_token", 9), ["time_to_first_token.avg <= 9.00 ms: not measured"]);
  const rate = limitOf("output_token_throughput_per_user.p1", 20);
  assert.equal(formatLimit(rate), "output_token_throughput_per_user.p1 >= 20.00 per second");
  for (const [name, message] of [
    ["latency", /latency cannot be limited; use one of request_latency/],
    ["request_latency.p98", /p98 is not a statistic; use one of avg/],
    ["request_latency.p99.x", /p99\.x is not a statistic/],
    ["toString", /cannot be limited/],
  ] as const)
    assert.match(parseLimit(name, 1) as string, message);
});

test("the JSON has every point, the failed ones and the search; the table shows them side by side", () => {
  const points = pointsOf([100, 10], [90, 20]);
  const search = {
    limits: ["request_latency.avg <= 15.00 ms"],
    answers: [
      {
        parameter: "concurrency",
        fixed: [["num_dataset_entries", 3] as const],
        highest: 1,
        lowestBroken: 2,
        isClientLimited: true,
        highestVotes: { kept: 2, broken: 0 },
        lowestBrokenVotes: { kept: 1, broken: 2 },
      },
    ],
  };
  const brokenLimits = new Map([["p1", ["request_latency.avg <= 15.00 ms: 20.00"]]]);
  const failed = [{ parameters: [["concurrency", 4] as const], reason: "gone" }];
  const document = JSON.parse(formatSweepJson({ points, failed, search, brokenLimits }));
  assert.deepEqual(document.pareto, {
    throughput: "output_token_throughput",
    is_per_gpu: false,
    latency: "request_latency.p99",
  });
  assert.deepEqual(document.points[1], {
    name: "p1",
    parameters: { concurrency: 2 },
    folder: "f/p1",
    is_pareto_optimal: false,
    throughput: 90,
    latency_ms: 20,
    broken_limits: ["request_latency.avg <= 15.00 ms: 20.00"],
    metrics: { output_token_throughput: { unit: "ms", avg: 90 }, request_latency: { unit: "ms", p99: 20 } },
  });
  assert.deepEqual(document.failed, [{ parameters: { concurrency: 4 }, reason: "gone" }]);
  assert.deepEqual(document.search.answers, [
    {
      parameter: "concurrency",
      fixed: { num_dataset_entries: 3 },
      highest: 1,
      lowest_broken: 2,
      is_client_limited: true,
      highest_votes: { kept: 2, broken: 0 },
      lowest_broken_votes: { kept: 1, broken: 2 },
    },
  ]);
  const table = formatSweepTable(points, brokenLimits);
  assert.match(table, /┃ concurrency ┃ tokens\/s ┃ latency p99 \(ms\) ┃ Pareto ┃ limits ┃/);
  assert.match(table, /│ +1 │ +100\.00 │ +10\.00 │ +yes │ +kept │\n│ +2 │ +90\.00 │ +20\.00 │ +no │ broken │/);
  assert.doesNotMatch(formatSweepTable(points, undefined), /limits/);
});
