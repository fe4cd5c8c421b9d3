import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { type Problem, UserError } from "../../../src/plan/problem.ts";
import { errorRate, type MetricLimits, p99, percentile } from "../../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../../src/scenario/define.ts";
import { hold, ramp, steps } from "../../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../../src/scenario/loads/find-max.ts";
import { phase } from "../../../src/scenario/loads/phases.ts";
import { rate, rateSteps } from "../../../src/scenario/loads/rates.ts";
import { fixedSchedule } from "../../../src/scenario/loads/schedules.ts";
import { mix } from "../../../src/scenario/mix.ts";
import { prompts } from "../../../src/scenario/prompts.ts";
import { embedded } from "../../../src/scenario/targets/embedded.ts";
import { triton } from "../../../src/scenario/targets/triton.ts";
import { toPlan } from "../../../src/scenario/to-plan.ts";
import { untyped } from "../untyped.ts";

/** How the message about a mistake in a scenario says what to write instead. */

function problemOf(change: Record<string, unknown>): Problem {
  const definition = { name: "x", target: triton("host:1", { model: "m" }), load: hold(1), ...change };
  try {
    toPlan(untyped(defineScenario)(definition) as Scenario, "/folder");
  } catch (error) {
    if (error instanceof UserError && error.problems[0] !== undefined) return error.problems[0];
    throw error;
  }
  throw new Error("the scenario is valid");
}

const [anyHold, anyRate, anyTriton] = [untyped(hold), untyped(rate), untyped(triton)];
const limit = (value: unknown) => untyped(p99().below)(value);

const belowOneSec = (metric: unknown): unknown => (metric as MetricLimits<"latency">).below("1 s");
const KNEE = 'until: "knee" in steps(…), ramp(…), rateSteps(…) or rateRamp(…)';
const HALF = { isl: 1, osl: 2, share: "50 %" };

const HINTS: readonly (readonly [change: Record<string, unknown>, hint: string])[] = [
  [{ load: anyHold(1, { for: "1 sec" }) }, 'Write "1 s".'],
  [{ load: anyHold(1, { for: "5 mins" }) }, 'Write "5 min".'],
  [{ maxErrorRate: 0.01 }, 'Write "1 %".'],
  [{ maxErrorRate: 5 }, 'Write "5 %".'],
  [{ maxErrorRate: "5" }, 'Write "5 %".'],
  [{ maxErrorRate: -1 }, ""],
  [{ stability: { within: 10 } }, 'Write "10 %".'],
  [{ assert: [untyped(errorRate().below)(1)] }, 'Write "1 %".'],
  [{ maxFailureRatio: 0.1 }, 'Write maxErrorRate: "1 %".'],
  [{ requestTimeout: "1 s" }, 'Write timeout: "30 s".'],
  [{ cancel: { share: "5 %", percent: 5 } }, 'Write share: "5 %".'],
  [{ stability: { percent: 5 } }, 'Write within: "10 %".'],
  [{ serverTrace: { rate: 5 } }, "Write oneIn: 10."],
  [{ target: untyped(embedded)({ errorRatio: 0.1 }) }, 'Write errorRate: "1 %".'],
  [{ inputs: untyped(prompts)({ mix: [] }) }, 'Write lengths: [{ isl: 100, osl: 20, share: "100 %" }].'],
  [{ thresholds: {} }, 'Write assert: [p99("latency").below("50 ms")].'],
  [{ load: anyHold(1, { for: "1,5 Minutes" }) }, 'Write "1.5 min".'],
  [{ load: anyHold(1, { for: 10 }) }, 'Add the unit: "10 s" or "10 ms".'],
  [{ load: anyHold(1, { for: "soon" }) }, "The units are us, ms, s, min and h."],
  [{ stability: { window: "200 msec" } }, 'Write "200 ms".'],
  [{ assert: [limit("2 seconds")] }, 'Write "2 s".'],
  [{ load: anyRate(1, { distribution: "possion" }) }, 'Did you mean "poisson"?'],
  [{ target: anyTriton("h:1", { model: "m", protocol: "GRPC" }) }, 'Did you mean "grpc"?'],
  [{ assert: [(untyped(p99)("latancy") as MetricLimits<"latency">).below("1 s")] }, 'Did you mean "latency"?'],
  [
    { assert: [(untyped(p99)("timeToFirstTokn") as MetricLimits<"latency">).below("1 s")] },
    'Did you mean "timeToFirstToken"?',
  ],
  [{ assert: p99().below("1 s") }, "Put it in brackets: [ … ]."],
  [{ client: "quic" }, ""],
  [{ load: anyHold(0) }, "Write 1 or a larger number."],
  [{ load: anyHold(1.5) }, "Write 1 or 2."],
  [{ load: anyHold(0.5) }, "Write 1 or a larger number."],
  [{ load: anyRate(0) }, "Write a larger number, such as 1."],
  [{ load: anyHold(1, { for: "0 s" }) }, 'Write a longer time, such as "1 s".'],
  [{ load: [] }, 'Write load: hold(16, { for: "30 s" }).'],
  [{ load: anyRate(5, { until: "knee" }) }, `Write ${KNEE}, the only load.`],
  [{ load: [anyHold(5, { until: "knee" })] }, `Write ${KNEE}, the only load.`],
  [{ load: untyped(findMax)({ range: ramp(1, 2), limits: [] }) }, 'Write where: p99("latency").below("50 ms").'],
  [{ maxErrorRate: "200 %" }, 'Write "100 %" or less.'],
  [{ stability: { within: "0 %" } }, 'Write a larger share, such as "1 %".'],
  [{ assert: [untyped(percentile)(100, "latency")].map(belowOneSec) }, "Use max(…), the largest value."],
  [{ target: untyped(mix)([{ name: "a", target: embedded() }]) }, "Add a target, or use the only one without mix."],
  [{ inputs: untyped(prompts)({ lengths: [HALF] }) }, "Change the shares, which add up to 50 %."],
  [{ load: anyHold(1, { for: "-1 s" }) }, 'Write "1 s".'],
  [{ load: anyHold(Number.NaN) }, 'Write it like hold(16, { for: "30 s" }).'],
  [{ target: "localhost:8001" }, 'Write triton("localhost:8001", { model: "NAME" }).'],
  [{ target: anyTriton("h:1", { model: "m", streaming: "Yes", protocol: "grpc" }) }, "Write true."],
  [{ target: anyTriton("h:1", { model: "m", headers: ["A: b"] }) }, "Write { NAME: … }."],
  [{ cancel: { share: "200 %" } }, 'Write "100 %" or less.'],
  [{ load: anyHold(2, { thinkTime: { mean: 1 } }) }, 'Write { mean: "3 s", stddev: "1 s" }.'],
];

describe("the hint about a mistake in a scenario", () => {
  for (const [change, hint] of HINTS)
    test(`${JSON.stringify(change)}: ${hint}`, () => assert.equal(problemOf(change).hint, hint));
});

test("a number that breaks two rules is one mistake", () => {
  const load = anyHold(1, { requests: Number.POSITIVE_INFINITY });
  const definition = { name: "x", target: embedded(), load };
  const said = (error: unknown): boolean =>
    error instanceof UserError && error.problems.length === 1 && error.message.includes("must be a whole number");
  assert.throws(() => toPlan(untyped(defineScenario)(definition) as Scenario, "/folder"), said);
});

describe("the value in a message about a mistake", () => {
  test("names what a builder returned, not its members", () => {
    assert.equal(problemOf({ assert: p99().below("1 s") }).value, "one assertion");
    assert.equal(problemOf({ assert: [p99()] }).value, "a metric without its limit");
    assert.equal(problemOf({ load: untyped(phase)("a", [hold(1), ramp(1, 2)]) }).value, "[hold(…), ramp(…)]");
    const where = [p99().below("1 s")];
    const search = findMax({ range: ramp(1, 2), where });
    assert.equal(problemOf({ load: [hold(1, { for: "1 s" }), search] }).value, "findMax(…)");
    assert.equal(problemOf({ load: [fixedSchedule()] }).value, "fixedSchedule(…)");
    assert.equal(problemOf({ load: untyped(findMax)({ range: search, where }) }).value, "findMax(…)");
  });
});

describe("arguments of loads have their names", () => {
  const CASES: readonly (readonly [load: unknown, path: string])[] = [
    [hold(0 as number), "load.concurrency"],
    [ramp(0, 4), "load.from"],
    [ramp(1, 0), "load.to"],
    [steps([1, 0]), "load.levels.1"],
    [rate(0 as number), "load.perSec"],
    [rateSteps([1, 0]), "load.perSec.1"],
    [[hold(1, { for: "1 s" }), hold(0 as number, { for: "1 s" })], "load.1.concurrency"],
  ];
  for (const [load, path] of CASES) test(path, () => assert.equal(problemOf({ load }).path, path));
});
