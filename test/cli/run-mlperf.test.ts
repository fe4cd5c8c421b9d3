import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import type { MlperfResult } from "../../src/measure/mlperf/judge-mlperf.ts";
import { inFolder, runRampart } from "./rampart-process.ts";
import { scenarioText } from "./scenario-files.ts";

/** MLPerf's scenarios from a scenario file to the report. */

interface Found {
  readonly code: number | null;
  readonly out: string;
  readonly mlperf: MlperfResult;
  readonly level: { readonly requests: number; readonly failed: number };
}

type LevelJson = Found["level"] & Pick<Found, "mlperf">;

function run(load: string, target = "embedded()"): Promise<Found> {
  return inFolder({ "x.ts": scenarioText({ load, target }) }, async (cwd) => {
    const { code, out } = await runRampart(["run", "x.ts", "--json", "report.json"], { cwd });
    const report = JSON.parse(readFileSync(join(cwd, "report.json"), "utf8")) as { levels: [LevelJson] };
    const [level] = report.levels;
    return { code, out, mlperf: level.mlperf, level };
  });
}

describe("rampart run measures MLPerf's", () => {
  test("single stream, and says VALID", async () => {
    const { code, mlperf, level, out } = await run('singleStream({ for: "50 ms", queries: 70 })');
    assert.equal(code, 0, out);
    assert.equal(mlperf.isValid, true);
    assert.ok(mlperf.queryCount >= 70);
    assert.equal(mlperf.queryCount, level.requests);
    assert.match(out, /Result is +VALID/);
  });

  test("multi-stream, in whole queries", async () => {
    const { code, mlperf, level, out } = await run(
      'multiStream({ for: "1 ms", queries: 70, samplesPerQuery: 3, percentile: 90 })',
    );
    assert.equal(code, 0, out);
    assert.equal(mlperf.sampleCount, 3 * mlperf.queryCount);
    assert.equal(mlperf.sampleCount, level.requests);
    assert.ok(mlperf.queryCount >= 70);
  });

  test("server, and ends with 65 when the limit is broken", async () => {
    const { code, mlperf, out } = await run(
      'server(1000, { latency: "1 ms", for: "50 ms", queries: 50 })',
      'embedded({ latency: "3 ms" })',
    );
    assert.equal(code, 65, out);
    assert.equal(mlperf.isValid, false);
    assert.match(out, /Result is +INVALID/);
    assert.match(mlperf.broken.join(), /over the limit of 1 ms/);
  });

  test("offline, whose throughput is that of the level", async () => {
    const { code, mlperf, level, out } = await run('offline({ for: "1 ms", samples: 500, maxOutstanding: 8 })');
    assert.equal(code, 0, out);
    assert.equal(mlperf.sampleCount, level.requests);
    assert.equal(mlperf.latency, undefined);
    const { inferPerSec } = level as unknown as { inferPerSec: number };
    assert.ok(
      Math.abs((mlperf.samplesPerSec ?? 0) / inferPerSec - 1) < 0.001,
      `${mlperf.samplesPerSec} ${inferPerSec}`,
    );
  });

  test("failures as invalid results", async () => {
    const { code, mlperf, level, out } = await run(
      'singleStream({ for: "1 ms", queries: 200 })',
      "embedded({ errorRatio: 0.2 })",
    );
    assert.equal(code, 65, out);
    assert.equal(mlperf.queryCount, level.requests + level.failed);
    assert.match(mlperf.broken.join(), new RegExp(`^${level.failed} of ${mlperf.queryCount} requests failed`));
  });
});
