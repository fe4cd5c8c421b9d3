import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { PhasePlan } from "../../src/plan/load-options.ts";
import type { LoadPlan } from "../../src/plan/load-plan.ts";
import { word } from "../../src/plan/messages.ts";
import type { Plan } from "../../src/plan/plan.ts";
import { errorRate, outputTokensPerSec, p99, throughput } from "../../src/scenario/assertions.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { hold, periodic, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { phase, soak, spike, warmup } from "../../src/scenario/loads/phases.ts";
import { rate, rateRamp, rateSteps } from "../../src/scenario/loads/rates.ts";
import { fixedSchedule } from "../../src/scenario/loads/schedules.ts";
import { sessions } from "../../src/scenario/loads/sessions.ts";
import { triton } from "../../src/scenario/targets/triton.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { problemsIn, refusalsIn } from "../plan/refused.ts";

/** Loads of several phases, and assertions that end a run: from the builders to the plan, and what is refused. */

const least = { name: "x", target: triton("host:1", { model: "m" }) };

function planOf(fields: object): Plan {
  return toPlan(defineScenario({ ...least, ...fields } as unknown as Parameters<typeof defineScenario>[0]), "/folder");
}

const concurrency = (...values: number[]): LoadPlan => ({
  ...{ kind: "concurrency", levels: { kind: "list", values }, search: "linear" },
});
const perSec = (...values: number[]): LoadPlan => ({
  ...{ kind: "request-rate", levels: { kind: "list", values }, search: "linear", distribution: "constant", seed: 0 },
});
const during = (durationMs: number) => ({ kind: "duration", durationMs }) as const;

const plans: readonly (readonly [name: string, load: unknown, phases: readonly PhasePlan[]])[] = [
  [
    "a list",
    [warmup("10 s", hold(4)), ramp(1, 64, { over: "1 min" }), hold(64, { for: "5 min" }), rateSteps([5, 9])],
    [
      { load: concurrency(4), mode: during(10_000), isWarmup: true },
      { load: { kind: "concurrency-ramp", start: 1, end: 64, overMs: 60_000 }, mode: during(60_000) },
      { load: concurrency(64), mode: during(300_000) },
      { load: perSec(5, 9) },
    ],
  ],
  [
    "a list of one, with a number of requests",
    [steps([1, 2], { requests: 50 })],
    [{ load: concurrency(1, 2), mode: { kind: "requests", count: 50 } }],
  ],
  [
    "names, and a warm-up by requests",
    [
      warmup({ requests: 10 }, rate(5)),
      phase("busy", hold(8, { for: "1 s" })),
      phase("night", soak(2, { for: "1 h" })),
    ],
    [
      { load: perSec(5), mode: { kind: "requests", count: 10 }, isWarmup: true },
      { name: "busy", load: concurrency(8), mode: during(1000) },
      { name: "night", load: concurrency(2), mode: during(3_600_000), drift: { maxRatio: 0.1 } },
    ],
  ],
  [
    "a soak on its own",
    soak(rate(20), { for: "4 h", maxDrift: "5 %" }),
    [{ name: "soak", load: perSec(20), mode: during(14_400_000), drift: { maxRatio: 0.05 } }],
  ],
  [
    "a spike after something else compares with its own base",
    [hold(1, { for: "1 s" }), spike({ base: rate(5), peak: 64, at: "1 min", for: "10 s", recoverWithin: "30 s" })],
    [
      { load: concurrency(1), mode: during(1000) },
      { name: "base", load: perSec(5), mode: during(60_000) },
      { name: "peak", load: concurrency(64), mode: during(10_000) },
      {
        ...{ name: "recovery", load: perSec(5), mode: during(60_000) },
        recovery: { baseIndex: 1, withinRatio: 0.2, limitMs: 30_000 },
      },
    ],
  ],
];

describe("a load of several phases becomes plain data", () => {
  for (const [name, load, phases] of plans)
    test(name, () => {
      const plan = planOf({ load });
      assert.deepEqual(plan.load, { kind: "phases", phases });
      assert.deepEqual(JSON.parse(JSON.stringify(plan.load)), plan.load);
      assert.equal(plan.measurement.mode.kind, "time-windows");
      const isScheduled = phases.some((one) => one.load.kind === "request-rate");
      assert.equal(plan.client.callMode, isScheduled ? "async" : "auto");
    });
});

const problemsOf = (fields: object): string[] => refusalsIn(() => planOf(fields));

const as = (value: unknown): never => value as never;

const mistakes: readonly (readonly [name: string, fields: object, problems: readonly RegExp[]])[] = [
  [
    "all of a list at once",
    { load: [hold(0 as number), hold(1, { for: as("5") }), as({}), ramp(5, 1), rate(1, { smoothness: as(1) })] },
    [/^load\.0\.concurrency: must be 1 or more/, /^load\.1\.for: must be a duration/, /^load\.2: must be ramp/],
  ],
  [
    "rules of each load, by its place",
    { load: [ramp(5, 1), hold(1, as({ for: "1 s", requests: 5 })), rate(1, as({ smoothness: 1 }))] },
    [
      /^load\.0: a ramp over levels cannot fall/,
      /^load\.1\.requests: cannot be given/,
      /^load\.2\.smoothness: belongs/,
    ],
  ],
  ["an empty list", { load: [] }, [/^load: must have a load/]],
  ["only a warm-up", { load: [warmup("1 s", hold(1))] }, [/^load\.0: is a warm-up after which nothing is measured/]],
  ["a warm-up on its own", { load: warmup("1 s", hold(1)) }, [/^load: is a warm-up after/]],
  [
    "a warm-up at the end",
    { load: [hold(1, { for: "1 s" }), warmup("1 s", hold(1))] },
    [/^load\.1: is a warm-up after/],
  ],
  [
    "lengths inside of a length",
    { load: [warmup("1 s", hold(1, { for: "2 s" })), soak(ramp(1, 5, { over: "1 s" }), { for: "1 s" })] },
    [/^load\.0\.load\.for: has no effect here/, /^load\.1\.load\.over: has no effect here/],
  ],
  [
    "loads that are not steady",
    {
      load: [soak(steps([1, 2]), { for: "1 s" }), spike({ base: rateRamp(1, 2), peak: 1, at: "1 s", for: "1 s" })],
    },
    [/^load\.0\.load: must be one steady load/, /^load\.1\.base: must be one steady load/],
  ],
  [
    "several levels in a soak",
    { load: soak(rateSteps([1, 2]), { for: "1 s" }) },
    [/^load\.load: must be one steady load/],
  ],
  [
    "loads that end by themselves",
    { load: [fixedSchedule(), periodic(1, 2), sessions(1)] },
    [/^load\.0: has an end/, /^load\.1: has an end/, /^load\.2: has an end/],
  ],
  ["a warm-up without a length", { load: [warmup(as({}), hold(1)), hold(1)] }, [/^load\.0: needs a duration or/]],
  ["a nameless phase", { load: [phase("", hold(1))] }, [/^load\.0\.name: must be a name/]],
  [
    "names of what has names",
    { load: [phase("a", spike({ base: 1, peak: 2, at: "1 s", for: "1 s" })), phase("b", phase("c", hold(1)))] },
    [/^load\.0\.load: is several phases/, /^load\.1\.load: has a name already/],
  ],
  [
    "options of a spike",
    { load: spike(as({ base: 0, peak: hold(2), at: 5, for: "1 s", witihn: 1 })) },
    [/^load\.witihn: is not an option/, /^load\.base\.concurrency: must be 1/, /^load\.at: must be a duration/],
  ],
  [
    "fields for a single load",
    { load: [hold(1)], warmupRequests: 5, warmupFor: "1 s", latencyLimit: "1 s" },
    [/^warmupRequests: has no meaning/, /^warmupFor: has no meaning/, /^latencyLimit: has no meaning/],
  ],
  [
    "scheduled latency when only the warm-up has a schedule",
    { load: [warmup("1 s", rate(1)), hold(1)], assert: [p99("scheduledLatency").below("1 s")] },
    [/^assert\.0: scheduledLatency needs a load with a schedule/],
  ],
  [
    "phases that the load does not measure",
    {
      load: [warmup("1 s", hold(1)), phase("busy", hold(4, { for: "1 s" }))],
      assert: [
        p99().where({ phase: "warm-up" }).below("1 s"),
        p99().where({ phase: "bussy" }).below("1 s"),
        p99().where({ phase: "busy" }).below("1 s"),
      ],
    },
    [/^assert\.0: .*no phase of this name/, /^assert\.1: .*no phase of this name/],
  ],
  [
    "a bare time to abort",
    { load: hold(1), assert: [p99().below("1 s").abortAfter(as(5))] },
    [/^assert\.0\.abortAfter: must be a duration/],
  ],
];

describe("mistakes are reported by their place in the scenario", () => {
  for (const [name, fields, expected] of mistakes)
    test(name, () => {
      const problems = problemsOf(fields);
      assert.equal(problems.length, expected.length, problems.join("\n"));
      for (const pattern of expected)
        assert.ok(
          problems.some((text) => pattern.test(text)),
          `${pattern}\n${problems.join("\n")}`,
        );
    });
});

describe("an assertion that may end the run", () => {
  test("is plain data in the plan", () => {
    const assertions = [
      p99().below("1 s").abortAfter("10 s"),
      errorRate().is(0),
      throughput().above(5).abortAfter("500 ms"),
    ];
    assert.deepEqual(
      planOf({ load: hold(1), assert: assertions }).assertions.map(({ abortAfterMs }) => abortAfterMs),
      [10_000, undefined, 500],
    );
    // The builder's method is no part of the data.
    assert.deepEqual(Object.keys(errorRate().is(0)), ["metric", "comparison", "limit"]);
  });

  test("can name a phase, beside tags", () => {
    const load = [phase("busy", hold(1, { for: "1 s" })), hold(2, { for: "1 s" })];
    const assertions = [
      p99().where({ phase: "busy", length: "long" }).below("1 s"),
      errorRate().where({ phase: "busy" }).is(0),
    ];
    assert.deepEqual(
      planOf({ load, tags: { length: "long" }, assert: assertions }).assertions.map(({ phase, where }) => [
        phase,
        where,
      ]),
      [
        ["busy", { length: "long" }],
        ["busy", undefined],
      ],
    );
  });

  test("of a phase that is not there says which there are", () => {
    const hintOf = (load: unknown) =>
      word(problemsIn(() => planOf({ load, assert: [p99().where({ phase: "bussy" }).below("1 s")] }))[0]?.hint ?? "");
    const phases = [phase("busy", hold(1, { for: "1 s" })), hold(2, { for: "1 s" })];
    assert.equal(hintOf(phases), "The measured phases are busy, concurrency 2.");
    assert.equal(hintOf(hold(1)), 'Make the load a list, with phase("name", load).');
  });

  test("on a tag needs a tag that is not called phase", () => {
    const problems = problemsOf({ load: hold(1), tags: { phase: "decode" } });
    assert.deepEqual(problems, ['tags: must have no "phase", which names the phases of a load']);
  });

  test("of tokens needs a target whose tokens are measured", () => {
    const problems = problemsOf({ load: hold(1), assert: [outputTokensPerSec().above(1).abortAfter("1 s")] });
    assert.ok(
      problems.some((text) => /^assert\.0: .*not tokens/.test(text)),
      problems.join("\n"),
    );
  });
});
