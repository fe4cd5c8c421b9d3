import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RepeatPlan } from "../../src/plan/plan.ts";
import type { MetricName } from "../../src/scenario/assertion.ts";
import { extracted, outputTokensPerSec, p50, p99, throughput } from "../../src/scenario/assertions.ts";
import { defineScenario, type Scenario } from "../../src/scenario/define.ts";
import { hold } from "../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../src/scenario/loads/find-max.ts";
import { phase, soak } from "../../src/scenario/loads/phases.ts";
import { rateRamp } from "../../src/scenario/loads/rates.ts";
import type { Repeat } from "../../src/scenario/repeat.ts";
import { triton } from "../../src/scenario/targets/triton.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { assertRefused } from "../plan/refused.ts";

function planOf(repeat: unknown): RepeatPlan | undefined {
  const target = triton("host:1", { model: "m", extract: { tokens: "TOKENS[0]" } });
  const scenario = defineScenario({ name: "x", target, load: hold(1), repeat: repeat as number }) as Scenario;
  return toPlan(scenario, "/").repeat;
}

const p99Latency = { key: "latency", statistic: 99 } as const;

describe("a repetition of runs", () => {
  const plans: readonly (readonly [Repeat<MetricName, string>, RepeatPlan])[] = [
    [5, { atLeast: 5, atMost: 5 }],
    [{ until: p99().within("5 %") }, { atLeast: 3, atMost: 10, until: { metric: p99Latency, ratio: 0.05 } }],
    [
      { atLeast: 2, atMost: 4, until: throughput().within("0.5%") },
      { atLeast: 2, atMost: 4, until: { metric: { key: "throughput" }, ratio: 0.005 } },
    ],
    [
      { until: extracted("tokens").mean().within("10 %") },
      {
        atLeast: 3,
        atMost: 10,
        until: { metric: { key: "extracted", name: "tokens", statistic: "mean" }, ratio: 0.1 },
      },
    ],
  ];
  for (const [repeat, expected] of plans)
    test(`${JSON.stringify(repeat)} is planned`, () => {
      assert.deepEqual(planOf(repeat), expected);
    });

  const mistakes: Readonly<Record<string, readonly [repeat: unknown, path: string, message: RegExp]>> = {
    "one run": [1, "repeat", /must be 2 or more: leave it out for one run/],
    "half a run": [2.5, "repeat", /whole number/],
    "a text": ["5", "repeat", /must be a number of runs, or \{ until/],
    "no precision": [{ atLeast: 3 }, "repeat.until", /is missing/],
    "an assertion": [{ until: p99().below("1 s") }, "repeat.until", /a precision, not a limit/],
    "a number for a percentage": [
      { until: { ...p50().within("5 %"), within: 5 } },
      "repeat.until.within",
      /percentage with its sign/,
    ],
    nothing: [{ until: p50().within("0 %") }, "repeat.until.within", /above 0/],
    "more than the most": [{ atLeast: 20, until: p50().within("5 %") }, "repeat.atLeast", /at least 20 .* at most 10/],
    "less than the least": [{ atMost: 2, until: p50().within("5 %") }, "repeat.atMost", /at least 3 .* at most 2/],
    "another option": [{ runs: 5, until: p50().within("5 %") }, "repeat.runs", /not an option/],
    "due times of a closed loop": [
      { until: p99("scheduledLatency").within("5 %") },
      "repeat.until",
      /needs a load with a schedule/,
    ],
    "tokens of tensors": [{ until: outputTokensPerSec().within("5 %") }, "repeat.until", /not tokens/],
  };
  const first = hold(4, { for: "1 s" });
  const search = findMax({ range: rateRamp(1, 8), where: [p99("latency").below("1 s")] });
  const loads: Readonly<Record<string, unknown>> = {
    "a search": search,
    "several phases": [first, phase("again", first)],
    "a soak test": soak(4, { for: "1 h" }),
  };
  for (const [name, load] of Object.entries(loads))
    test(`repeats ${name}`, () => {
      const target = triton("host:1", { model: "m" });
      const scenario = defineScenario({ name: "x", target, load, repeat: 3 } as never) as Scenario;
      assert.deepEqual(toPlan(scenario, "/").repeat, { atLeast: 3, atMost: 3 });
    });

  test("is precise in the due times of a search by rate", () => {
    const target = triton("host:1", { model: "m" });
    const repeat = { until: p99("scheduledLatency").within("5 %") };
    const plan = toPlan(defineScenario({ name: "x", target, load: search, repeat }) as Scenario, "/");
    assert.deepEqual(plan.repeat?.until?.metric, { ...p99Latency, key: "scheduledLatency" });
  });

  for (const [name, [repeat, path, message]] of Object.entries(mistakes))
    test(`is refused: ${name}`, () => {
      assertRefused(() => planOf(repeat), path, message);
    });
});
