import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { TokenMeasurement } from "../../../src/measure/tokens/token-measurement.ts";
import { TokenTally } from "../../../src/measure/tokens/token-tally.ts";
import { createJsonReport } from "../../../src/report/model-files.ts";
import { makeFolder } from "../../make-folder.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { makeLevel, makeResult, makeSink } from "../make-result.ts";

/** Tokens in Rampart's own reports. */

interface Made {
  readonly reasoningTokens?: number;
  readonly serverTokens?: number;
  readonly gapMs?: number;
}

/** Four responses of 11 tokens, the first after 100 to 400 ms, one sent each second; and one that failed. */
function makeTokens({ reasoningTokens = 0, serverTokens, gapMs = 10 }: Made = {}): TokenMeasurement {
  const columns = new TokenTally();
  for (let index = 0; index < 4; index++) {
    const firstNs = (index + 1) * 100e6;
    const contentNs = Array.from({ length: 11 }, (_, token) => firstNs + token * gapMs * 1e6);
    const times = {
      contentNs,
      eventCount: 11,
      firstOutputNs: firstNs,
      firstReasoningNs: reasoningTokens === 0 ? Number.NaN : firstNs - 50e6,
      outputTokens: 11,
      reasoningTokens,
    };
    const usage =
      serverTokens === undefined
        ? undefined
        : { promptTokens: undefined, completionTokens: serverTokens, reasoningTokens: undefined };
    columns.add({ sendNs: index * 1e9, times, inputTokens: 7, usage });
  }
  columns.failedCount = 1;
  return columns.cut();
}

const TOKENS = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" } as const;

test("the JSON report has the client's lag, and warns when its times may show it", async () => {
  const folder = makeFolder();
  const jsonFile = join(folder, "report.json");
  const plan = makePlan({ measurement: { tokens: TOKENS }, outputs: { files: { json: jsonFile } } });
  const window = makeWindow({
    latenciesNs: [1e9],
    tokens: makeTokens(),
    sendMeanNs: 1e6,
    health: { loopLagMeanNs: 24e6, loopLagP99Ns: 30e6 },
  });
  await createJsonReport(plan, makeSink(), jsonFile).finish(makeResult(plan, [makeLevel({ window })]));
  const { client } = JSON.parse(await readFile(jsonFile, "utf8")).levels[0];
  assert.deepEqual([client.loopLagMeanMs, client.loopLagP99Ms, client.coreWaitRatio], [24, 30, null]);
  assert.match(client.lagWarning, / 24 ms \(p99 30 ms\) late, and took 1 ms to send a request/);
});

test("tokens in the report for programs have units in their names", async () => {
  const folder = makeFolder();
  const jsonFile = join(folder, "report.json");
  const plan = makePlan({ measurement: { tokens: TOKENS }, outputs: { files: { json: jsonFile } } });
  await createJsonReport(plan, makeSink(), jsonFile).finish(
    makeResult(plan, [makeLevel({ window: makeWindow({ tokens: makeTokens() }) })]),
  );
  const { levels } = JSON.parse(await readFile(jsonFile, "utf8")) as {
    levels: { tokens: Record<string, unknown>; metrics: Record<string, Record<string, number>> }[];
  };
  const { tokens, metrics } = levels[0] ?? {};
  assert.deepEqual([tokens?.["withContent"], tokens?.["failed"]], [4, 1]);
  assert.equal(metrics?.["timeToFirstTokenUs"]?.["mean"], 250_000);
  assert.equal(metrics?.["timeToFirstTokenUs"]?.["p90"], 400_000);
  const { confidence95, ...outputTokens } = metrics?.["outputTokens"] ?? {};
  const few = { effectiveCount: 4, isReliable: false };
  const { mean, p50 } = confidence95 as unknown as Record<string, object>;
  assert.deepEqual(
    [mean, p50],
    [
      { low: 11, high: 11, effectiveCount: 4 },
      { low: null, high: null, ...few, neededCount: 11 },
    ],
  );
  assert.deepEqual(outputTokens, {
    count: 4,
    mean: 11,
    deviation: 0,
    min: 11,
    max: 11,
    p1: 11,
    p5: 11,
    p10: 11,
    p25: 11,
    p50: 11,
    p75: 11,
    p90: 11,
    p95: 11,
    p99: 11,
    "p99.9": 11,
    "p99.99": 11,
  });
  assert.equal((tokens?.["warnings"] as string[] | undefined)?.length, 1);
});
