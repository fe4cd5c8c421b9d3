import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RunResult } from "../../../src/result/run-result.ts";
import { startPlan } from "../../../src/run/run-plan.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import type { Load, LoadKind, LoadList, LoadPlace } from "../../../src/scenario/loads/load.ts";
import { singleStream } from "../../../src/scenario/loads/mlperf.ts";
import { phase, warmup } from "../../../src/scenario/loads/phases.ts";
import { mix } from "../../../src/scenario/mix.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { LIMIT } from "../../time-limit.ts";

/** Loads with rules of their own over several targets. */

async function run(load: Load<LoadKind, LoadPlace> | LoadList): Promise<RunResult> {
  const target = mix([
    { name: "a", target: embedded(), weight: 3 },
    { name: "b", target: embedded({ protocol: "grpc" }) },
  ]);
  const result = await startPlan(toPlan(defineScenario({ name: "x", target, load }), "/"), {
    openObserver: async () => ({}),
    check: async () => {},
  }).result;
  assert.equal(result.error, undefined, result.error?.message);
  return result;
}

const countsOf = ({ window }: RunResult["levels"][number]): number[] =>
  (window.groups ?? []).map((group) => group.window.requestCount);
const sumOf = (counts: readonly number[]): number => counts.reduce((sum, count) => sum + count, 0);

describe("a mix of targets", () => {
  test("keeps its weights over phases, and its parts are each phase", LIMIT, async () => {
    const { levels, phased } = await run([
      warmup({ requests: 8 }, hold(2)),
      phase("few", hold(2, { requests: 40 })),
      hold(4, { requests: 40 }),
    ]);
    assert.deepEqual(
      levels.map(({ phase: of }) => of?.index),
      [1, 2],
    );
    for (const level of levels) {
      assert.equal(sumOf(countsOf(level)), level.window.requestCount);
      // Requests in flight at both ends of a phase may shift its counts.
      assert.ok(
        Math.abs((countsOf(level)[0] ?? 0) - (level.window.requestCount * 3) / 4) <= 4,
        String(countsOf(level)),
      );
    }
    assert.equal(sumOf(phased?.phases.map(({ tally }) => tally.completedCount) ?? []), 88);
  });

  test("is one system to MLPerf: its queries are those of all targets", LIMIT, async () => {
    const { levels } = await run(singleStream({ for: "200 ms", queries: 64 }));
    const [level] = levels;
    assert.ok(level?.mlperf !== undefined);
    assert.equal(level.mlperf.isValid, true);
    assert.equal(level.mlperf.queryCount, level.window.requestCount);
    const [a = 0, b = 0] = countsOf(level);
    assert.equal(a + b, level.window.requestCount);
    assert.ok(Math.abs(a - 3 * b) <= 3, `${a} and ${b}`);
  });
});
