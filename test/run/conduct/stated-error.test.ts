import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import type { LimitState } from "../../../src/measure/limits/judge-limits.ts";
import type { Measurement } from "../../../src/measure/measurement.ts";
import type { AssertionPlan, MetricPlan } from "../../../src/plan/assertions.ts";
import type { Plan } from "../../../src/plan/plan.ts";
import { RunError, userError } from "../../../src/plan/problem.ts";
import { LevelError } from "../../../src/run/conduct/level-frame.ts";
import { resolveLimits } from "../../../src/run/conduct/resolve-limits.ts";
import { explainEnd, toRunError } from "../../../src/run/conduct/run-error.ts";
import { FailureLog } from "../../../src/run/judge/failure-log.ts";
import { createRandomFor, type Random } from "../../../src/runtime/random.ts";
import { defineScenario } from "../../../src/scenario/define.ts";
import { hold } from "../../../src/scenario/loads/concurrency.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { completionsAt, makeWindow, sketchAt } from "../../measure/make-window.ts";

/**
 * A level at the boundary of its limit is found on the wrong side in 5 of 100 simulated searches at most, however often it is looked at. The
 * latencies, and with them the truth, are those of a lognormal distribution.
 */

const FLOOR_NS = 5e6;
const SCALE_NS = 1e6;
const toNs = (normal: number): number => FLOOR_NS + SCALE_NS * Math.exp(0.5 * normal);
const MEAN_NS = FLOOR_NS + SCALE_NS * Math.exp(0.125);
const PER_WINDOW = 100;
const RUNS = 100;

const PLAN = toPlan(defineScenario({ name: "x", target: embedded(), load: hold(4) }), "/");
const percentile = (of: number): MetricPlan => ({ key: "latency", statistic: of });
const below = (metric: MetricPlan, limit: number): AssertionPlan => ({ metric, comparison: "below", limit });

/** Windows of one request at a time. @param correlation of neighbours */
function drawWindows(random: Random, correlation: number): () => Measurement {
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
  let state = normal();
  let atNs = 0;
  return () => {
    const startNs = atNs;
    const ends: number[] = [];
    const latencies = Float64Array.from({ length: PER_WINDOW }, () => {
      const latencyNs = toNs(state);
      state = correlation * state + Math.sqrt(1 - correlation ** 2) * normal();
      atNs += latencyNs;
      ends.push(atNs);
      return latencyNs;
    });
    return {
      ...makeWindow({ startNs, durationNs: atNs - startNs, completions: completionsAt(ends, startNs, atNs) }),
      ...{ latency: sketchAt(latencies, ends, startNs, atNs), requestCount: PER_WINDOW },
    };
  };
}

async function resolve(limits: readonly AssertionPlan[], nextWindow: () => Measurement): Promise<LimitState> {
  const resolved = await resolveLimits({
    ...{ level: 4, batchSize: 1, windowMs: 1000, maxMs: 30_000 },
    plan: { ...PLAN, limits } as Plan,
    nextWindow: () => Promise.resolve(nextWindow()),
  });
  return resolved?.limits.state ?? "unresolved";
}

/** Begins to read the windows of a run. */
type Run = () => () => Measurement;

/** Runs whose windows are drawn once for all limits: drawing them takes longer than judging them. */
function drawRuns(correlation: number): Run[] {
  return Array.from({ length: RUNS }, (_, run) => {
    const draw = drawWindows(createRandomFor(run, "latencies"), correlation);
    const drawn: Measurement[] = [];
    return () => {
      let next = 0;
      return () => (drawn[next++] ??= draw());
    };
  });
}

/** Returns the ratio of searches that end in each state. */
async function simulate(limits: readonly AssertionPlan[], runs: readonly Run[]): Promise<Record<LimitState, number>> {
  const ratios = { kept: 0, broken: 0, unresolved: 0 };
  for (const read of runs) ratios[await resolve(limits, read())] += 1 / runs.length;
  return ratios;
}

const P90 = below(percentile(90), toNs(1.281551566));
const P99 = below(percentile(99), toNs(2.326347874));
const MEAN = below({ key: "latency", statistic: "mean" }, MEAN_NS);
const THROUGHPUT: AssertionPlan = { metric: { key: "throughput" }, comparison: "above", limit: 1e9 / MEAN_NS };

for (const correlation of [0, 0.9])
  describe(`latencies whose neighbours correlate by ${correlation}`, () => {
    let runs: Run[] = [];
    before(() => {
      runs = drawRuns(correlation);
    });
    after(() => {
      runs = [];
    });
    for (const [name, limit] of [
      ["p90", P90],
      ["p99", P99],
      ["the mean", MEAN],
      ["throughput", THROUGHPUT],
    ] as const)
      test(`a limit of ${name} at its true value is neither kept nor broken`, async () => {
        const { kept, broken } = await simulate([limit], runs);
        assert.ok(kept <= 0.05 && broken <= 0.05, `kept ${kept}, broken ${broken}`);
      });

    test("several limits at their true values break no more often than one", async () => {
      const { broken } = await simulate([P90, P99, MEAN, THROUGHPUT], runs);
      assert.ok(broken <= 0.05, String(broken));
    });
  });

test("limits that are 10 % away are kept or broken", async () => {
  const runs = drawRuns(0).slice(0, 30);
  for (const [factor, state] of [
    [1.1, "kept"],
    [0.9, "broken"],
  ] as const)
    for (const limit of [P90, MEAN]) {
      const found = await simulate([{ ...limit, limit: factor * limit.limit }], runs);
      assert.equal(found[state].toFixed(3), "1.000", JSON.stringify(found));
    }
});

test("a level that is overloaded breaks its limit although latency grows all the time", async () => {
  let request = 0;
  const state = await resolve([below(percentile(90), 50e6)], () =>
    makeWindow({
      startNs: (request / PER_WINDOW) * 1e9,
      latenciesNs: Array.from({ length: PER_WINDOW }, () => 60e6 + 1e6 * request++),
    }),
  );
  assert.equal(state, "broken");
});

const counts = { completedCount: 0, failedCount: 0, cancelledCount: 0, lastSuccessNs: 0 };

test("an end without a success names failures, if any, and always has its code", () => {
  for (const [change, message] of [
    [{}, "no request succeeded while a level was measured"],
    [{ completedCount: 3, failedCount: 1 }, "no request succeeded while a level was measured"],
    [{ failedCount: 3 }, "all 3 requests failed: "],
  ] as const) {
    const error = explainEnd(new LevelError(), { ...counts, ...change }, new FailureLog());
    assert.deepEqual([error.code, error.message], ["no-valid-requests", message]);
  }
});

test("other errors keep their message", () => {
  const refused = new RunError("refused", "no", "Look.");
  assert.equal(explainEnd(refused, counts, new FailureLog()), refused);
  const wrong = toRunError(userError("missing", "in.json", "is empty", "Fill it."));
  assert.deepEqual([wrong.code, wrong.message], ["unsupported", "in.json: is empty. Fill it."]);
  assert.deepEqual([toRunError(new Error("oops")).code, toRunError("oops").message], ["internal", "oops"]);
});
