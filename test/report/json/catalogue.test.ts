import assert from "node:assert/strict";
import { test } from "node:test";
import { runCompareCommand } from "../../../src/cli/compare/command.ts";
import { ExtractedTally } from "../../../src/measure/extracted-tally.ts";
import { addReading, NO_READINGS } from "../../../src/measure/gauge-readings.ts";
import { findEntry, METRIC_KEYS } from "../../../src/measure/metrics/catalogue.ts";
import type { MeasuredPart } from "../../../src/measure/metrics/metric.ts";
import { nameMetric } from "../../../src/measure/metrics/metric-names.ts";
import { metricValue } from "../../../src/measure/metrics/read-metric.ts";
import { GAUGE_KEYS } from "../../../src/measure/metrics/server-gauges.ts";
import type { TokenMeasurement } from "../../../src/measure/tokens/token-measurement.ts";
import { TokenTally } from "../../../src/measure/tokens/token-tally.ts";
import type { MetricPlan } from "../../../src/plan/assertions.ts";
import { toReportJson } from "../../../src/report/json/report-json.ts";
import { buildRunModel } from "../../../src/report/model/build-model.ts";
import type { ModelTable, ReportModel } from "../../../src/report/model/report-model.ts";
import { readRuns } from "../../../src/report/read/runs/read-runs.ts";
import { readMetric } from "../../../src/report/schema/read-metrics.ts";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { completionsAt, makeDelta, makeWindow } from "../../measure/make-window.ts";
import { listMetrics } from "../../measure/metrics/list-metrics.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { checkSchema } from "../check-schema.ts";
import { makeLevel, makeResult } from "../make-result.ts";

/** Each entry of the catalogue is in the JSON report, and comparisons read it back. */

const COUNT = 200;
const ALONE = new Set(["goodput", "highestLoad", "goodRatio"]);
const folder = makeFolder();

/** Streamed answers with reasoning, whose length was asked for and counted by the server too. */
function makeTokens(): TokenMeasurement {
  const tally = new TokenTally();
  for (let index = 0; index < COUNT; index++) {
    const firstNs = 20e6 + ((37 * index) % COUNT) * 1e5;
    const gapNs = 1e6 + (index % 7) * 1e5;
    const contentNs = Array.from({ length: 11 }, (_, token) => firstNs + token * gapNs);
    const times = { contentNs, eventCount: 11, firstOutputNs: firstNs + 3 * gapNs, firstReasoningNs: firstNs };
    tally.add({
      sendNs: index * 5e6,
      times: { ...times, outputTokens: 8 + (index % 3), reasoningTokens: 3 },
      inputTokens: 7 + (index % 5),
      requestedTokens: 12,
      usage: { promptTokens: 8, completionTokens: 13, reasoningTokens: 3 },
    });
  }
  return tally.cut({ startNs: 0, endNs: 1e9 });
}

/** Times at equal distances in a second. */
const every = (count: number): number[] => Array.from({ length: count }, (_, at) => ((at + 0.5) * 1e9) / count);

/** A level with everything that can be measured. */
function makePart(): MeasuredPart {
  const extracted = new ExtractedTally([{ name: "score", unit: "points" }, { name: "label" }]);
  for (let index = 0; index < COUNT; index++)
    extracted.add([(7 * index) % 31, index % 4 === 0 ? "cat" : "dog"], index * 5e6);
  const reading = (value: number) => Object.fromEntries(GAUGE_KEYS.map((key) => [key, new Map([["a", value]])]));
  // As many readings as state an energy.
  const values = Array.from({ length: 11 }, (_, at) => 0.5 + at / 50);
  const gauges = values.reduce((tally, value, at) => addReading(tally, reading(value), at * 1e8), NO_READINGS);
  const times = (fromNs: number) => Array.from({ length: COUNT }, (_, index) => fromNs + ((37 * index) % COUNT) * 1e4);
  const window = makeWindow({
    latenciesNs: times(4e6),
    scheduledNs: times(5e6),
    firstResponseNs: times(2e6),
    responseCount: 3 * COUNT,
    sequenceCount: 20,
    failedCount: 10,
    completions: completionsAt(every(COUNT), 0, 1e9, every(10)),
    server: makeDelta(COUNT, { cacheHitCount: 50, cacheHitNs: 5e6, cacheMissCount: 150, cacheMissNs: 5e6 }),
  });
  return { window: { ...window, gauges, extracted: extracted.cut(0, 1e9), tokens: makeTokens() } };
}

/** A metric that the scenario derives. */
const DERIVED: MetricPlan = {
  key: "derived",
  name: "inFlight",
  value: "latency.mean * throughput",
  unit: "requests",
};

const plan = makePlan({
  derived: [{ name: "inFlight", value: "latency.mean * throughput", unit: "requests", better: "lower" }],
  measurement: { tokens: { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } },
  outputs: { style: "rampart" },
});

function writeReport(name: string): string {
  const document = toReportJson(plan, makeResult(plan, [makeLevel(makePart())]));
  checkSchema(document);
  return writeIn(folder, name, JSON.stringify({ ...document, startedAt: `200${name.length}-01-01T00:00:00.000Z` }));
}

/** All metrics that a level can have, with all their statistics. */
function allMetrics(): MetricPlan[] {
  const scores = (["mean", "min", "max", 50, 90, 99] as const).map(
    (statistic): MetricPlan => ({ key: "extracted", name: "score", statistic }),
  );
  const share: MetricPlan = { key: "extractedShare", name: "label", text: "cat" };
  return [...listMetrics(), ...scores, share, DERIVED];
}

test("each entry of the catalogue with a value is in the JSON, and comparisons read it back", () => {
  const part = makePart();
  const [run] = readRuns(writeReport("one.json"));
  const values = run?.levels[0]?.values ?? new Map();
  const metrics = allMetrics();
  const keys = new Set(metrics.map(({ key }) => key));
  for (const key of METRIC_KEYS)
    if (findEntry(key)?.isOfReports !== true) assert.ok(keys.has(key) || ALONE.has(key), key);
  for (const metric of metrics) {
    const name = nameMetric(metric);
    const expected = metricValue(metric, part, plan.target.batchSize);
    assert.ok(expected !== undefined, `${name} has no value here, so that this test does not show it`);
    const found = values.get(name)?.value;
    // Percentiles of latencies are whole microseconds.
    const slack = 1e-9 * Math.abs(expected) + (findEntry(metric.key)?.quantity === "time" ? 1000 : 0);
    assert.ok(Math.abs((found ?? Number.NaN) - expected) <= slack, `${name}: ${found} is not ${expected}`);
  }
});

test("rates and ratios have their intervals, in the JSON and in the columns of levels", () => {
  const document = toReportJson(plan, makeResult(plan, [makeLevel(makePart())]));
  const [level] = document.levels;
  const [row] = tableOf(buildRunModel(plan, document)).rows;
  const { columns } = tableOf(buildRunModel(plan, document));
  for (const key of ["throughput", "outputTokensPerSec", "totalTokensPerSec", "errorRate"]) {
    const { value, low, high } = readMetric(level?.metrics, key) ?? { value: 0, low: null, high: null };
    assert.ok(low !== null && high !== null && low <= value && value <= high && low < high, `${key} ${low} ${high}`);
    const column = columns.findIndex((one) => one.key === key);
    if (column >= 0) assert.deepEqual(row?.[column]?.interval, { low, high }, key);
  }
});

/** The table of the levels. */
function tableOf({ sections }: ReportModel): ModelTable {
  const table = sections.find(({ id }) => id === "levels")?.tables[0];
  assert.ok(table !== undefined);
  return table;
}

test("each of them can be a limit of a comparison", async () => {
  const files = ["a.json", "bb.json", "ccc.json", "dddd.json"].map(writeReport);
  const sides = ["--base", ...files.slice(0, 2), "--new", ...files.slice(2)];
  const limits = allMetrics().flatMap((metric) => ["--fail-if", `${nameMetric(metric)} < -5%`]);
  let text = "";
  const io = {
    out: (part: string) => {
      text += part;
    },
    err: (part: string) => {
      text += part;
    },
    onInterrupt: () => () => {},
    loadApi: async () => ({}),
  };
  assert.equal(await runCompareCommand([...sides, ...limits], "rampart compare", io), 0, text);
  assert.equal(await runCompareCommand([...sides, "--fail-if", "max(latency) > 1ms"], "rampart compare", io), 65, text);
});
