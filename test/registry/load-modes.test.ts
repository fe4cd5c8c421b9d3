import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Drive } from "../../src/load/drive.ts";
import { meanOfRuns } from "../../src/measure/intervals/over-runs.ts";
import type { LoadPlan } from "../../src/plan/load-plan.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { isDrawn, planOfRun, prepareLoad } from "../../src/registry/load-modes.ts";
import { p99 } from "../../src/scenario/assertions.ts";
import { defineScenario, type ScenarioDefinition } from "../../src/scenario/define.ts";
import { hold } from "../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../src/scenario/loads/find-max.ts";
import { server } from "../../src/scenario/loads/mlperf.ts";
import { rate, rateRamp } from "../../src/scenario/loads/rates.ts";
import { mix } from "../../src/scenario/mix.ts";
import { prompts } from "../../src/scenario/prompts.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { embeddedLlm } from "../../src/scenario/targets/llm.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";

/** Every run, level and phase draws what it sends and when, and one seed repeats them all. */

const planOf = (definition: Partial<ScenarioDefinition>): Plan =>
  toPlan(defineScenario({ name: "x", target: embedded(), load: hold(1), ...definition } as ScenarioDefinition), "/");

const PER_SEC = 80;
const SECONDS = 2;

/** Returns the number of requests that are due in the first seconds. */
function countDue(drive: Drive): number {
  assert.ok(drive.kind === "scheduled");
  let count = 0;
  while (drive.arrivals() < SECONDS * 1e9) count++;
  return count;
}

const countAt = (load: LoadPlan, level = PER_SEC, draw = 0): number =>
  countDue(prepareLoad(load).drive(level, [], draw));

/**
 * Checks counts of a Poisson process: the variance between them is their mean, so that runs vary as much as each one says of itself, and one
 * says nothing of the next. Both within 4 standard errors.
 */
function assertIndependent(counts: readonly number[]): void {
  const { mean, variance = 0 } = meanOfRuns(counts);
  const error = Math.sqrt(2 / (counts.length - 1));
  assert.ok(Math.abs(mean / (PER_SEC * SECONDS) - 1) < 4 / Math.sqrt(PER_SEC * SECONDS * counts.length), `${mean}`);
  assert.ok(Math.abs(variance / mean - 1) < 4 * error, `between over within: ${variance / mean}`);
  const together = counts
    .slice(1)
    .reduce((sum, count, index) => sum + (count - mean) * ((counts[index] ?? 0) - mean), 0);
  const correlation = together / (variance * (counts.length - 1));
  assert.ok(Math.abs(correlation) < 4 / Math.sqrt(counts.length), `correlation of neighbours: ${correlation}`);
}

const RUNS = Array.from({ length: 400 }, (_, index) => index + 1);
const POISSON = rate(PER_SEC, { distribution: "poisson", for: "2 s" });

describe("between-run variance of Poisson counts is that within a run", () => {
  for (const seed of [undefined, 1, 2, 12_345])
    test(`of 400 runs with seed ${seed}`, () => {
      const plan = planOf({ load: POISSON, ...(seed === undefined ? {} : { seed }) });
      const countsOf = (): number[] => RUNS.map((run) => countAt(planOfRun(plan, run).load));
      assertIndependent(countsOf());
      assert.deepEqual(countsOf(), countsOf());
    });

  test("of MLPerf's server, phases, and seeds in a row", () => {
    const ofServer = planOf({ load: server(PER_SEC, { latency: "1 s" }) });
    // LoadGen's first request is due at the start.
    assertIndependent(RUNS.map((run) => countAt(planOfRun(ofServer, run).load) - 1));
    assertIndependent(RUNS.map((seed) => countAt(planOfRun(planOf({ load: POISSON, seed }), 1).load)));
    const phases = planOf({ load: RUNS.map(() => POISSON) as unknown as typeof POISSON });
    const prepared = prepareLoad(phases.load).phases ?? [];
    assertIndependent(prepared.map(({ load }) => countDue(load.drive(PER_SEC, [], 0))));
  });

  test("of the measurements of a search, also of one level", () => {
    const over = rateRamp(1, 100, { distribution: "poisson" });
    const { load } = planOf({ load: findMax({ range: over, where: [p99("latency").below("1 s")] }) });
    assertIndependent(RUNS.map((draw) => countAt(load, PER_SEC, draw)));
  });
});

test("the first run draws as the parts of the plan say, and a root seed changes all of them", () => {
  const target = embeddedLlm({ timeToFirstToken: "exponential:5ms", tokenizer: "x.json" });
  const plan = planOf({
    target,
    load: rate(10, { distribution: "poisson", for: "1 s", seed: 7 }),
    inputs: prompts({ isl: 10, seed: 3 }),
    cancel: { share: "10 %", seed: 5 },
  } as never);
  assert.equal(planOfRun(plan, 1), plan);
  const [again, other, rooted] = [planOfRun(plan, 2), planOfRun(plan, 3), planOfRun({ ...plan, seed: 9 }, 1)];
  assert.deepEqual(planOfRun(plan, 2), again);
  // The seed of a run repeats it alone.
  assert.deepEqual(planOfRun({ ...plan, ...(again.seed === undefined ? {} : { seed: again.seed }) }, 1), again);
  for (const pick of [
    (one: Plan) => one.seed,
    (one: Plan) => "seed" in one.load && one.load.seed,
    (one: Plan) => "seed" in one.inputs && one.inputs.seed,
    (one: Plan) => one.cancellation?.seed,
    (one: Plan) => "mock" in one.target && one.target.mock.seed,
  ])
    assert.equal(new Set([plan, again, other, rooted].map(pick)).size, 4);
});

test("the members of a mix draw on their own, and evenly spaced requests of fixed data are not drawn", () => {
  const target = mix([
    { name: "a", target: embedded({ latency: "exponential:5ms" }) },
    { name: "b", target: embedded({ latency: "exponential:5ms" }) },
  ]);
  const mixed = planOfRun(planOf({ target }), 1).target;
  assert.ok("members" in mixed);
  const seeds = mixed.members.map((member) => "mock" in member.target && (member.target.mock.seed ?? 0));
  assert.equal(seeds[0], 0);
  assert.notEqual(seeds[1], 0);
  const isOf = (load: ScenarioDefinition["load"]): boolean => isDrawn(planOf({ target, load }));
  assert.deepEqual([hold(1), rate(10, { for: "1 s" }), POISSON].map(isOf), [false, false, true]);
});
