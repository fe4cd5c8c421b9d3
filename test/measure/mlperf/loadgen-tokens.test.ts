import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { MlperfRules } from "../../../src/load/load-mode.ts";
import { judgeMlperf, type MlperfResult } from "../../../src/measure/mlperf/judge-mlperf.ts";
import type { MlperfTokenTime } from "../../../src/measure/mlperf/judge-tokens.ts";
import type { MlperfLatency } from "../../../src/measure/mlperf/latency-statistics.ts";
import { MlperfTally } from "../../../src/measure/mlperf/mlperf-tally.ts";
import { sampleTokens } from "../../../src/measure/mlperf/token-sample.ts";
import { RecordColumns } from "../../../src/measure/records.ts";
import { TokenColumns } from "../../../src/measure/tokens/token-columns.ts";
import { type LoadgenAnswer, runLoadgen } from "../../servers/loadgen.ts";
import { fill } from "../make-records.ts";

/**
 * The same streams, judged by MLPerf's real LoadGen with `use_token_latencies` and here: every number must be the same. LoadGen's own times
 * of first and last tokens are what is judged.
 */

interface Case {
  readonly name: string;
  readonly count: number;
  readonly percentile: number;
  readonly firstMs: number;
  readonly perTokenUs: number;
}

const STREAMS = Array.from({ length: 50 }, (_, index): [number, number] => [
  index % 25 === 17 ? 2000 : 100 + 3 * (index % 11),
  2 + (index % 7),
]);
const LATENCIES_US = STREAMS.map(([firstUs], index) => firstUs + (index === 30 ? 2500 : 300));

const CASES: readonly Case[] = [
  { name: "within both limits", count: 700, percentile: 99, firstMs: 500, perTokenUs: 400_000 },
  { name: "first tokens over their limit", count: 700, percentile: 99, firstMs: 1, perTokenUs: 400_000 },
  { name: "tokens after the first over their limit", count: 700, percentile: 99, firstMs: 500, perTokenUs: 200 },
  { name: "too few queries", count: 300, percentile: 99, firstMs: 500, perTokenUs: 400_000 },
  { name: "another percentile", count: 300, percentile: 90, firstMs: 500, perTokenUs: 100 },
];

function judge({ percentile, firstMs, perTokenUs, count }: Case, answer: LoadgenAnswer): MlperfResult {
  const rules: MlperfRules = {
    scenario: "server",
    samplesPerQuery: 1,
    percentile,
    latencyLimitMs: null,
    tokenLimits: { timeToFirstTokenMs: firstMs, timePerOutputTokenMs: perTokenUs / 1000 },
  };
  const tally = new MlperfTally(1);
  const records = new RecordColumns((rows, rowCount) => tally.add(rows, rowCount));
  const columns = new TokenColumns();
  for (const [query, [latencyNs = 0]] of answer.latenciesNs.entries()) {
    const dueNs = query * 1e9;
    // Half of the wait is before the send: both counts from the time when it was due.
    const waitNs = Math.floor((answer.firstTokensNs[query] as number) / 2);
    const firstNs = (answer.firstTokensNs[query] as number) - waitNs;
    fill(records, { intendedSendNs: dueNs, sendStartNs: dueNs + waitNs, endNs: dueNs + latencyNs });
    const times = { ...NO_REASONING, contentNs: [firstNs, latencyNs - waitNs], outputTokens: tokensOf(query) };
    columns.add({ sendNs: dueNs + waitNs, waitNs, times, inputTokens: 1 });
  }
  records.drain();
  return judgeMlperf(rules, { minQueryCount: count, minDurationNs: 0 }, tally.sample(), 0, sampleTokens(columns));
}

const NO_REASONING = { eventCount: 2, firstOutputNs: Number.NaN, firstReasoningNs: Number.NaN, reasoningTokens: 0 };

function tokensOf(query: number): number {
  return (STREAMS[query % STREAMS.length] as readonly [number, number])[1];
}

describe("MLPerf's LoadGen and Rampart agree on streams", () => {
  for (const entry of CASES) {
    let answer: LoadgenAnswer;
    let result: MlperfResult;
    describe(entry.name, () => {
      before(async () => {
        const { count, percentile, firstMs, perTokenUs } = entry;
        answer = await runLoadgen({
          scenario: "Server",
          latenciesUs: LATENCIES_US,
          streams: STREAMS,
          count,
          settings: {
            server_target_qps: 1000,
            server_target_latency_percentile: percentile / 100,
            ttft_latency: firstMs * 1e6,
            tpot_latency: perTokenUs * 1e3,
          },
        });
        assert.equal(answer.firstTokensNs.length, count);
        result = judge(entry, answer);
      });

      test("on the statistics", () => {
        for (const [found, keys] of [
          [result.tokens?.timeToFirstToken, FIRST_TOKEN_KEYS],
          [result.tokens?.timePerOutputToken, PER_TOKEN_KEYS],
          [result, LATENCY_KEYS],
        ] as const) {
          const { latencyNs, percentilesNs } = found ?? {};
          assert.deepEqual({ latencyNs, percentilesNs }, statisticsOf(answer, keys));
        }
      });

      test("on the verdict", () => {
        const { timeToFirstToken, timePerOutputToken } = result.tokens ?? {};
        assert.equal(result.isValid ? "VALID" : "INVALID", answer.results["result_validity"]);
        assert.equal(
          isStopped(timeToFirstToken) && isStopped(timePerOutputToken),
          answer.results["early_stopping_met"],
        );
        assert.equal(
          isKept(timeToFirstToken) && isKept(timePerOutputToken),
          answer.results["result_perf_constraints_met"],
        );
      });

      test("on early stopping", () => {
        const { timeToFirstToken, timePerOutputToken } = result.tokens ?? {};
        const perTokenText = String(answer.results["early_stopping_tpot_result"]);
        const firstText = String(answer.results["early_stopping_ttft_result"]);
        assert.equal(timePerOutputToken?.earlyStopping.missingCount, missingIn(perTokenText));
        // LoadGen does not look at first tokens when the others do not pass.
        if (missingIn(perTokenText) > 0) assert.equal(firstText, "");
        else assert.equal(timeToFirstToken?.earlyStopping.missingCount, missingIn(firstText));
      });

      test("on the tokens per second", () => {
        // LoadGen prints six digits, and its time is only in its other rate.
        const { tokensPerSec = 0, completedPerSec = 1 } = result;
        const expected =
          Number(answer.results["result_completed_tokens_per_second"]) /
          Number(answer.results["result_completed_samples_per_sec"]);
        assert.ok(Math.abs(tokensPerSec / completedPerSec / expected - 1) < 2e-5, `${tokensPerSec} ${expected}`);
      });
    });
  }

  test("on the tokens per second of offline", async () => {
    const { results } = await runLoadgen({
      scenario: "Offline",
      latenciesUs: LATENCIES_US,
      streams: STREAMS,
      count: 100,
    });
    const tokenCount = Array.from({ length: 100 }, (_, query) => tokensOf(query)).reduce((sum, one) => sum + one, 0);
    const latenciesNs = new Float64Array(100).fill(1e6);
    const sample = {
      sampleLatenciesNs: latenciesNs,
      queryLatenciesNs: latenciesNs,
      failedCount: 0,
      failedQueryCount: 0,
      lastDueNs: 0,
      lastEndNs: (100 / Number(results["result_samples_per_second"])) * 1e9,
    };
    const rules: MlperfRules = { scenario: "offline", samplesPerQuery: 1, percentile: null, latencyLimitMs: null };
    const times = new Float64Array(100).fill(1);
    const tokens = { firstTokenNs: times, perTokenNs: times, tokenCount, uncountedCount: 0 };
    const { tokensPerSec = 0 } = judgeMlperf(rules, { minQueryCount: 1, minDurationNs: 0 }, sample, 0, tokens);
    assert.ok(Math.abs(tokensPerSec / Number(results["result_tokens_per_second"]) - 1) < 2e-5);
  });
});

type Keys = Readonly<Record<"min" | "max" | "mean", string>> & { readonly percentile: (value: string) => string };

const LATENCY_KEYS: Keys = {
  min: "result_min_latency_ns",
  max: "result_max_latency_ns",
  mean: "result_mean_latency_ns",
  percentile: (value) => `result_${value}_percentile_latency_ns`,
};
const FIRST_TOKEN_KEYS: Keys = {
  min: "result_first_token_min_latency_ns",
  max: "result_first_token_max_latency_ns",
  mean: "result_first_token_mean_latency_ns",
  percentile: (value) => `result_first_token_${value}_percentile_latency_ns`,
};
const PER_TOKEN_KEYS: Keys = {
  min: "result_time_to_output_token_min",
  max: "result_time_to_output_token_max",
  mean: "result_time_to_output_token_mean",
  percentile: (value) => `result_time_per_output_token_${value}_percentile_ns`,
};

function statisticsOf({ results }: LoadgenAnswer, keys: Keys): MlperfLatency {
  const of = (key: string) => Number(results[key]);
  const percentile = (value: number) => of(keys.percentile(value.toFixed(2)));
  return {
    latencyNs: { minNs: of(keys.min), maxNs: of(keys.max), meanNs: of(keys.mean) },
    percentilesNs: {
      ...{ p50: percentile(50), p90: percentile(90), p95: percentile(95) },
      ...{ p97: percentile(97), p99: percentile(99), "p99.9": percentile(99.9) },
    },
  };
}

function isStopped(time: MlperfTokenTime | undefined): boolean {
  return time?.earlyStopping.isMet === true;
}

function isKept(time: MlperfTokenTime | undefined): boolean {
  return time?.target !== undefined && time.target.latencyNs <= time.limitNs;
}

function missingIn(text: string): number {
  return Number(/at least (\d+) more queries/.exec(text)?.[1] ?? 0);
}
