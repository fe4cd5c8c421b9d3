import assert from "node:assert/strict";
import { test } from "node:test";
import type { CompletionBins } from "../../../src/measure/intervals/time-bins.ts";
import type { TokenMeasurement } from "../../../src/measure/tokens/token-measurement.ts";
import { measureColumns } from "../../../src/measure/tokens/token-tally.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import type { ReportModel } from "../../../src/report/model/report-model.ts";
import { timeUnitOf } from "../../../src/report/model/values.ts";
import { renderText, type TextStyle } from "../../../src/report/text/render-text.ts";
import { formatTextTable, valueText } from "../../../src/report/text/text-table.ts";
import type { LevelResult } from "../../../src/result/run-result.ts";
import { completionBins, makeWindow } from "../../measure/make-window.ts";
import { makeColumns, makeTimes } from "../../measure/tokens/make-columns.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { makeLevel, makeResult } from "../make-result.ts";
import { modelOf, modelOfRuns, tableOf } from "../model/make-model.ts";

/** Whole first screens, of made-up runs, at 80 columns. */

const P99 = { key: "latency", statistic: 99 } as const;
const ERRORS = { key: "errorRate" } as const;

/** Latencies from so many milliseconds to a third more, few of them long, in an order without a trend. */
const spread = (ms: number, count: number): number[] =>
  Array.from({ length: count }, (_, index) => ms * 1e6 * (1 + 0.3 * (((index * 617) % 1000) / 1000) ** 4));

/** The same number of completions in each tenth of a second. */
function even(level: number, failedCount: number): CompletionBins {
  const each = (count: number): number[] => Array(20).fill(count / 20);
  return completionBins(1e8, each(2000 * level), failedCount === 0 ? {} : { failed: each(failedCount) });
}

function levelOf(level: number, ms: number, failedCount = 0): LevelResult {
  const latenciesNs = spread(ms, 2000 * level);
  const sentCount = latenciesNs.length;
  return makeLevel({
    level,
    window: makeWindow({ durationNs: 2e9, latenciesNs, failedCount, sentCount, completions: even(level, failedCount) }),
  });
}

const LOAD = { kind: "concurrency", levels: { kind: "list", values: [1, 2, 4] }, search: "linear" } as const;
const TIMED = { mode: { kind: "duration", durationMs: 2000 } } as const;

/** Compares a screen. The texts stand at the margin, so that a difference of columns is seen. */
function assertScreen(model: ReportModel, expected: string, style: TextStyle = {}): void {
  assert.equal(renderText(model, style), expected.trimStart());
}

test("several levels: a row each, checks, no notes where nothing is in doubt", () => {
  const assertions = [
    { metric: P99, comparison: "below", limit: 50e6 },
    { metric: ERRORS, comparison: "is", limit: 0 },
  ] as const;
  const plan = { load: LOAD, measurement: TIMED, assertions };
  assertScreen(modelOf(plan, [levelOf(1, 1), levelOf(2, 1.1), levelOf(4, 1.2)]), QUICK);
});

test("failures: the verdict, a count, an example", () => {
  const failures = [{ kind: "http", status: 503, count: 40, example: "the server is not ready" }] as const;
  const assertions = [{ metric: ERRORS, comparison: "below", limit: 0.01 }] as const;
  const plan = { load: LOAD, measurement: TIMED, assertions };
  assertScreen(modelOf(plan, [levelOf(1, 1), levelOf(2, 1.1, 40)], { failures }), FAILURES);
});

test("repeated runs: the mean over runs with its interval", () => {
  const plan: Plan = makePlan({ load: LOAD, measurement: TIMED, repeat: { atLeast: 3, atMost: 3 } });
  const runs = [1, 1.1, 1.2].map((ms) => makeResult(plan, [levelOf(1, ms), levelOf(2, 2 * ms)]));
  assertScreen(modelOfRuns(plan, { runs }), REPEATED);
});

test("a search: the response first, then the loads that were tried", () => {
  const limits = [{ metric: P99, comparison: "below", limit: 3.5e6 }] as const;
  const load = {
    kind: "concurrency",
    levels: { kind: "range", start: 1, end: 8, step: 1 },
    search: "highest",
  } as const;
  const tried = (level: number, ms: number, state: "kept" | "broken"): LevelResult => {
    const [limit] = limits;
    const value = 3 * ms * 1e6;
    const estimate = { value, low: 0.97 * value, high: 1.03 * value };
    return { ...levelOf(level, ms), limits: { state, verdicts: [{ limit, state, estimate }] } };
  };
  const findMax = { highest: 2, next: 4, isResolved: true };
  const levels = [tried(4, 2, "broken"), tried(1, 1, "kept"), tried(2, 1.1, "kept")];
  assertScreen(modelOf({ load, limits }, levels, { findMax }), SEARCH);
});

/** Responses of 11 tokens, the first after 100 to 120 ms, `gapMs` apart; every `bunchEvery`-th has two tokens in a read. */
function tokensOf(count: number, gapMs: number, bunchEvery = Number.POSITIVE_INFINITY): TokenMeasurement {
  const rows = Array.from({ length: count }, (_, index) => {
    const isBunched = index % bunchEvery === 0;
    const ms = Array.from(
      { length: isBunched ? 6 : 11 },
      (_unused, token) => 100 + ((index * 617) % 1000) / 50 + token * gapMs,
    );
    return {
      // Before the level too: responses end at an even rate in all of it.
      sendNs: (index * 2.4e9) / count - 0.3e9,
      times: makeTimes(ms, { outputTokens: 11, eventCount: 11 }),
      omitsBunchedRate: true,
    };
  });
  return measureColumns(makeColumns(...rows), [], { startNs: 0, endNs: 2e9 });
}

const LLM = {
  load: { kind: "concurrency", levels: { kind: "list", values: [1, 4] }, search: "linear" },
  measurement: { ...TIMED, tokens: { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } },
} as const;
const LLM_CHECKS = [
  { metric: { key: "timeToFirstToken", statistic: 90 }, comparison: "below", limit: 500e6 },
  { metric: { key: "outputTokensPerSec" }, comparison: "above", limit: 20 },
] as const;

function llmLevels(bunchEvery?: number) {
  return [1, 4].map((level) => {
    const { window, ...rest } = levelOf(level, 200);
    return { ...rest, window: { ...window, isStreamed: true, tokens: tokensOf(1000 * level, 10, bunchEvery) } };
  });
}

test("a language model: users, tokens per second, and the times of tokens", () => {
  const levels = llmLevels();
  assertScreen(modelOf({ ...LLM, assertions: LLM_CHECKS }, levels), MODEL);
});

test("where there is no room for all, the times of tokens stay and that of the whole response goes", () => {
  const table = tableOf(modelOf(LLM, llmLevels()), "levels");
  const { lines } = formatTextTable(table, { maxColumns: 75, format: valueText });
  assert.equal(lines[0], "users   req/s   tokens/s   TTFT p50   TTFT p99   ITL p50   ITL p99   failed");
});

test("one tiny time does not change the unit of its column", () => {
  const unitFor = (...ns: number[]): string => timeUnitOf(ns).name;
  assert.equal(unitFor(41e6, 8e6, 9e6, 147), "ms");
  assert.equal(unitFor(2e6, 3e6, 30e9), "ms");
  assert.equal(unitFor(30e3, 5e6), "us");
});

test("responses that come in bunches: no inter-token latency, and why", () => {
  const levels = llmLevels(2);
  assertScreen(modelOf(LLM, levels), BUNCHED);
});

test("one request again and again, as rampart http shows it: its load, time and rate, its latencies, its counts", () => {
  const target = { kind: "plain-http", method: "GET", url: "http://localhost:8000", path: "/health" };
  const load = { ...LOAD, levels: { kind: "list", values: [4] } } as const;
  const plan = {
    name: "http",
    target: target as unknown as NonNullable<PlanChange["target"]>,
    measurement: TIMED,
    load,
  };
  const received = { bytes: 800_000, unaskedCount: 0, statuses: { 200: 8000, 503: 40 } };
  const failures = [{ kind: "http", status: 503, count: 40, example: "the server is not ready" }] as const;
  const assertions = [{ metric: ERRORS, comparison: "at-most", limit: 0.01 }] as const;
  const model = modelOf({ ...plan, assertions }, [levelOf(4, 1, 40)], { received, failures });
  assertScreen(model, HTTP, { showsLines: true });
});

const MODEL = `
PASSED  a test: model, 127.0.0.1:8000, http              4.0 s   10,000 requests

users  req/s  tokens/s  TTFT p50  TTFT p99  ITL p50  ITL p99  e2e p99  failed
    1  1,000     5,500    110 ms    120 ms  10.0 ms  10.0 ms   257 ms       0
    4  4,000    22,000    110 ms    120 ms  10.0 ms  10.0 ms   257 ms       0

  pass  p90 time to first token < 500 ms   worst 118 ms at 1 user
  pass  output tokens/s > 20               worst 5,500 tokens/s at 1 user
`;
const HTTP = `
PASSED  http  GET localhost:8000/health        4 in flight   2.0 s   4,000 req/s
  mean 1.06 ms   p50 1.02 ms   p90 1.20 ms   p95 1.24 ms   p99 1.29 ms
  max 1.30 ms
  status 200: 8,000   status 503: 40   failed 40   received 800 kB

Failures
  failed     requests   for example
  http 503         40   the server is not ready

  pass  error rate ≤ 1 %   0.498 % (40 of 8,040)
`;
const BUNCHED = `
MEASURED  a test: model, 127.0.0.1:8000, http            4.0 s   10,000 requests

users   req/s   tokens/s   TTFT p50   TTFT p99   e2e p99   failed   completed
    1   1,000      5,500     110 ms     120 ms    257 ms        0       2,000
    4   4,000     22,000     110 ms     120 ms    257 ms        0       8,000

  note  25 % of the tokens came together with the one before: use the latency
        per output token, not the inter-token latency.
`;
const QUICK = `
PASSED  a test: model, 127.0.0.1:8000, http              6.0 s   14,000 requests

concurrency   infer/s      mean       p50       p90       p99       max   failed
          1     1,000   1.06 ms   1.02 ms   1.20 ms   1.29 ms   1.30 ms        0
          2     2,000   1.17 ms   1.12 ms   1.31 ms   1.42 ms   1.43 ms        0
          4     4,000   1.27 ms   1.22 ms   1.44 ms   1.54 ms   1.56 ms        0

  pass  p99 latency < 50 ms   worst 1.54 ms at concurrency 4
  pass  error rate = 0 %      0 of 14,000
`;
const FAILURES = `
PASSED  a test: model, 127.0.0.1:8000, http               4.0 s   6,040 requests

concurrency   infer/s      mean       p50       p90       p99       max   failed
          1     1,000   1.06 ms   1.02 ms   1.20 ms   1.29 ms   1.30 ms        0
          2     2,000   1.17 ms   1.12 ms   1.31 ms   1.42 ms   1.43 ms       40

Failures
  failed     requests   for example
  http 503         40   the server is not ready

  pass  error rate < 1 %   0.99 % at concurrency 2 (40 of 4,040)
`;
const REPEATED = `
MEASURED  a test: model, 127.0.0.1:8000, http
          3 runs   12.0 s   18,000 requests

runs differ by more than one run can show: trust the runs together, not a single
one

concurrency  infer/s     mean      p50      p90      p99        errors  runs
          1    1,000  1.17 ms  1.12 ms  1.31 ms  1.42 ms           0 %     3
                        ±0.26    ±0.25     ±0.3    ±0.32  0 to 0.064 %
          2    2,000  2.33 ms  2.24 ms  2.63 ms  2.83 ms           0 %     3
                        ±0.53    ±0.51    ±0.59    ±0.64  0 to 0.032 %
`;
const SEARCH = `
PASSED  a test: model, 127.0.0.1:8000, http              6.0 s   14,000 requests

highest load that keeps the limits: concurrency 2
  2,000 infer/s, p99 latency 3.30 ms (limit < 3.5 ms)
concurrency 4 breaks the limit: p99 latency 6.00 ms (limit < 3.5 ms)

concurrency   infer/s       p50       p90       p99   failed
          1     1,000   1.02 ms   1.20 ms   1.29 ms        0   keeps the limits
          2     2,000   1.12 ms   1.31 ms   1.42 ms        0   keeps the limits
          4     4,000   2.04 ms   2.39 ms   2.57 ms        0   breaks a limit
`;
