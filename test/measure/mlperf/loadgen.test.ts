import assert from "node:assert/strict";
import { before, describe, test } from "node:test";
import type { MlperfRules } from "../../../src/load/load-mode.ts";
import { judgeMlperf, type MlperfResult } from "../../../src/measure/mlperf/judge-mlperf.ts";
import type { MlperfLatency } from "../../../src/measure/mlperf/latency-statistics.ts";
import { MlperfTally } from "../../../src/measure/mlperf/mlperf-tally.ts";
import { RecordColumns } from "../../../src/measure/records.ts";
import { type LoadgenAnswer, type LoadgenTask, runLoadgen } from "../../servers/loadgen.ts";
import { fill } from "../make-records.ts";

/** The same latencies, judged by MLPerf's real LoadGen and here: every number must be the same. */

interface Case {
  readonly name: string;
  readonly task: LoadgenTask;
  readonly rules: MlperfRules;
}

/** Latencies with a tail: mostly 0.1 ms, one in fifty 3 ms. */
const LATENCIES_US = Array.from({ length: 50 }, (_, index) => (index === 17 ? 3000 : 100 + 7 * (index % 13)));

const single = (percentile: number): MlperfRules => ({
  scenario: "single-stream",
  samplesPerQuery: 1,
  percentile,
  latencyLimitMs: null,
});
const multi = (samplesPerQuery: number, percentile: number): MlperfRules => ({
  scenario: "multi-stream",
  samplesPerQuery,
  percentile,
  latencyLimitMs: null,
});
const server = (percentile: number, latencyLimitMs: number): MlperfRules => ({
  scenario: "server",
  samplesPerQuery: 1,
  percentile,
  latencyLimitMs,
});

const CASES: readonly Case[] = [
  ...[63, 64, 100, 700].map((count) => ({
    name: `single stream, ${count} queries`,
    task: { scenario: "SingleStream" as const, latenciesUs: LATENCIES_US, count },
    rules: single(90),
  })),
  {
    name: "single stream, another percentile",
    task: {
      scenario: "SingleStream",
      latenciesUs: LATENCIES_US,
      count: 200,
      settings: { single_stream_target_latency_percentile: 0.95 },
    },
    rules: single(95),
  },
  ...[100, 700].map((count) => ({
    name: `multi-stream, ${count} queries`,
    task: {
      scenario: "MultiStream" as const,
      latenciesUs: LATENCIES_US,
      count,
      settings: { multi_stream_samples_per_query: 3 },
    },
    rules: multi(3, 99),
  })),
  ...[1, 4, 50].map((limitMs) => ({
    name: `server, limit ${limitMs} ms`,
    task: {
      scenario: "Server" as const,
      latenciesUs: LATENCIES_US,
      count: 700,
      settings: { server_target_qps: 1000, server_target_latency_ns: limitMs * 1e6 },
    },
    rules: server(99, limitMs),
  })),
  {
    name: "server, another percentile",
    task: {
      scenario: "Server",
      latenciesUs: LATENCIES_US,
      count: 300,
      settings: {
        server_target_qps: 1000,
        server_target_latency_ns: 1_000_000,
        server_target_latency_percentile: 0.9,
      },
    },
    rules: server(90, 1),
  },
];

/** Judges LoadGen's latencies. */
function judgeLatencies({ rules, task }: Case, { latenciesNs }: LoadgenAnswer): MlperfResult {
  const tally = new MlperfTally(rules.samplesPerQuery);
  const records = new RecordColumns((rows, count) => tally.add(rows, count));
  let dueNs = 1e9;
  for (const query of latenciesNs) {
    for (const latencyNs of query)
      fill(records, { intendedSendNs: dueNs, sendStartNs: dueNs, endNs: dueNs + latencyNs });
    dueNs += 1e9;
  }
  records.drain();
  return judgeMlperf(rules, { minQueryCount: task.count, minDurationNs: 0 }, tally.sample(), 0);
}

/** LoadGen's statistics under our names. */
function latencyOf({ results }: LoadgenAnswer, { scenario }: MlperfRules): MlperfLatency {
  const isOfQueries = scenario === "multi-stream";
  const of = (name: string) => Number(results[`result_${name}${isOfQueries ? "_query" : ""}_latency_ns`]);
  const percentile = (value: number) =>
    Number(results[`result_${value.toFixed(2)}_percentile${isOfQueries ? "_per_query" : ""}_latency_ns`]);
  return {
    latencyNs: { minNs: of("min"), maxNs: of("max"), meanNs: of("mean") },
    percentilesNs: {
      ...{ p50: percentile(50), p90: percentile(90), p95: percentile(95) },
      ...{ p97: percentile(97), p99: percentile(99), "p99.9": percentile(99.9) },
    },
  };
}

describe("MLPerf's LoadGen and Rampart agree", () => {
  for (const entry of CASES) {
    let answer: LoadgenAnswer;
    let result: MlperfResult;
    describe(entry.name, () => {
      before(async () => {
        answer = await runLoadgen(entry.task);
        result = judgeLatencies(entry, answer);
      });

      test("on the statistics of latency", () => {
        const { latencyNs, percentilesNs } = result;
        assert.deepEqual({ latencyNs, percentilesNs }, latencyOf(answer, entry.rules));
        assert.equal(result.queryCount, answer.results["result_query_count"]);
      });

      test("on the verdict", () => {
        assert.equal(result.earlyStopping?.isMet, answer.results["early_stopping_met"]);
        assert.equal(result.isValid ? "VALID" : "INVALID", answer.results["result_validity"]);
      });

      test("on the rate without overhead", () => {
        const expected = answer.results["result_qps_without_loadgen_overhead"];
        // LoadGen prints six digits.
        const digits = result.withoutOverheadPerSec?.toPrecision(6);
        assert.equal(digits === undefined ? undefined : Number(digits), expected);
      });

      test("on early stopping", () => {
        assert.deepEqual(stoppingOf(result), expectedStopping(answer, entry.rules));
      });
    });
  }
});

/** The numbers of early stopping. */
function stoppingOf({ earlyStopping: stop, p99Stopping }: MlperfResult): object {
  assert.ok(stop !== undefined);
  if ("overCount" in stop) return { overCount: stop.overCount, missingCount: stop.missingCount };
  return {
    // Below the needed number, LoadGen says nothing about p99.
    ...(stop.estimate === undefined ? { neededCount: stop.neededCount, p99: undefined } : stop.estimate),
    ...(stop.estimate === undefined ? {} : { p99: p99Of(p99Stopping) }),
  };
}

function p99Of(p99Stopping: MlperfResult["p99Stopping"]): number | undefined {
  return p99Stopping === undefined ? undefined : (p99Stopping.estimate?.latencyNs ?? p99Stopping.neededCount);
}

/** The same numbers from LoadGen's log and its text. */
function expectedStopping({ results }: LoadgenAnswer, { scenario, percentile }: MlperfRules): object {
  const text = String(results["early_stopping_result"]);
  const number = (pattern: RegExp): number | undefined => {
    const found = pattern.exec(text)?.[1];
    return found === undefined ? undefined : Number(found);
  };
  if (scenario === "server")
    return {
      overCount: results["result_overlatency_query_count"],
      missingCount: number(/at least (\d+) more queries/) ?? 0,
    };
  const discardedCount = number(/Would discard (\d+)/);
  const p99 = number(/ 99\.?\d*th percentile\s+estimate: (\d+)$/) ?? number(/at\s+least (\d+) total queries/);
  return {
    ...(discardedCount === undefined
      ? { neededCount: number(/at least (\d+) queries for early stopping/) }
      : { discardedCount, latencyNs: number(/percentile estimate: (\d+)/) }),
    p99: scenario === "single-stream" && percentile !== null ? p99 : undefined,
  };
}
