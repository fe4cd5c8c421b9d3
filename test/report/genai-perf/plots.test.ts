import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { TokenGaps } from "../../../src/measure/tokens/token-gaps.ts";
import { sum } from "../../../src/plan/units.ts";
import { measureExports } from "../../../src/report/genai-perf/measure-export.ts";
import { runPlots, sweepPlots, telemetryPlots } from "../../../src/report/genai-perf/plots.ts";
import type { SweepPoint } from "../../../src/report/genai-perf/sweep/sweep.ts";
import {
  type Plot,
  type PlotPoint,
  type PlotSet,
  plotFileName,
  roundForPlot,
  type XyPlot,
} from "../../../src/report/plot.ts";
import type { PlottedRun } from "../../../src/report/plots/plotted-run.ts";
import { openProfileExport } from "../../../src/report/read/profile-export.ts";
import { loadTinyTokenizer } from "../../inputs/tiny-tokenizer.ts";

/** What is drawn of runs. */

const GOLDEN = join(import.meta.dirname, "../genai-perf/goldens/chat-stream");

function readGolden(): { readonly run: PlottedRun; readonly report: Record<string, Record<string, number>> } {
  const gaps = new TokenGaps();
  const columns = measureExports([openProfileExport(join(GOLDEN, "profile_export.json"))], {
    countTokens: loadTinyTokenizer().count,
    onTimes: ({ contentNs }) => gaps.add(contentNs),
  });
  const report = JSON.parse(readFileSync(join(GOLDEN, "profile_export_genai_perf.json"), "utf8"));
  return { run: { name: "profile_export", columns, gaps: gaps.summarize(), isStreaming: true }, report };
}

/** Requests one after another, each with a token every 10 ms after a first one at 50 ms. */
function makeRun(name: string, requests: number, tokens: number, everyNs: number): PlottedRun {
  const columns = new TokenColumns();
  const gaps = new TokenGaps();
  for (let i = 0; i < requests; i++) {
    const contentNs = Array.from({ length: tokens }, (_, k) => 50e6 + k * 10e6);
    const counts = { eventCount: tokens, outputTokens: tokens, reasoningTokens: 0 };
    const times = { contentNs, firstOutputNs: 50e6, firstReasoningNs: Number.NaN, ...counts };
    columns.add({ sendNs: i * everyNs, times, inputTokens: 30 + (i % 3) });
    gaps.add(contentNs);
  }
  return { name, columns, gaps: gaps.summarize(), isStreaming: true };
}

function find<K extends Plot["kind"]>(set: PlotSet, title: string, kind: K): Plot & { readonly kind: K } {
  const plot = set.plots.find((one) => one.title === title);
  assert.equal(plot?.kind, kind, title);
  return plot as Plot & { readonly kind: K };
}

function pointsOf(set: PlotSet, title: string, series = 0): readonly PlotPoint[] {
  return find(set, title, "xy").series[series]?.points ?? [];
}

describe("GenAI-Perf's five plots", () => {
  const { run, report } = readGolden();
  const set = runPlots([run]);
  const count = report["request_count"]?.["avg"] as number;

  test("they come first, with the original's titles, which name their files", () => {
    assert.deepEqual(
      set.plots.slice(0, 5).map(({ title }) => plotFileName(title)),
      [
        "time_to_first_token",
        "request_latency",
        "distribution_of_input_sequence_lengths_to_output_sequence_lengths",
        "time_to_first_token_vs_input_sequence_lengths",
        "token-to-token_latency_vs_output_token_position",
      ],
    );
  });

  test("boxes have the quartiles that the original reports, and a point for each request", () => {
    for (const [title, metric] of [
      ["Time to First Token", "time_to_first_token"],
      ["Request Latency", "request_latency"],
    ] as const) {
      const box = find(set, title, "box").series[0];
      const expected = ["p25", "p50", "p75"].map((name) => roundForPlot(report[metric]?.[name] as number));
      assert.deepEqual([box?.quartiles, box?.points.length], [expected, count]);
      assert.equal(box?.points[0], roundForPlot(report[metric]?.["min"] as number));
    }
  });

  test("the heat map has every request in a cell, between the original's least and greatest lengths", () => {
    const { panels, columns, rows } = find(
      set,
      "Distribution of Input Sequence Lengths to Output Sequence Lengths",
      "heat-map",
    );
    const cells = panels[0]?.cells ?? [];
    assert.equal(sum(cells.map(([, , amount]) => amount)), count);
    assert.ok(cells.every(([x, y]) => columns[x] !== undefined && rows[y] !== undefined));
    const spanOf = (name: string | undefined): number[] => (name ?? "").split("–").map(Number);
    const usedRows = cells.map(([, y]) => y);
    const [low = Number.NaN] = spanOf(rows[Math.min(...usedRows)]);
    const high = spanOf(rows[Math.max(...usedRows)]).at(-1) ?? Number.NaN;
    const { min, max } = report["output_sequence_length"] as { min: number; max: number };
    assert.ok(low <= min && min <= low + (high - low) && high >= max, `${low} to ${high} for ${min} to ${max}`);
  });

  test("first tokens are plotted over input lengths, one point per request", () => {
    const points = pointsOf(set, "Time to First Token vs Input Sequence Lengths");
    assert.equal(points.length, count);
    const lengths = points.map(([x]) => x);
    assert.equal(Math.max(...lengths), report["input_sequence_length"]?.["max"]);
  });

  test("gaps are plotted over their positions, one point per token after the first instead of per request", () => {
    const points = pointsOf(set, "Token-to-Token Latency vs Output Token Position");
    assert.equal(points.length, run.gaps?.count);
    assert.ok(points.length > count);
    assert.deepEqual(points[0]?.[0], 1);
  });
});

test("over time: each request at its send, the load that there was, and the requests as bars", () => {
  const set = runPlots([makeRun("run", 20, 4, 40e6)]);
  assert.deepEqual(
    set.leftOut.map(({ title }) => title),
    ["Request Throughput Over Time"],
  );
  assert.deepEqual(pointsOf(set, "Time to First Token Over Time").slice(0, 2), [
    [0, 50, 1],
    [0.04, 50, 2],
  ]);
  assert.deepEqual(pointsOf(set, "Inter Token Latency Over Time")[0], [0, 10, 1]);
  // A response takes 80 ms and one is sent every 40 ms: the third is sent when the first one ends.
  assert.deepEqual(pointsOf(set, "Requests in Flight Over Time").slice(0, 5), [
    [0, 1],
    [0.04, 2],
    [0.08, 2],
    [0.12, 2],
    [0.16, 2],
  ]);
  assert.deepEqual(pointsOf(set, "Requests in Flight Over Time").at(-1), [0.84, 0]);
  const { spans } = find(set, "Request Timeline", "spans");
  assert.deepEqual(spans[1], { number: 2, sendSec: 0.04, firstTokenSec: 0.09, endSec: 0.12 });
});

test("a long run: throughput by slices, a median line, means of the load, and notes on what is omitted", () => {
  const set = runPlots([makeRun("run", 5_000, 4, 2e6)]);
  const rates = pointsOf(set, "Request Throughput Over Time");
  assert.ok(Math.abs((rates[5]?.[1] ?? 0) - 500) < 1, String(rates[5]));
  const medians = find(set, "Request Latency Over Time", "xy").series[1];
  assert.deepEqual([medians?.isPartOfLast, medians?.points.length, medians?.points[7]?.[1]], [true, 30, 80]);
  const load = pointsOf(set, "Requests in Flight Over Time");
  assert.deepEqual([load.length, load[500]?.[1], load.at(-1)?.[1]], [1_001, 40, 0]);
  const timeline = find(set, "Request Timeline", "spans");
  assert.deepEqual([timeline.spans.length, timeline.notes], [400, ["The first 400 of 5000 requests."]]);
  assert.match(find(set, "Time to First Token", "box").notes[0] ?? "", /all 5000 requests; of their points 500/);
});

test("several runs are overlaid under their names", () => {
  const set = runPlots([makeRun("small", 10, 3, 1e9), makeRun("large", 10, 6, 1e9)]);
  assert.deepEqual(
    find(set, "Time to First Token", "box").series.map(({ name }) => name),
    ["small", "large"],
  );
  assert.deepEqual(
    find(set, "Request Latency Over Time", "xy").series.map(({ name }) => name),
    ["small", "large"],
  );
  assert.deepEqual(
    find(set, "Distribution of Input Sequence Lengths to Output Sequence Lengths", "heat-map").panels.map(
      ({ name }) => name,
    ),
    ["small", "large"],
  );
  assert.ok(!set.plots.some(({ title }) => title === "Request Timeline"));
});

test("plots without data are omitted with the reason", () => {
  const columns = new TokenColumns();
  columns.addPlain(0, 5e6);
  const plain = runPlots([{ name: "run", columns, isStreaming: false }]);
  const reasons = new Map(plain.leftOut.map(({ title, reason }) => [title, reason]));
  assert.match(reasons.get("Time to First Token") ?? "", /not streamed/);
  assert.match(reasons.get("Token-to-Token Latency vs Output Token Position") ?? "", /not streamed/);
  assert.match(reasons.get("Distribution of Input Sequence Lengths to Output Sequence Lengths") ?? "", /no tokenizer/);
  assert.ok(plain.plots.some(({ title }) => title === "Request Latency"));
  const oneToken = runPlots([makeRun("run", 3, 1, 1e6)]);
  assert.match(
    oneToken.leftOut.find(({ title }) => title.startsWith("Token-to-Token"))?.reason ?? "",
    /more than one piece/,
  );
  const nothing = runPlots([{ name: "run", columns: new TokenColumns(), isStreaming: true }]);
  assert.deepEqual(nothing.plots, []);
  assert.equal(nothing.leftOut.length, 14);
});

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

function findXy({ plots }: PlotSet, title: string): XyPlot {
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
  const [front, others] = findXy(set, "Output Token Throughput vs Request Latency").series;
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
  const trade = findXy(set, "TTFT vs Throughput").series[0];
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
  const latency = findXy(set, "Request Latency vs Concurrency");
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
  const { series, notes } = findXy(sweepPlots(points), "Request Latency vs Concurrency");
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
  const plot = findXy(set, "gpu_power_usage Over Time");
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
