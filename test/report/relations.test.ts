import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import type { Measurement } from "../../src/measure/measurement.ts";
import { mergeInTime } from "../../src/measure/merge.ts";
import { PERCENTILES } from "../../src/measure/numpy-statistics.ts";
import { RECORD_CANCELLED, RECORD_DELAYED, RECORD_FAILED, RecordColumns } from "../../src/measure/records.ts";
import {
  type OpenRequests,
  sumOpenRequests,
  toMeasurement,
  WindowTally,
} from "../../src/measure/tally/window-tally.ts";
import { Timeline, toBuckets } from "../../src/measure/timeline.ts";
import { TokenColumns } from "../../src/measure/tokens/token-columns.ts";
import { measureColumns } from "../../src/measure/tokens/token-tally.ts";
import { checkPlan } from "../../src/registry/check-plan.ts";
import { toGenAiPerfResult } from "../../src/report/genai-perf/result.ts";
import { createPerfAnalyzerCsv } from "../../src/report/perf-analyzer/csv.ts";
import type { LevelResult } from "../../src/result/run-result.ts";
import { startPlan } from "../../src/run/run-plan.ts";
import { goodput } from "../../src/scenario/assertions.ts";
import { defineScenario, type ScenarioDefinition } from "../../src/scenario/define.ts";
import { hold, steps } from "../../src/scenario/loads/concurrency.ts";
import { rateRamp, rateSteps } from "../../src/scenario/loads/rates.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { embeddedLlm } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { makeFolder } from "../make-folder.ts";
import { fill } from "../measure/make-records.ts";
import { measureGood } from "../measure/tokens/make-columns.ts";
import { makePlan } from "../plan/make-plan.ts";
import { LIMIT } from "../time-limit.ts";
import { TINY } from "../tokenize/tiny.ts";
import { checkRelations, type ReportedRun, singleOf } from "./check-relations.ts";
import { makeLevel, makeResult, makeSink } from "./make-result.ts";

/** All numbers of one report agree with each other: in runs made at random, and in runs of the embedded server. */

const MS = 1e6;

/** A request made at random, in microseconds after the first window's start. */
interface Request {
  readonly sentUs: number;
  readonly tookUs: number;
  readonly lateUs: number;
  readonly end: "answered" | "empty" | "failed" | "cancelled";
  readonly tokens: number;
}

const requests = fc.array(
  fc.record({
    sentUs: fc.integer({ min: -400_000, max: 1_500_000 }),
    tookUs: fc.integer({ min: 1, max: 600_000 }),
    lateUs: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 100_000 })),
    end: fc.constantFrom("answered", "answered", "answered", "empty", "failed", "cancelled"),
    tokens: fc.integer({ min: 1, max: 50 }),
  }) satisfies fc.Arbitrary<Request>,
  { minLength: 1, maxLength: 60 },
);
/** Lengths of windows that follow each other. */
const windowsMs = fc.array(fc.integer({ min: 20, max: 700 }), { minLength: 1, maxLength: 4 });

const endNsOf = ({ sentUs, tookUs }: Request): number => (sentUs + tookUs) * 1000;

function openAt(all: readonly Request[], atNs: number): number[] {
  return all.filter((one) => one.sentUs * 1000 <= atNs && endNsOf(one) > atNs).map(({ sentUs }) => sentUs * 1000);
}

function measureWindow(all: readonly Request[], startNs: number, endNs: number, timeline: Timeline): Measurement {
  const tally = new WindowTally({ isScheduled: true, countsReading: true, isDecoupled: false });
  const records = new RecordColumns((columns, count) => {
    tally.add(columns, count);
    timeline.add(columns, count);
  });
  for (const one of all) {
    if (endNsOf(one) <= startNs || endNsOf(one) > endNs) continue;
    const isGivenUp = one.end === "cancelled";
    const failed = one.end === "failed" || isGivenUp ? RECORD_FAILED : 0;
    const flags = failed | (isGivenUp ? RECORD_CANCELLED : 0) | (one.lateUs > 1000 ? RECORD_DELAYED : 0);
    const sendStartNs = one.sentUs * 1000;
    fill(records, { sendStartNs, endNs: endNsOf(one), intendedSendNs: sendStartNs - one.lateUs * 1000, flags });
  }
  records.drain();
  const open = (atNs: number): OpenRequests => sumOpenRequests(openAt(all, atNs), atNs);
  const sentCount = all.filter(({ sentUs }) => sentUs * 1000 > startNs && sentUs * 1000 <= endNs).length;
  const health = { cpuRatio: 0.1, loopLagMaxNs: 0, loopLagMeanNs: 0 };
  const edges = { openBefore: open(startNs), openAfter: open(endNs) };
  return toMeasurement(tally, {
    startNs,
    endNs,
    ...edges,
    sentCount,
    laneCount: 1,
    canLanesWait: true,
    health,
    server: undefined,
  });
}

function measureTokens(all: readonly Request[], startNs: number, endNs: number): TokenColumns {
  const columns = new TokenColumns();
  for (const one of all) {
    if (endNsOf(one) <= startNs || endNsOf(one) > endNs || one.end === "cancelled") continue;
    if (one.end === "failed") {
      columns.addFailures(1);
      continue;
    }
    const contentNs = one.end === "empty" ? [] : [(one.tookUs * 1000) / 2, one.tookUs * 1000];
    const outputTokens = one.end === "empty" ? 0 : one.tokens;
    const times = {
      contentNs,
      eventCount: 2,
      firstOutputNs: contentNs[0] ?? Number.NaN,
      firstReasoningNs: Number.NaN,
      outputTokens,
      reasoningTokens: 0,
    };
    columns.add({ sendNs: one.sentUs * 1000, times, inputTokens: 7 });
  }
  return columns;
}

const TOKENS = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } as const;
const GOOD = { metric: { key: "goodput", limits: { latency: 200 * MS } }, comparison: "at-least", limit: 0 } as const;

test("reports of random requests in random windows agree with themselves", () => {
  fc.assert(
    fc.property(requests, windowsMs, (all, lengthsMs) => {
      const endMs = lengthsMs.reduce((sum, ms) => sum + ms, 0);
      const timeline = new Timeline(0, { durationNs: endMs * MS });
      let startNs = 0;
      const windows = lengthsMs.map((ms) => {
        const window = measureWindow(all, startNs, startNs + ms * MS, timeline);
        startNs += ms * MS;
        return window;
      });
      const tokens = measureColumns(measureTokens(all, 0, endMs * MS), [{ latency: 200 * MS }], {
        startNs: 0,
        endNs: endMs * MS,
      });
      const level: LevelResult = {
        ...makeLevel({ unit: "request-rate", level: 5, window: { ...mergeInTime(windows), tokens, isStreamed: true } }),
        timeline: toBuckets([timeline.finish(openAt(all, endMs * MS))], endMs * MS),
      };
      const plan = makePlan({ measurement: { tokens: TOKENS }, assertions: [GOOD] });
      const { requestCount, failedCount, cancelledCount, sentCount, openBeforeCount } = level.window;
      const sent = sentCount + openBeforeCount;
      const completedCount = sent - failedCount - cancelledCount;
      const failures = [{ kind: "http", count: failedCount + cancelledCount, example: "", status: undefined }] as const;
      const totals = { sentCount: sent, completedCount, failedCount, cancelledCount, durationNs: endMs * MS };
      const report = checkRelations(plan, makeResult(plan, [level], { ...totals, failures }));
      assert.equal(report.levels[0]?.completed ?? 0, requestCount);
    }),
    { numRuns: 25 },
  );
});

test("GenAI-Perf's numbers of random requests agree with each other by its own clock", () => {
  fc.assert(
    fc.property(requests, (all) => {
      const columns = measureTokens(all, Number.NEGATIVE_INFINITY, Number.POSITIVE_INFINITY);
      const { statistics } = toGenAiPerfResult(columns, {
        family: "text",
        endpointType: "chat",
        isStreaming: true,
        goodOf: measureGood(columns, { request_latency: 200 }),
      });
      const avg = (name: string): number => statistics.get(name as never)?.values.get("avg") ?? 0;
      assert.ok(avg("request_goodput") <= avg("request_throughput") + 1e-9);
      for (const [name, { values }] of statistics) {
        const ascending = ["min", ...PERCENTILES.map((of) => `p${of}` as const), "max"] as const;
        const shown = ascending.flatMap((statistic) => values.get(statistic) ?? []);
        assert.deepEqual(
          shown,
          shown.toSorted((a, b) => a - b),
          name,
        );
      }
      if (columns.emptyCount === 0 && columns.count > 0)
        assert.ok(
          Math.abs(avg("output_token_throughput") - avg("output_sequence_length") * avg("request_throughput")) <=
            1e-9 * avg("output_token_throughput"),
        );
    }),
    { numRuns: 100 },
  );
});

test("a row of perf_analyzer's CSV agrees with itself", async () => {
  const folder = makeFolder();
  const csvFile = join(folder, "table.csv");
  const plan = makePlan({ outputs: { files: { perfAnalyzerCsv: csvFile }, isVerboseCsv: true } });
  fc.assert(
    fc.property(requests, fc.integer({ min: 100, max: 2000 }), (all, lengthMs) => {
      const window = measureWindow(all, 0, lengthMs * MS, new Timeline(0, { durationNs: lengthMs * MS }));
      fc.pre(window.requestCount > 0);
      createPerfAnalyzerCsv(plan, makeSink(), csvFile).finish(
        makeResult(plan, [makeLevel({ window, hasServerCounters: false })]),
      );
      const [header = [], row = []] = readFileSync(csvFile, "utf8")
        .split("\n")
        .map((line) => line.split(","));
      const cell = (name: string): number => Number(row[header.indexOf(name)]);
      const perSec = window.requestCount / (lengthMs / 1000);
      assert.ok(Math.abs(cell("Inferences/Second") - perSec) <= 1e-5 * perSec);
      const ascending = [50, 90, 95, 99].map((percentile) => cell(`p${percentile} latency`));
      assert.deepEqual(
        ascending,
        ascending.toSorted((a, b) => a - b),
      );
      assert.equal(cell("Client Send") + cell("Client Recv"), cell("request/response"));
      assert.ok(cell("request/response") + cell("response wait") >= cell("Avg latency"));
      assert.ok(cell("Avg latency") <= window.latency.max / 1000 && cell("p99 latency") <= window.latency.max / 1000);
    }),
    { numRuns: 40 },
  );
});

const STREAM = { streaming: true, timeToFirstToken: "10 ms", interTokenLatency: "2 ms" } as const;

const RUNS: readonly (readonly [name: string, scenario: Partial<ScenarioDefinition>])[] = [
  ["a rate for a short time, whose requests are cut off at its edges", { load: rateSteps([20], { for: "300 ms" }) }],
  ["a rate that rises", { load: rateRamp(10, 60, { over: "400 ms" }) }],
  ["concurrencies for a number of requests", { load: steps([1, 3], { requests: 12 }) }],
  ["stable windows", { load: hold(2), stability: { window: "60 ms", within: "100000000 %" } }],
  [
    "failures and broken streams",
    {
      load: hold(2, { requests: 40 }),
      target: embeddedLlm({ ...STREAM, tokenizer: TINY, errorRate: "30 %", cutRate: "20 %" }),
    },
  ],
];

/** Runs a scenario and checks its report. */
async function runAndCheck(scenario: Partial<ScenarioDefinition>): Promise<ReportedRun> {
  const base = {
    name: "x",
    target: embeddedLlm({ ...STREAM, tokenizer: TINY }),
    inputs: prompts({ isl: 12, osl: 5, count: 4 }),
  };
  const assertions = [goodput({ latency: "1 min" }).atLeast(0)];
  const plan = toPlan(
    defineScenario({ ...base, load: hold(1), assert: assertions, ...scenario } as ScenarioDefinition),
    "/",
  );
  const { result } = startPlan(plan, { openObserver: async () => ({}), check: async () => checkPlan(plan) });
  return checkRelations(plan, await result);
}

for (const [name, scenario] of RUNS) {
  test(`the report of a real run agrees with itself: ${name}`, LIMIT, async () => {
    const { levels, assertions, requests: totals } = await runAndCheck(scenario);
    // On a busy machine nothing may have been answered in a short time, which is a report too.
    assert.ok(totals.sent > 0);
    // Every response is good, so goodput is throughput.
    const [level] = levels;
    if (levels.length === 1 && level?.tokens?.withContent === level?.completed) {
      const perSec = (level && singleOf(level, "throughputPerSec")?.value) ?? 0;
      assert.ok(Math.abs((assertions[0]?.measured?.value ?? 0) - perSec) < 1e-4 * perSec);
    }
  });
}

test("a level over the latency limit is confirmed, and counts once", LIMIT, async () => {
  // No response comes within 1 ms, as the first token takes 10.
  const { levels, requests: totals } = await runAndCheck({
    load: steps([1, 2], { requests: 4 }),
    latencyLimit: "1 ms",
  });
  const shown = levels.map(({ level, outcome, repeats }) => [level, outcome, repeats?.map((one) => one.outcome)]);
  assert.deepEqual(shown, [[1, "over-limit", ["over-limit"]]]);
  assert.equal(totals.completed, 8);
});
