import assert from "node:assert/strict";
import { test } from "node:test";
import { REPORTED_PERCENTILES } from "../../../src/measure/intervals/percentile-interval.ts";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";
import type { GoodputPlan } from "../../../src/plan/tokens.ts";
import { toMergedRun, toReportedRun } from "../../../src/report/genai-perf/reported-run.ts";
import { toReportJson } from "../../../src/report/json/report-json.ts";
import { findSpread, readMetric } from "../../../src/report/schema/read-metrics.ts";
import type { SingleJson } from "../../../src/report/schema/report-schema.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { checkSchema } from "../check-schema.ts";
import { makeLevel, makeResult, WARMED_COUNTS } from "../make-result.ts";

/** Rampart's report of profiles and of merged exports: the numbers of GenAI-Perf's files, computed here by hand. */

const MS = 1e6;
const USAGE = { promptTokens: 15, completionTokens: 11, reasoningTokens: 7 };

/** Requests after each other, of 80 ms: 10 tokens of input; thinking at 20 ms, text at 40 and 80 ms with 4 tokens. */
function makeRows(count: number): TokenColumns {
  const columns = new TokenColumns();
  for (let i = 0; i < count; i++) {
    const times = { contentNs: [40 * MS, 80 * MS], eventCount: 2, firstOutputNs: 40 * MS, firstReasoningNs: 20 * MS };
    const answered = { times: { ...times, outputTokens: 4, reasoningTokens: 6 }, inputTokens: 10, usage: USAGE };
    columns.add({ sendNs: 80 * i * MS, waitNs: 5 * MS, ...answered });
  }
  return columns;
}

/** Returns the report as a reader of its file gets it. */
function reportOf(run: RunResult): SingleJson {
  const json: unknown = JSON.parse(JSON.stringify(toReportJson(run.prepared.plan, run)));
  return checkSchema(json) as SingleJson;
}

function reportOfRows(columns: TokenColumns, run: RunResult, goodputs: readonly GoodputPlan[] = []): SingleJson {
  return reportOf(toReportedRun(run, columns, measureColumns(columns, goodputs)));
}

test("a profile has its requests from the first send to the last content, and counts what failed when it was read", () => {
  const columns = makeRows(4);
  columns.failedCount = 1;
  columns.failureExample = "overloaded";
  const window = {
    ...makeWindow({ latenciesNs: new Array(6).fill(90 * MS), failedCount: 3, health: { cpuRatio: 0.95 } }),
    isStreamed: true,
  };
  const run = makeResult(makePlan({}), [makeLevel({ window })], WARMED_COUNTS);
  const json = reportOfRows(columns, run, [{ latency: 80 * MS, timeToFirstToken: 39 * MS }]);
  assert.deepEqual(json.requests, { sent: 12, completed: 6, failed: 5, cancelled: 1 });
  assert.deepEqual(
    json.failures.map(({ kind, count, example }) => [kind, count, example]),
    [
      ["http", 1, "warming"],
      ["http", 3, "boom"],
      ["cancelled", 1, "given up"],
      ["model", 1, "overloaded"],
    ],
  );
  const [level, ...more] = json.levels;
  assert.ok(level !== undefined && more.length === 0);
  assert.deepEqual([level.completed, level.failed, level.cancelled, level.durationSec], [4, 4, 1, 0.32]);
  assert.deepEqual(level.tokens?.withContent, 4);
  assert.match(level.client?.saturation ?? "", /95 % of a core/);
  const { metrics } = level;
  const single = (key: string): number | undefined => readMetric(metrics, key)?.value;
  assert.deepEqual(
    ["throughput", "outputTokensPerSec", "totalTokensPerSec", "serverTokensPerSec"].map(single),
    [4, 16, 56, 104].map((count) => count / 0.32),
  );
  assert.deepEqual(["errorRate", "goodput", "goodRatio"].map(single), [0.5, 0, 0]);
  assert.equal(level.inFlight.mean, 1);
  const { confidence95, hdrHistogram, ...latency } = findSpread(metrics, "latency") ?? {};
  const same = ["mean", ...REPORTED_PERCENTILES.map((of) => `p${of}`), "min", "max"];
  assert.deepEqual(latency, { count: 4, deviation: 0, ...Object.fromEntries(same.map((name) => [name, 80_000])) });
  const few = { effectiveCount: 4, isReliable: false, neededCount: 662 };
  assert.deepEqual(confidence95?.p99, { low: null, high: null, ...few });
  assert.ok(hdrHistogram !== undefined);
  assert.equal(findSpread(metrics, "timeToFirstReasoningToken")?.mean, 20_000);
  assert.deepEqual([metrics["scheduledLatencyUs"], level.sendDelayUs], [undefined, undefined]);
});

test("a profile with due times has latencies from these, and the rate that was sent", () => {
  const window = makeWindow({ latenciesNs: [20 * MS], scheduledNs: [25 * MS] });
  const run = makeResult(makePlan({}), [makeLevel({ unit: "request-rate", level: 12.5, window })]);
  const [level] = reportOfRows(makeRows(4), run).levels;
  assert.equal(findSpread(level?.metrics, "scheduledLatency")?.mean, 85_000);
  assert.equal(level?.sendDelayUs?.max, 5000);
  assert.equal(level.load.delivered, 12.5);
  assert.equal(level.delayed, 4);
});

test("a profile whose responses had no content keeps the counts of its windows", () => {
  const run = makeResult(makePlan({}), [makeLevel()]);
  const columns = new TokenColumns();
  columns.emptyCount = 30;
  const [level] = reportOfRows(columns, run).levels;
  assert.equal(level?.completed, 30);
});

test("merged exports have their numbers, and nothing of a client", () => {
  const columns = makeRows(4);
  const load = { unit: "request-rate", level: 12.5, startEpochNs: 1_700_000_000_000_000_000n } as const;
  const json = reportOf(toMergedRun(makePlan({}), columns, measureColumns(columns), load));
  const [level] = json.levels;
  assert.deepEqual([json.startedAt, json.durationSec], ["2023-11-14T22:13:20.000Z", 0.32]);
  assert.deepEqual(json.requests, { sent: 4, completed: 4, failed: 0 });
  assert.deepEqual([level?.unit, level?.level, level?.completed, level?.client], ["request-rate", 12.5, 4, undefined]);
  assert.equal(level?.load.delivered, 12.5);
  assert.equal(level.metrics["scheduledLatencyUs"], undefined);
});
