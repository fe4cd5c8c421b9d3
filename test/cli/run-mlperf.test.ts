import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { MlperfResult } from "../../src/measure/mlperf/judge-mlperf.ts";
import type { MetricsJson } from "../../src/report/schema/metrics.ts";
import { spreadIn, valueIn } from "../report/json-metrics.ts";
import { takeMs, withServer } from "../run/kserve-server.ts";
import { createFolder, inFolder, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** MLPerf's scenarios from a scenario file to the report. */

interface Found {
  readonly code: number | null;
  readonly out: string;
  readonly mlperf: MlperfResult;
  readonly level: {
    readonly completed: number;
    readonly failed: number;
    readonly sendDelayUs?: { readonly mean: number };
    readonly metrics: MetricsJson;
  };
}

/** The times of tokens as the report has them. */
type TimesJson = Readonly<
  Record<
    "timeToFirstToken" | "timePerOutputToken",
    { readonly count: number; readonly latencyNs?: { readonly meanNs: number } }
  >
>;

type LevelJson = Found["level"] & Pick<Found, "mlperf">;

const PROMPTS = 'input.prompts({ file: "prompts.jsonl" })';

async function run(load: string, given: string | Readonly<Record<string, string>> = "embedded()"): Promise<Found> {
  const parts = typeof given === "string" ? { target: given } : given;
  const files = { "x.ts": scenarioText({ load, ...parts }), "prompts.jsonl": '{"text":"what is it"}\n' };
  using folder = createFolder(files);
  const { code, out } = await runRampart(["run", "x.ts", "--json", "report.json"], { cwd: folder.path });
  const report = JSON.parse(readFileSync(join(folder.path, "report.json"), "utf8")) as { levels: [LevelJson] };
  const [level] = report.levels;
  return { code, out, mlperf: level.mlperf, level };
}

describe("rampart run measures MLPerf's", () => {
  test("single stream, and says VALID", async () => {
    const { code, mlperf, level, out } = await run('mlperf.singleStream({ for: "50 ms", queries: 70 })');
    assert.equal(code, 0, out);
    assert.equal(mlperf.isValid, true);
    assert.ok(mlperf.queryCount >= 70);
    assert.equal(mlperf.queryCount, level.completed);
    assert.match(out, /Result is +VALID/);
  });

  test("multi-stream, in whole queries", async () => {
    const { code, mlperf, level, out } = await run(
      'mlperf.multiStream({ for: "1 ms", queries: 70, samplesPerQuery: 3, percentile: 90 })',
    );
    assert.equal(code, 0, out);
    assert.equal(mlperf.sampleCount, 3 * mlperf.queryCount);
    assert.equal(mlperf.sampleCount, level.completed);
    assert.ok(mlperf.queryCount >= 70);
  });

  test("server, and ends with 65 when the limit is broken", async () => {
    const { code, mlperf, out } = await run(
      'mlperf.server(1000, { latency: "1 ms", for: "50 ms", queries: 50 })',
      'embedded({ latency: "3 ms" })',
    );
    assert.equal(code, 65, out);
    assert.equal(mlperf.isValid, false);
    assert.match(out, /Result is +INVALID/);
    assert.match(mlperf.broken.join(), /over the limit of 1 ms/);
  });

  test("offline, whose throughput is that of the level", async () => {
    const { code, mlperf, level, out } = await run('mlperf.offline({ for: "1 ms", samples: 500, concurrency: 8 })');
    assert.equal(code, 0, out);
    assert.equal(mlperf.sampleCount, level.completed);
    assert.equal(mlperf.latencyNs, undefined);
    const perSec = valueIn(level, "throughputPerSec");
    assert.ok(Math.abs((mlperf.samplesPerSec ?? 0) / perSec - 1) < 0.001, `${mlperf.samplesPerSec} ${perSec}`);
  });

  for (const load of [
    'mlperf.singleStream({ for: "120 ms", queries: 11, percentile: 50 })',
    'mlperf.multiStream({ for: "120 ms", queries: 11, percentile: 50, samplesPerQuery: 2 })',
    'mlperf.server(200, { latency: "1 min", for: "120 ms", queries: 11, percentile: 50 })',
    'mlperf.offline({ for: "120 ms", samples: 1, concurrency: 2 })',
  ])
    test(`${load} in 20 runs, all of them VALID`, async () => {
      // One server for all runs: an embedded one is started for each.
      // One server for all runs: an embedded one is started for each.
      await withServer({ onInfer: () => takeMs(7) }, async ({ url }) => {
        const text = scenarioText({ load, target: `triton("${url}", { model: "simple" })`, repeat: "20" });
        const { runs } = await inFolder({ "x.ts": text }, async (cwd) => {
          const { code, out } = await runRampart(["run", "x.ts", "--json", "report.json"], { cwd });
          assert.equal(code, 0, out);
          return JSON.parse(readFileSync(join(cwd, "report.json"), "utf8")) as { runs: { levels: [LevelJson] }[] };
        });
        assert.deepEqual(
          runs.map(({ levels: [{ mlperf }] }) => mlperf.broken),
          runs.map(() => []),
        );
        assert.equal(runs.length, 20);
      });
    });

  test("server with limits of tokens, which are also in the metrics of tokens", async () => {
    const load =
      'mlperf.server(300, { timeToFirstToken: "2 s", timePerOutputToken: "1 s", for: "1 ms", queries: 120, percentile: 90 })';
    const llm = {
      target: 'embeddedLlm({ streaming: true, timeToFirstToken: "2 ms", interTokenLatency: "1 ms" })',
      inputs: PROMPTS,
    };
    const { code, mlperf, level, out } = await run(load, llm);
    assert.equal(code, 0, out);
    const { timeToFirstToken, timePerOutputToken } = mlperf.tokens as unknown as TimesJson;
    assert.deepEqual([timeToFirstToken.count, timePerOutputToken.count], [level.completed, level.completed]);
    // From the time when a request was due: what it waited, and what the server took.
    const meanUs = (spreadIn(level, "timeToFirstTokenUs")?.mean ?? 0) + (level.sendDelayUs?.mean ?? 0);
    assert.ok(Math.abs((timeToFirstToken.latencyNs?.meanNs ?? 0) / 1e3 - meanUs) < 0.01, `${meanUs}`);
    const perTokenUs = spreadIn(level, "interTokenLatencyUs")?.mean ?? 0;
    assert.ok(Math.abs((timePerOutputToken.latencyNs?.meanNs ?? 0) / 1e3 - perTokenUs) < 0.01, `${perTokenUs}`);
    assert.match(out, /p90 time to first token +[\d.,]+ \w+ \(limit: 2\.00 s\)/);
    assert.match(out, /early stopping, time per output token +met with 0 queries over the limit/);
    assert.equal(mlperf.target, undefined);
  });

  test("server with limits of tokens that are broken, and names each", async () => {
    const load =
      'mlperf.server(300, { timeToFirstToken: "1 ms", timePerOutputToken: "1 us", for: "1 ms", queries: 70 })';
    const llm = {
      target: 'embeddedLlm({ streaming: true, timeToFirstToken: "2 ms", interTokenLatency: "1 ms" })',
      inputs: PROMPTS,
    };
    const { code, mlperf } = await run(load, llm);
    assert.equal(code, 65);
    for (const label of ["time to first token", "time per output token"])
      assert.match(mlperf.broken.join(), new RegExp(`p99 of ${label} is .*, over the limit of 1 [mu]s`));
  });

  test("offline, with the tokens per second of a language model", async () => {
    const { code, mlperf, level, out } = await run('mlperf.offline({ for: "1 ms", samples: 100, concurrency: 8 })', {
      target: "embeddedLlm({ osl: 5 })",
      inputs: PROMPTS,
    });
    assert.equal(code, 0, out);
    assert.ok(Math.abs((mlperf.tokensPerSec ?? 0) / (5 * (mlperf.samplesPerSec ?? 1)) - 1) < 1e-9, out);
    assert.equal(mlperf.sampleCount, level.completed);
    assert.match(out, /tokens\/s completed +[\d,.]+/);
  });

  test("failures as invalid results", async () => {
    const { code, mlperf, level, out } = await run(
      'mlperf.singleStream({ for: "1 ms", queries: 200 })',
      "embedded({ errorRate: '20 %' })",
    );
    assert.equal(code, 65, out);
    assert.equal(mlperf.queryCount, level.completed + level.failed);
    assert.match(mlperf.broken.join(), new RegExp(`^${level.failed} of ${mlperf.queryCount} requests failed`));
  });
});
