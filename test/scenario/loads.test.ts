import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { safeParse } from "valibot";
import type { LoadPlan } from "../../src/plan/load-plan.ts";
import { word } from "../../src/plan/messages.ts";
import type { MeasurementModePlan, Plan } from "../../src/plan/plan.ts";
import type { UserError } from "../../src/plan/problem.ts";
import { loadModeOf } from "../../src/registry/load-modes.ts";
import { p99 } from "../../src/scenario/assertions.ts";
import { defineScenario } from "../../src/scenario/define.ts";
import { DURATION_RULE } from "../../src/scenario/fields.ts";
import { json } from "../../src/scenario/inputs.ts";
import { hold, periodic, ramp, steps } from "../../src/scenario/loads/concurrency.ts";
import { findMax } from "../../src/scenario/loads/find-max.ts";
import type { Load, LoadKind, LoadPlace } from "../../src/scenario/loads/load.ts";
import { mlperf } from "../../src/scenario/loads/mlperf.ts";
import { soak, spike, warmup } from "../../src/scenario/loads/phases.ts";
import { rate, rateRamp, rateSteps } from "../../src/scenario/loads/rates.ts";
import { fixedSchedule } from "../../src/scenario/loads/schedules.ts";
import { sessionRate, sessions } from "../../src/scenario/loads/sessions.ts";
import { convertLoads, loadsSchema } from "../../src/scenario/loads/table.ts";
import { triton } from "../../src/scenario/targets/triton.ts";
import { toPlan } from "../../src/scenario/to-plan.ts";
import { assertRefused } from "../plan/refused.ts";

/** Loads that change with time, wait, or send a part: from the builder's options to the plan, and what is refused. */

type AnyLoad = Load<LoadKind, LoadPlace>;

function planOf(load: AnyLoad): Plan {
  const target = triton("host:1", { model: "m" });
  return toPlan(defineScenario({ name: "x", target, load, inputs: json("a.json") }), "/folder");
}

const LIMIT = [p99("latency").below("25 ms")];
const SEARCH: MeasurementModePlan = { kind: "until-resolved", windowMs: 1000, maxMs: 30_000, withinRatio: 0.1 };
const STABLE: MeasurementModePlan = { kind: "time-windows", windowMs: 5000, stabilityPct: 10, maxTrials: 10 };
const LINEAR = { search: "linear" } as const;
const list = (...values: number[]) => ({ kind: "list", values }) as const;
const part = (change: object) => ({ startMs: null, endMs: null, startsAtFirst: false, speedRatio: 1, ...change });

const plans: readonly (readonly [name: string, load: AnyLoad, expected: LoadPlan, mode: MeasurementModePlan])[] = [
  [
    "concurrency reached step by step",
    hold(16, { rampUp: "10 s", requests: 100 }),
    { kind: "concurrency", levels: list(16), ...LINEAR, rampMs: 10_000 },
    { kind: "requests", count: 100 },
  ],
  [
    "a rate reached step by step",
    rate(100, { rampUp: "500 ms" }),
    {
      ...{ kind: "request-rate", levels: list(100), ...LINEAR, distribution: "constant", seed: 0 },
      ramp: { fromPerSec: 0, overMs: 500 },
    },
    STABLE,
  ],
  [
    "gamma gaps with a limit",
    rateSteps([5, 9], { distribution: "gamma", smoothness: 0.5, seed: 7, concurrencyLimit: 3 }),
    {
      ...{ kind: "request-rate", levels: list(5, 9), ...LINEAR, distribution: "gamma", seed: 7 },
      ...{ smoothness: 0.5, maxOutstanding: 3 },
    },
    STABLE,
  ],
  [
    "a ramp from rate to rate",
    rateRamp(10, 500, { over: "2 min", distribution: "poisson", concurrencyLimit: 9 }),
    {
      ...{ kind: "request-rate", levels: list(500), ...LINEAR, distribution: "poisson", seed: 0, maxOutstanding: 9 },
      ramp: { fromPerSec: 10, overMs: 120_000 },
    },
    { kind: "duration", durationMs: 120_000 },
  ],
  [
    "a ramp of rates that falls",
    rateRamp(500, 0.5, { over: "1 s" }),
    {
      ...{ kind: "request-rate", levels: list(0.5), ...LINEAR, distribution: "constant", seed: 0 },
      ramp: { fromPerSec: 500, overMs: 1000 },
    },
    { kind: "duration", durationMs: 1000 },
  ],
  [
    "a ramp of rates from 0",
    rateRamp(0, 100, { over: "1m" }),
    {
      ...{ kind: "request-rate", levels: list(100), ...LINEAR, distribution: "constant", seed: 0 },
      ramp: { fromPerSec: 0, overMs: 60_000 },
    },
    { kind: "duration", durationMs: 60_000 },
  ],
  [
    "a ramp of rates to 0",
    rateRamp(100, 0, { over: "1m" }),
    {
      ...{ kind: "request-rate", levels: list(0), ...LINEAR, distribution: "constant", seed: 0 },
      ramp: { fromPerSec: 100, overMs: 60_000 },
    },
    { kind: "duration", durationMs: 60_000 },
  ],
  [
    "a ramp from 0",
    ramp(0, 10, { over: "1 s" }),
    { kind: "concurrency-ramp", start: 0, end: 10, overMs: 1000 },
    { kind: "duration", durationMs: 1000 },
  ],
  [
    "a ramp of users up to the knee",
    ramp(1, 50, { step: 7, until: "knee" }),
    { kind: "concurrency", levels: { kind: "range", start: 1, end: 50, step: 7 }, search: "knee" },
    STABLE,
  ],
  [
    "rates up to the knee",
    rateSteps([5, 9], { until: "knee", for: "1 s" }),
    { kind: "request-rate", levels: list(5, 9), search: "knee", distribution: "constant", seed: 0 },
    { kind: "duration", durationMs: 1000 },
  ],
  [
    "a ramp of rates up to the knee",
    rateRamp(0, 50, { step: 10, until: "knee" }),
    {
      ...{ kind: "request-rate", levels: { kind: "range", start: 10, isFromZero: true, end: 50, step: 10 } },
      ...{ search: "knee", distribution: "constant", seed: 0 },
    },
    STABLE,
  ],
  [
    "rates one by one, from the first step above 0",
    rateRamp(0, 100),
    {
      ...{ kind: "request-rate", levels: { kind: "range", start: 1, isFromZero: true, end: 100, step: 1 }, ...LINEAR },
      ...{ distribution: "constant", seed: 0 },
    },
    STABLE,
  ],
  [
    "rates in steps",
    rateRamp(10, 50, { step: 20, for: "1m30s", distribution: "poisson" }),
    {
      ...{ kind: "request-rate", levels: { kind: "range", start: 10, end: 50, step: 20 }, ...LINEAR },
      ...{ distribution: "poisson", seed: 0 },
    },
    { kind: "duration", durationMs: 90_000 },
  ],
  [
    "a search between two concurrencies",
    findMax({ range: ramp(1, 8), where: LIMIT }),
    { kind: "concurrency", levels: { kind: "range", start: 1, end: 8, step: 1 }, search: "highest" },
    SEARCH,
  ],
  [
    "a search without a range, by one limit",
    findMax({ where: p99("latency").below("25 ms") }),
    { kind: "concurrency", levels: { kind: "range", start: 1, end: 512, step: 1 }, search: "highest" },
    SEARCH,
  ],
  [
    "a search among concurrencies",
    findMax({ range: steps([1, 4, 16]), where: LIMIT }),
    { kind: "concurrency", levels: list(1, 4, 16), search: "highest" },
    SEARCH,
  ],
  [
    "a search among concurrencies in steps",
    findMax({ range: ramp(1, 8, { step: 3 }), where: LIMIT }),
    { kind: "concurrency", levels: list(1, 4, 7), search: "highest" },
    SEARCH,
  ],
  [
    "a search between two rates",
    findMax({ range: rateRamp(10, 500, { distribution: "poisson" }), where: LIMIT }),
    {
      ...{ kind: "request-rate", levels: { kind: "range", start: 10, end: 500, step: 1 }, search: "highest" },
      ...{ distribution: "poisson", seed: 0 },
    },
    SEARCH,
  ],
  [
    "a search among rates",
    findMax({ range: rateSteps([10, 20]), where: LIMIT }),
    { kind: "request-rate", levels: list(10, 20), search: "highest", distribution: "constant", seed: 0 },
    SEARCH,
  ],
  [
    "a search of one rate",
    findMax({ range: rate(10), where: LIMIT }),
    { kind: "request-rate", levels: list(10), search: "highest", distribution: "constant", seed: 0 },
    SEARCH,
  ],
  [
    "a part of a schedule",
    fixedSchedule({ from: "1 s", to: "2500 ms", speed: 4 }),
    { kind: "fixed-schedule", part: part({ startMs: 1000, endMs: 2500, speedRatio: 4 }) },
    { kind: "requests", count: null },
  ],
  [
    "a schedule from its first entry on",
    fixedSchedule({ startsAtFirst: true }),
    { kind: "fixed-schedule", part: part({ startsAtFirst: true }) },
    { kind: "requests", count: null },
  ],
];

describe("the plan of", () => {
  for (const [name, load, expected, mode] of plans) {
    test(name, () => {
      const plan = planOf(load);
      assert.deepEqual([plan.load, plan.measurement.mode], [expected, mode]);
      assert.equal(plan.client.callMode, load.pacing === "scheduled" ? "async" : "auto");
    });
  }
});

const untyped = (options: object): never => options as never;

const mistakes: readonly (readonly [name: string, load: AnyLoad, path: string, message: RegExp])[] = [
  ["a ramp in no time", hold(4, { rampUp: "0 s" }), "load.rampUp", /longer than 0/],
  ["a bare ramp", hold(4, untyped({ rampUp: 5 })), "load.rampUp", new RegExp(DURATION_RULE)],
  ["no shape", rate(4, { distribution: "gamma", smoothness: 0 }), "load.smoothness", /above 0/],
  ["a shape of Poisson", rate(4, untyped({ smoothness: 2 })), "load.smoothness", /belongs to the gamma distribution/],
  ["none outstanding", rate(4, { concurrencyLimit: 0 }), "load.concurrencyLimit", /1 or more/],
  ["too many outstanding", rate(4, { concurrencyLimit: 1e10 }), "load.concurrencyLimit", /1,000,000,000 at most/],
  [
    "a search over a time",
    findMax({ range: ramp(1, 8, { over: "1 s" }), where: LIMIT }),
    "load.range.over",
    /over a time/,
  ],
  [
    "a search with a time",
    findMax({ range: ramp(1, 8, { for: "1 s" }), where: LIMIT }),
    "load.range.for",
    /no effect here/,
  ],
  ["a search that falls", findMax({ range: ramp(8, 1), where: LIMIT }), "load.range", /cannot fall/],
  [
    "a search over no levels",
    findMax({ range: sessions(1) as Load<"closed", never>, where: LIMIT }),
    "load.range",
    /must be ramp\(…\), steps\(…\), /,
  ],
  ["a ramp of rates that falls in steps", rateRamp(4, 1), "load", /cannot fall from 4 to 1/],
  ["several rates", untyped(rate([1, 2] as never)), "load.perSec", /rateSteps\(\[…\]\)/],
  ["several concurrencies", untyped(hold([1, 2] as never)), "load.concurrency", /steps\(\[…\]\)/],
  ["a ramp from 0 to 0", ramp(0, 0, { over: "1 s" }), "load.to", /1 or more when the start is 0/],
  ["levels from 0", ramp(0, 4), "load.from", /1 or more level by level/],
  ["a search from 0", findMax({ range: ramp(0, 8), where: LIMIT }), "load.range.from", /1 or more level by level/],
  ["a ramp of rates from 0 to 0", rateRamp(0, 0, { over: "1 s" }), "load.to", /above 0/],
  [
    "a ramp over a time up to the knee",
    ramp(1, 4, untyped({ over: "1 s", until: "knee" })),
    "load.over",
    /together with/,
  ],
  [
    "a ramp of rates with a length",
    rateRamp(1, 4, untyped({ over: "1 s", for: "1 s" })),
    "load.over",
    /cannot be given together/,
  ],
  ["a part that ends before it starts", fixedSchedule({ from: "2 s", to: "1 s" }), "load.to", /before it starts/],
  [
    "two beginnings",
    fixedSchedule(untyped({ from: "2 s", startsAtFirst: true })),
    "load.startsAtFirst",
    /together with from/,
  ],
  ["no speed", fixedSchedule({ speed: 0 }), "load.speed", /above 0/],
];

describe("refused by its path:", () => {
  for (const [name, load, path, message] of mistakes) {
    test(name, () => {
      assertRefused(() => planOf(load), path, message);
    });
  }
});

const NUMBERS = [0, 0.5, 1, 2, 1e9, 1e9 + 1, 1e15, 1e308];
const TIMES = ["1 us", "5 s", "1000000000 h"] as const;
const THOUGHTS = [...TIMES, "0 s", { mean: "0 s", stddev: "1 s" }, { mean: "1 s", stddev: "0 s" }] as const;

/** Loads with all that their builders may take, and more. */
function* loadsAtTheEdges(): Generator<() => AnyLoad | AnyLoad[]> {
  for (const n of NUMBERS) {
    yield* [() => steps([n, 1]), () => rate(n), () => sessions(n), () => sessionRate(n)];
    for (const m of NUMBERS) {
      const options = { step: m, responses: m };
      yield* [() => periodic(n, m), () => periodic(1, n, options), () => rate(n, { concurrencyLimit: m })];
      yield* [() => ramp(n, m), () => rateRamp(n, m), () => ramp(1, n, { step: m }), () => rateRamp(1, n, { step: m })];
      for (const time of TIMES) {
        yield* [() => ramp(n, m, { over: time }), () => rateRamp(n, m, { over: time })];
        yield () => findMax({ range: ramp(n, m), where: LIMIT, settle: time });
        yield () => findMax({ range: rateRamp(n, m), where: LIMIT, window: time });
        yield () => mlperf.offline({ for: time, samples: n, concurrency: m });
        yield () => mlperf.singleStream({ for: time, queries: n, percentile: m });
        yield () => mlperf.multiStream({ for: time, queries: n, samplesPerQuery: m });
      }
    }
    for (const thinkTime of THOUGHTS) yield () => hold(n, { thinkTime });
    for (const time of TIMES) {
      yield* [() => hold(n, { rampUp: time }), () => rate(n, { rampUp: time }), () => fixedSchedule({ speed: n })];
      yield* [() => [warmup(time, hold(n)), hold(1)], () => [warmup({ requests: n }, rate(n)), hold(1)]];
      yield* [() => soak(n, { for: time, maxDrift: "0.001 %" }), () => mlperf.server(n, { latency: time, for: time })];
      yield () => spike({ base: n, peak: 2 * n, at: time, for: time, within: "1 %", recoverWithin: time });
    }
  }
}

test("a load is validated once: what a builder takes is valid in a plan, whatever its numbers are", () => {
  let count = 0;
  for (const make of loadsAtTheEdges()) {
    const parsed = safeParse(loadsSchema(), make());
    if (!parsed.success) continue;
    const { plan, problems } = convertLoads(parsed.output, "/folder");
    if (problems.length > 0) continue;
    count++;
    assert.deepEqual(safeParse(loadModeOf(plan).schema(), plan).issues, undefined, JSON.stringify(plan));
  }
  assert.ok(count > 300, `${count} loads`);
});

test("more in flight than any host can have is refused where it is given", () => {
  const cases: readonly (readonly [load: AnyLoad, path: string])[] = [
    [ramp(1, 2e9), "load.to"],
    [steps([1, 2e9]), "load.levels.1"],
    [periodic(1, 2e9), "load.to"],
    [sessions(2e9), "load.concurrency"],
    [rate(5, { concurrencyLimit: 2e9 }), "load.concurrencyLimit"],
  ];
  for (const [load, path] of cases)
    assert.throws(
      () => planOf(load),
      ({ problems }: UserError) => {
        assert.deepEqual(
          problems.map((one) => [word(one.path), word(one.message)]),
          [[path, "must be 1,000,000,000 at most"]],
        );
        return true;
      },
    );
});
