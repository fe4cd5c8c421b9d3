import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  announceTime,
  type ExpectedTime,
  expectedTimeOf,
  formatDryRun,
  type LoadNotation,
} from "../../src/cli/expected-time.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { p99 } from "../../src/scenario/assertions.ts";
import { defineScenario, type ScenarioDefinition } from "../../src/scenario/define.ts";
import { hold, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../src/scenario/loads/find-max.ts";
import { mlperf } from "../../src/scenario/loads/mlperf.ts";
import { rateRamp } from "../../src/scenario/loads/rates.ts";
import { embedded } from "../../src/scenario/targets/embedded.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";

/** How long a run is expected to take is said before it starts, when that is long or the load is a staircase. */

function planOf(load: ScenarioDefinition["load"], change: Partial<ScenarioDefinition> = {}): Plan {
  return toPlan(defineScenario({ name: "x", target: embedded(), load, ...change }), "/");
}

function announced(plan: Plan, notation: LoadNotation = "code"): string {
  const texts: string[] = [];
  announceTime(plan, notation, { err: (text) => void texts.push(text) });
  return texts.join("");
}

describe("announced before it starts is", () => {
  const cases: readonly (readonly [name: string, plan: Plan, expected: string])[] = [
    [
      "a staircase, with three shorter forms",
      planOf(ramp(1, 50)),
      "  expected to take 15 min to 50 min (50 levels of 18 s to 1 min); shorter:\n" +
        "    ramp(1, 50, { step: 7 })\n" +
        '    ramp(1, 50, { for: "10 s" })\n' +
        '    ramp(1, 50, { over: "2 min" })\n',
    ],
    [
      "a short staircase, which has no fewer levels",
      planOf(ramp(1, 4)),
      "  expected to take 1 min 12 s to 4 min (4 levels of 18 s to 1 min); shorter:\n" +
        '    ramp(1, 4, { for: "10 s" })\n' +
        "    ramp(1, 4, { requests: 1000 })\n" +
        '    ramp(1, 4, { over: "2 min" })\n',
    ],
    [
      "a staircase in a list of phases",
      planOf([ramp(1, 50)]),
      "  expected to take 15 min to 50 min (one phase); shorter:\n" +
        "    ramp(1, 50, { step: 7 })\n" +
        '    ramp(1, 50, { for: "10 s" })\n' +
        '    ramp(1, 50, { over: "2 min" })\n',
    ],
    [
      "a staircase of rates",
      planOf(rateRamp(0, 100)),
      "  expected to take 30 min to 1 h 40 min (100 levels of 18 s to 1 min); shorter:\n" +
        "    rateRamp(0, 100, { step: 15 })\n" +
        '    rateRamp(0, 100, { for: "10 s" })\n' +
        '    rateRamp(0, 100, { over: "2 min" })\n',
    ],
    [
      "a staircase of rates that does not begin at 0",
      planOf(rateRamp(1, 100, { step: 1 })),
      "  expected to take 30 min to 1 h 40 min (100 levels of 18 s to 1 min); shorter:\n" +
        "    rateRamp(1, 100, { step: 15 })\n" +
        '    rateRamp(1, 100, { for: "10 s" })\n' +
        '    rateRamp(1, 100, { over: "2 min" })\n',
    ],
    ["a long hold", planOf(hold(4, { for: "10 min" })), "  expected to take about 10 min (1 level of 10 min)\n"],
    [
      "a long list of levels",
      planOf(steps([1, 2, 4, 8, 16, 32])),
      "  expected to take 1 min 48 s to 6 min (6 levels of 18 s to 1 min)\n",
    ],
    [
      "a run that is repeated",
      planOf(hold(4, { for: "2 min" }), { repeat: 3 }),
      "  expected to take about 6 min (3 runs of 1 level of 2 min)\n",
    ],
    ["MLPerf's length", planOf(mlperf.offline()), "  expected to take about 10 min (1 level of 10 min)\n"],
    [
      "phases that are long together",
      planOf([hold(1, { for: "3 min" }), hold(2, { for: "4 min" })]),
      "  expected to take about 7 min (2 phases)\n",
    ],
  ];
  for (const [name, plan, expected] of cases) test(name, () => assert.equal(announced(plan), expected));

  test("nothing for a run of 5 min or less, and for one of unknown length", () => {
    for (const load of [
      hold(4, { for: "5 min" }),
      hold(4),
      ramp(1, 50, { for: "5 s" }),
      ramp(1, 50, { over: "2 min" }),
      steps([1, 2]),
      hold(4, { requests: 1e6 }),
    ])
      assert.equal(announced(planOf(load)), "");
  });
});

test("a scenario in YAML has the shorter forms as YAML", () => {
  const { shorter } = expectedTimeOf(planOf(ramp(1, 50)), "data") as ExpectedTime;
  assert.deepEqual(shorter, [
    "ramp: { from: 1, to: 50, step: 7 }",
    "ramp: { from: 1, to: 50, for: 10 s }",
    "ramp: { from: 1, to: 50, over: 2 min }",
  ]);
});

test("a search among levels takes each of them at most", () => {
  const search = findMax({ range: steps([1, 2, 4]), where: [p99().below("1 s")], settle: "1 s" });
  assert.equal(expectedTimeOf(planOf(search), "code")?.mostMs, 3 * 31_000);
});

test("--dry-run has the time in its JSON, beside the plan", () => {
  const plan = planOf(hold(4, { for: "2 s" }));
  const { expectedTime, ...rest } = JSON.parse(formatDryRun(plan, "code")) as Plan & { expectedTime: ExpectedTime };
  assert.deepEqual(expectedTime, { leastMs: 3000, mostMs: 3000, parts: "1 level of 2 s and a warm-up" });
  assert.deepEqual(rest, JSON.parse(JSON.stringify(plan)));
});
