import assert from "node:assert/strict";
import { after, test } from "node:test";
import { timeUnitFor } from "../../../src/report/model/charts/chart-source.ts";
import { type LevelJson, runsOf } from "../../../src/report/schema/report-schema.ts";
import { p99 } from "../../../src/scenario/assertions.ts";
import { steps } from "../../../src/scenario/loads/levels.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../../src/scenario/targets/llm.ts";
import { spreadIn, valueIn } from "../json-metrics.ts";
import { chartsOf, type Drawn, type DrawnSeries, digits, pointsOf } from "./drawn-charts.ts";
import { TINY, type Written, writeReports } from "./make-report.ts";

/** The charts and tables of a page have the numbers of the JSON report. */

const LIMIT = { timeout: 120_000 };
const toRemove: Written[] = [];
after(() => {
  for (const one of toRemove) one.remove();
});

async function write(scenario: object): Promise<Written> {
  const written = await writeReports(scenario);
  toRemove.push(written);
  return written;
}

test("charts of levels have the numbers of the JSON report", LIMIT, async () => {
  const { json, read } = await write({
    name: "levels",
    target: embeddedLlm({ streaming: true, ttft: "5 ms", itl: "1 ms", tokenizer: TINY, errorRatio: 0.1 }),
    inputs: prompts({ isl: 12, osl: 5, count: 4 }),
    load: steps([1, 4], { requests: 80 }),
    assert: [p99("latency").below("10 s")],
  });
  const html = read("html");
  const charts = chartsOf(html);
  const { levels } = runsOf(json)[0] as { levels: readonly LevelJson[] };
  const percentile = (level: LevelJson, name: "p50" | "p90" | "p99"): number =>
    spreadIn(level, "latencyUs")?.[name] ?? 0;

  const throughput = charts.get("Throughput over load") as Drawn;
  assert.deepEqual(
    pointsOf(throughput.series[0] as DrawnSeries),
    levels.map((level) => [level.level, digits(valueIn(level, "throughputPerSec"))]),
  );
  assert.deepEqual(
    pointsOf(throughput.series.find(({ name }) => name === "failed") as DrawnSeries),
    levels.map(({ level, failed, durationSec }) => [level, digits(failed / durationSec)]),
  );
  const latency = charts.get("Latency over load") as Drawn;
  const scale = { "Latency (s)": 1e6, "Latency (ms)": 1e3, "Latency (us)": 1 }[latency.yAxis.name] as number;
  for (const [index, name] of (["p50", "p90", "p99"] as const).entries())
    assert.deepEqual(
      pointsOf(latency.series[index] as DrawnSeries),
      levels.map((level) => [level.level, digits(percentile(level, name) / scale)]),
    );
  const knee = charts.get("Latency against throughput") as Drawn;
  assert.deepEqual(
    pointsOf(knee.series[1] as DrawnSeries),
    levels
      .toSorted((one, other) => one.level - other.level)
      .map((level) => [digits(valueIn(level, "throughputPerSec")), digits(percentile(level, "p99") / scale)]),
  );

  const curves = charts.get("Latency by percentile") as Drawn;
  const unit = { "Latency (s)": 1e6, "Latency (ms)": 1e3, "Latency (us)": 1 }[curves.yAxis.name] as number;
  for (const [index, level] of levels.entries()) {
    const points = pointsOf(curves.series[index] as DrawnSeries);
    for (const [nines, name] of [
      [1, "p90"],
      [digits(Math.log10(2)), "p50"],
    ] as const)
      assert.equal(points.find(([x]) => x === nines)?.[1], digits(percentile(level, name) / unit), name);
    assert.equal(
      points.at(-1)?.[1],
      digits(Math.floor(spreadIn(level, "latencyUs")?.max ?? 0) / unit),
      "the last point is the maximum",
    );
    const ascending = points.map(([, y]) => y ?? 0);
    assert.deepEqual(
      ascending,
      ascending.toSorted((a, b) => a - b),
    );
  }

  const rates = charts.get("Output tokens per second") as Drawn;
  assert.deepEqual(
    pointsOf(rates.series[0] as DrawnSeries),
    levels.map((level) => [level.level, digits(valueIn(level, "outputTokensPerSec"))]),
  );
  const first = charts.get("Time to first token over load") as Drawn;
  const timeOf = (level: LevelJson): number => spreadIn(level, "timeToFirstTokenUs")?.p99 ?? 0;
  const per = timeUnitFor(Math.max(...levels.map(timeOf))).us;
  assert.deepEqual(
    pointsOf(first.series[2] as DrawnSeries),
    levels.map((level) => [level.level, digits(timeOf(level) / per)]),
  );
  assert.deepEqual([...charts.keys()].slice(0, 3), [
    "Time to first token over load",
    "Inter-token latency over load",
    "Output tokens per second",
  ]);
});

test("the time line and the heat map count all requests of the run once", LIMIT, async () => {
  const { json, read } = await write({
    name: "time",
    target: embedded({ latency: "2 ms", errorRatio: 0.2 }),
    load: steps([1, 4], { requests: 100 }),
    warmupRequests: 20,
  });
  const [run] = runsOf(json);
  const charts = chartsOf(read("html"));
  const heat = charts.get("Latency over time") as unknown as { series: { data: [string, string, number][] }[] };
  const cells = heat.series[0]?.data.reduce((sum, [, , count]) => sum + count, 0);
  assert.equal(cells, run?.requests.completed);
  const line = charts.get("Time line") as Drawn;
  for (const [name, count] of [
    ["completed", run?.requests.completed],
    ["failed", run?.requests.failed],
  ] as const) {
    const points = pointsOf(line.series.find((series) => series.name === name) as DrawnSeries);
    const sum = points.slice(0, -1).reduce((all, [x = 0, y = 0], i) => all + y * ((points[i + 1]?.[0] ?? 0) - x), 0);
    assert.ok(Math.abs(sum - (count ?? 0)) < 0.01 * (count ?? 0) + 0.5, `${name}: ${sum} of ${count}`);
  }
});

test("the page has the failures with examples, the plan without secrets, and the machine", LIMIT, async () => {
  const { read, json } = await write({
    name: "failing",
    target: embedded({ errorRatio: 1 }),
    load: steps([1], { requests: 10 }),
  });
  const html = read("html");
  assert.match(html, /planned failure/);
  assert.match(html, /The plan as JSON/);
  assert.ok(html.includes(json.machine.runtime));
});

test("a run without a success has no empty charts", LIMIT, async () => {
  const { read } = await write({
    name: "failing",
    target: embedded({ errorRatio: 1 }),
    load: steps([1, 2], { requests: 20 }),
  });
  const html = read("html");
  const charts = chartsOf(html);
  assert.deepEqual([...charts.keys()], ["Throughput over load", "Time line"]);
  assert.deepEqual(
    charts.get("Time line")?.series.map(({ name }) => name),
    ["completed", "failed", "in flight"],
  );
});

test("units of charts follow their values", () => {
  assert.deepEqual(
    [50, 999, 1000, 30_000, 5e6].map((us) => timeUnitFor(us).name),
    ["us", "us", "ms", "ms", "s"],
  );
});
