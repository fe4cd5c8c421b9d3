import assert from "node:assert/strict";
import { test } from "node:test";
import { telemetryPlots } from "../../../src/report/genai-perf/plots.ts";
import type { SweepPoint } from "../../../src/report/genai-perf/sweep/sweep.ts";
import { sweepPlots } from "../../../src/report/genai-perf/sweep-plots.ts";
import type { PlotSet, XyPlot } from "../../../src/report/plot.ts";

/** What is drawn of sweeps and of a server's own metrics. */

function makePoint(
  parameters: SweepPoint["parameters"],
  tokensPerSec: number,
  p99Ms: number,
  isStreaming = true,
): SweepPoint {
  const times = { unit: "ms", values: new Map([["avg", p99Ms / 2] as const, ["p99", p99Ms] as const]) };
  const rate = (unit: string, avg: number) => ({ unit, values: new Map([["avg", avg] as const]) });
  const statistics = new Map([
    ["request_throughput", rate("requests/sec", tokensPerSec / 10)],
    ["output_token_throughput", rate("tokens/sec", tokensPerSec)],
    ["time_to_first_token", times],
    ["request_latency", times],
  ]);
  const about = { family: "text", endpointType: "chat", isStreaming, hasGoodput: false, sessions: new Map() } as const;
  return { name: "point", parameters, result: { ...about, statistics }, folder: "" };
}

function find({ plots }: PlotSet, title: string): XyPlot {
  const plot = plots.find((one) => one.title === title);
  assert.equal(plot?.kind, "xy", title);
  return plot as XyPlot;
}

test("a sweep of the load: the Pareto front, first tokens over throughput, metrics over the load", () => {
  const points = [
    makePoint([["concurrency", 4]], 300, 90),
    makePoint([["concurrency", 1]], 100, 20),
    makePoint([["concurrency", 2]], 90, 50),
  ];
  const set = sweepPlots(points);
  const [front, others] = find(set, "Output Token Throughput vs Request Latency").series;
  assert.deepEqual(
    [front?.style, front?.points, front?.labels],
    [
      "line",
      [
        [20, 100],
        [90, 300],
      ],
      ["1", "4"],
    ],
  );
  assert.deepEqual([others?.style, others?.points, others?.labels], ["points", [[50, 90]], ["2"]]);
  // In the order of the load, not of x: AIPerf joins them in that of x.
  const trade = find(set, "TTFT vs Throughput").series[0];
  assert.deepEqual(
    [trade?.points, trade?.labels],
    [
      [
        [10, 10],
        [25, 9],
        [45, 30],
      ],
      ["1", "2", "4"],
    ],
  );
  const latency = find(set, "Request Latency vs Concurrency");
  assert.deepEqual(
    latency.series.map(({ name, points: drawn }) => [name, drawn]),
    [
      [
        "avg",
        [
          [1, 10],
          [2, 25],
          [4, 45],
        ],
      ],
      [
        "p99",
        [
          [1, 20],
          [2, 50],
          [4, 90],
        ],
      ],
    ],
  );
  assert.deepEqual(
    set.leftOut.map(({ title }) => title),
    ["Inter Token Latency vs Concurrency"],
  );
});

test("a sweep of two things: one line for each value of the second", () => {
  const points = [1, 2].flatMap((concurrency) =>
    [128, 512].map((isl) =>
      makePoint(
        [
          ["concurrency", concurrency],
          ["input_sequence_length", isl],
        ],
        100,
        isl,
      ),
    ),
  );
  const { series, notes } = find(sweepPlots(points), "Request Latency vs Concurrency");
  assert.deepEqual(
    series.map(({ name, isDashed }) => [name, isDashed]),
    [
      ["input_sequence_length 128", false],
      ["input_sequence_length 128", true],
      ["input_sequence_length 512", false],
      ["input_sequence_length 512", true],
    ],
  );
  assert.deepEqual(notes, ["Dashed: p99."]);
});

test("without streaming there are no first tokens; without points there are no plots", () => {
  const set = sweepPlots([makePoint([["request_rate", 5]], 100, 20, false)]);
  const titles = set.leftOut.map(({ title }) => title);
  assert.ok(titles.includes("TTFT vs Throughput") && titles.includes("Time To First Token vs Request Rate"));
  assert.deepEqual(sweepPlots([]), { plots: [], leftOut: [] });
});

test("a server's metrics: a plot each, a line for each series; those without a value are left out", () => {
  const set = telemetryPlots([
    {
      name: "gpu_power_usage",
      unit: "W",
      series: [
        { label: "GPU 0", timesSec: [0, 1], values: [200, Number.NaN] },
        { label: "GPU 1", timesSec: [0, 1], values: [210.5, 220] },
      ],
    },
    { name: "queue", unit: "", series: [{ label: "", timesSec: [], values: [] }] },
  ]);
  const plot = find(set, "gpu_power_usage Over Time");
  assert.equal(plot.yLabel, "gpu_power_usage (W)");
  assert.deepEqual(
    plot.series.map(({ name, points }) => [name, points]),
    [
      ["GPU 0", [[0, 200]]],
      [
        "GPU 1",
        [
          [0, 210.5],
          [1, 220],
        ],
      ],
    ],
  );
  assert.deepEqual(set.leftOut, [{ title: "queue Over Time", reason: "no value of it was read" }]);
});
