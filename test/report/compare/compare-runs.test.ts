import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { findMetric } from "../../../src/measure/metrics/metric-names.ts";
import { compareRuns } from "../../../src/report/compare/compare-runs.ts";
import type { Comparison, RunSet } from "../../../src/report/compare/comparison.ts";
import { type ChangeLimit, judgeLimit } from "../../../src/report/compare/limits.ts";
import type { MeasuredRun } from "../../../src/report/read/runs/measured-run.ts";
import { makeMeasuredLevel, makeMeasuredRun, makeRunSet } from "./make-runs.ts";

/** Sides compared level by level, and limits of their changes. */

const SETTINGS = { precision: 0.05, acceptsWithinRuns: false };
const MS = 1e6;

const verdictsOf = ({ levels }: Comparison): Record<string, string> =>
  Object.fromEntries(levels.flatMap(({ metrics }) => metrics.map(({ metric, verdict }) => [metric.name, verdict])));

describe("verdicts of metrics", () => {
  const base = {
    throughput: [100, 101, 99],
    errorRate: [0, 0, 0],
    "latency.mean": [10 * MS, 10.1 * MS, 9.9 * MS],
    "latency.p99": [20 * MS, 28 * MS, 14 * MS],
    "outputTokens.mean": [10, 10.01, 10],
  };
  const next = {
    throughput: [120, 121, 119],
    errorRate: [0.1, 0.1, 0.1],
    "latency.mean": [10.02 * MS, 9.9 * MS, 10 * MS],
    "latency.p99": [21 * MS, 27 * MS, 15 * MS],
    "outputTokens.mean": [12, 12.01, 12],
  };
  const comparison = compareRuns(makeRunSet("base", base), makeRunSet("new", next), SETTINGS);

  test("follow the direction of the metric", () => {
    assert.deepEqual(verdictsOf(comparison), {
      throughput: "better",
      errorRate: "worse",
      "latency.mean": "no-difference",
      "latency.p99": "inconclusive",
      "outputTokens.mean": "changed",
    });
  });

  test("say how many runs would be enough where they cannot say", () => {
    const metrics = comparison.levels[0]?.metrics ?? [];
    for (const { verdict, runsNeeded } of metrics) assert.equal(runsNeeded !== undefined, verdict === "inconclusive");
    const [p99] = metrics.filter(({ metric }) => metric.name === "latency.p99");
    assert.ok((p99?.runsNeeded ?? 0) > 50, `${p99?.runsNeeded}`);
    assert.ok(Math.abs((p99?.change.value ?? 0) - 63 / 62) < 1e-12);
  });

  test("are mirrored when the sides change places", () => {
    const back = compareRuns(makeRunSet("new", next), makeRunSet("base", base), SETTINGS);
    assert.equal(verdictsOf(back)["throughput"], "worse");
    const [there, here] = [comparison, back].map(({ levels }) => levels[0]?.metrics[0]?.change.value ?? 0);
    assert.ok(Math.abs((there ?? 0) * (here ?? 0) - 1) < 1e-12);
  });
});

test("one run on a side gives a ratio, and no verdict; accepted intervals within runs give one", () => {
  const one = (value: number): ReturnType<typeof makeRunSet> => ({
    name: `${value}`,
    runs: [
      makeMeasuredRun([
        makeMeasuredLevel("concurrency 4", {
          throughput: value,
          "latency.p99": { value, low: value * 0.99, high: value * 1.01 },
        }),
      ]),
    ],
  });
  const strict = compareRuns(one(100), one(200), SETTINGS);
  assert.deepEqual(verdictsOf(strict), { throughput: "inconclusive", "latency.p99": "inconclusive" });
  assert.equal(strict.levels[0]?.metrics[1]?.change.value, 2);
  const lenient = compareRuns(one(100), one(200), { ...SETTINGS, acceptsWithinRuns: true });
  assert.deepEqual(verdictsOf(lenient), { throughput: "inconclusive", "latency.p99": "worse" });
  assert.equal(lenient.levels[0]?.metrics[1]?.change.basis, "within-runs");
});

test("levels are matched by their load, and what one side lacks is listed", () => {
  const make = (name: string, loads: readonly string[], metric: string): ReturnType<typeof makeRunSet> => ({
    name,
    runs: [makeMeasuredRun(loads.map((load) => makeMeasuredLevel(load, { throughput: 1, [metric]: 1 })))],
  });
  const base = make("base", ["concurrency 1", "concurrency 2", "concurrency 2"], "latency.p99");
  const next = make("new", ["concurrency 2", "concurrency 4"], "latency.p50");
  const { levels, onlyInBase, onlyInNew } = compareRuns(base, next, SETTINGS);
  assert.deepEqual(
    levels.map((level) => [level.label, level.onlyInBase, level.onlyInNew]),
    [["concurrency 2", ["latency.p99"], ["latency.p50"]]],
  );
  assert.deepEqual(onlyInBase, ["concurrency 1", "concurrency 2 (2)"]);
  assert.deepEqual(onlyInNew, ["concurrency 4"]);
});

test("levels are matched by their label, and have the name of their reports", () => {
  const make = (name: string, named: string | undefined) => {
    const levels = ["concurrency 4", "concurrency 8"].map((label) => ({
      ...makeMeasuredLevel(label, { throughput: 1 }),
      ...(named === undefined ? {} : { name: label.replace(/^concurrency (.)$/, named) }),
    }));
    return { name, runs: [makeMeasuredRun(name === "base" ? levels : levels.slice(0, 1))] };
  };
  const { levels, onlyInBase } = compareRuns(make("base", "$1 users"), make("new", undefined), SETTINGS);
  assert.deepEqual([levels.map(({ label }) => label), onlyInBase], [["4 users"], ["8 users"]]);
});

describe("differences of the plans", () => {
  const level = makeMeasuredLevel("concurrency 1", { throughput: 1 });
  const make = (facts: Record<string, string>, format = "Rampart's JSON") =>
    makeMeasuredRun([level], { facts: new Map(Object.entries(facts)), format, source: JSON.stringify(facts) });

  test("are listed with both values", () => {
    const base = { name: "base", runs: [make({ model: "a", url: "x" })] };
    // GenAI-Perf writes `goodput: ""` where no limits are given.
    const next = { name: "new", runs: [make({ model: "b", url: "x", extra: "1", goodput: "" })] };
    assert.deepEqual(compareRuns(base, next, SETTINGS).differences, [
      { path: "model", base: "a", next: "b" },
      { path: "extra", base: "(none)", next: "1" },
      { path: "goodput", base: "(none)", next: '""' },
    ]);
  });

  test("of other formats are those that both files name, and the formats are named", () => {
    const base = { name: "base", runs: [make({ model: "a", url: "x" })] };
    const next = { name: "new", runs: [make({ model: "b", other: "1" }, "AIPerf's JSON")] };
    const { differences, warnings } = compareRuns(base, next, SETTINGS);
    assert.deepEqual(differences, [{ path: "model", base: "a", next: "b" }]);
    assert.match(warnings.map(({ text }) => text).join("\n"), /different formats \(Rampart's JSON; AIPerf's JSON\)/);
  });

  test("within a side are a warning", () => {
    const base = { name: "base", runs: [make({ model: "a" }), make({ model: "b" })] };
    const next = { name: "new", runs: [make({ model: "a" })] };
    const { warnings } = compareRuns(base, next, SETTINGS);
    assert.match(warnings.map(({ text }) => text).join("\n"), /the runs of base are not of one plan.*: model/);
    assert.match(warnings.map(({ text }) => text).join("\n"), /base and new share/);
    const same = compareRuns(next, { ...next, name: "again" }, SETTINGS).warnings;
    assert.match(same.map(({ text }) => text).join("\n"), /base and new are the same runs: give two reports/);
  });

  test("what a file warns of is there once, with the name of its side", () => {
    const gap = "Nothing completed from 2.3 s to 3.8 s of the run (1.5 s).";
    const other = "Nothing completed from 1.1 s to 1.9 s of the run (0.8 s).";
    const warned = (...sides: readonly string[][]): string[] => {
      const setOf = (side: number): RunSet => {
        const notes = sides[side] ?? [];
        const facts = { side: String(side) };
        return { name: side === 0 ? "base" : "new", runs: [{ ...make(facts), notes }, make(facts)] };
      };
      const { warnings } = compareRuns(setOf(0), setOf(1), SETTINGS);
      return warnings.flatMap(({ code, text }) => (code === "note-of-run" ? [text] : []));
    };
    assert.deepEqual(warned([gap], []), [`base: ${gap.replace("N", "n")}`]);
    assert.deepEqual(warned([gap, other], []), [`base: ${gap.replace("N", "n")}`]);
    assert.deepEqual(warned([gap], [other]), [`base: ${gap.replace("N", "n")} Likewise new.`]);
    assert.deepEqual(warned([gap], [gap]), [gap]);
    assert.deepEqual(warned([gap], ["The client was busy."]), [
      `base: ${gap.replace("N", "n")}`,
      "new: the client was busy.",
    ]);
  });

  test("a value that its only run marks is marked; of several runs the change says what is certain", () => {
    const marked = makeMeasuredRun([
      makeMeasuredLevel("concurrency 1", { throughput: { value: 1, isUncertain: true } }),
    ]);
    const sidesOf = (runs: MeasuredRun[]) =>
      compareRuns({ name: "base", runs }, { name: "new", runs: [make({})] }, SETTINGS).levels[0]?.metrics[0];
    assert.deepEqual([sidesOf([marked])?.base.isUncertain, sidesOf([marked])?.next.isUncertain], [true, false]);
    assert.equal(sidesOf([marked, marked])?.base.isUncertain, false);
  });

  test("notes of levels are there with the number of runs that have them", () => {
    const noted = makeMeasuredRun([
      makeMeasuredLevel("concurrency 1", { throughput: { value: 1, low: 0, high: 2 } }, ["the level was not stable"]),
    ]);
    const base = { name: "base", runs: [noted, make({})] };
    const { warnings } = compareRuns(base, { name: "new", runs: [make({ a: "1" })] }, SETTINGS);
    assert.equal(warnings.at(-1)?.text, "base, concurrency 1: the level was not stable, in 1 of 2 runs");
  });
});

describe("a limit", () => {
  const limit = (
    name: string,
    of: ChangeLimit["of"],
    comparison: ChangeLimit["comparison"],
    amount: number,
  ): ChangeLimit => ({
    text: "text",
    metric: findMetric(name) as ChangeLimit["metric"],
    comparison,
    of,
    amount,
  });
  const base = { throughput: [100, 101, 99], "latency.p99": [10 * MS, 10.1 * MS, 9.9 * MS], errorRate: [0, 0.001, 0] };
  const next = {
    throughput: [90, 91, 89],
    "latency.p99": [12 * MS, 12.1 * MS, 11.9 * MS],
    errorRate: [0.02, 0.021, 0.02],
  };
  const comparison = compareRuns(makeRunSet("base", base), makeRunSet("new", next), SETTINGS);
  for (const [name, of, sign, amount, state] of [
    ["p99", "relative", ">", 0.05, "broken"],
    ["p99", "relative", ">", 0.5, "kept"],
    ["p99", "relative", ">", 0.2, "unresolved"],
    ["p99", "relative", "<", 0.05, "kept"],
    ["p99", "value", ">", 11 * MS, "broken"],
    ["p99", "value", ">=", 13 * MS, "kept"],
    ["p99", "value", ">", 12 * MS, "unresolved"],
    ["throughput", "relative", "<", -0.03, "broken"],
    ["throughput", "relative", "<=", -0.5, "kept"],
    ["throughput", "value", "<", 50, "kept"],
    ["errorRate", "points", ">", 0.01, "broken"],
    ["errorRate", "points", ">", 0.05, "kept"],
    ["errorRate", "value", ">", 0.01, "broken"],
  ] as const)
    test(`${name} ${of} ${sign} ${amount} is ${state}`, () => {
      const [verdict, ...more] = judgeLimit(limit(name, of, sign, amount), comparison);
      assert.equal(verdict?.state, state);
      assert.equal(more.length, 0);
      assert.equal(verdict?.level, "concurrency 4");
    });

  test("that is not resolved says how many runs would decide", () => {
    const near = judgeLimit(limit("p99", "relative", ">", 0.19), comparison)[0];
    assert.equal(near?.state, "unresolved");
    assert.ok((near?.runsNeeded ?? 0) > 3, `${near?.runsNeeded}`);
  });

  test("cannot be decided with one run on a side, or a base of 0", () => {
    const one = compareRuns(
      makeRunSet("base", { throughput: [1, 2] }),
      makeRunSet("new", { throughput: [9] }),
      SETTINGS,
    );
    assert.deepEqual(
      ["relative", "value"].map(
        (of) => judgeLimit(limit("throughput", of as ChangeLimit["of"], "<", 0), one)[0]?.state,
      ),
      ["undecidable", "undecidable"],
    );
    const zero = compareRuns(
      makeRunSet("base", { throughput: [0, 0] }),
      makeRunSet("new", { throughput: [9, 9] }),
      SETTINGS,
    );
    assert.match(judgeLimit(limit("throughput", "relative", "<", 0), zero)[0]?.reason ?? "", /the base is 0/);
  });

  test("is not passed in silence where the new side lacks the level or the metric", () => {
    const make = (name: string, levels: readonly [string, string][]) => ({
      name,
      runs: [1, 2].map((value) =>
        makeMeasuredRun(levels.map(([label, metric]) => makeMeasuredLevel(label, { [metric]: value }))),
      ),
    });
    const from = make("base", [
      ["concurrency 1", "throughput"],
      ["concurrency 2", "throughput"],
    ]);
    const to = make("new", [["concurrency 1", "latency.p99"]]);
    const verdicts = judgeLimit(limit("throughput", "relative", "<", -0.1), compareRuns(from, to, SETTINGS));
    assert.deepEqual(
      verdicts.map(({ level, state, reason }) => [level, state, reason]),
      [
        ["concurrency 1", "undecidable", "new has no throughput here"],
        ["concurrency 2", "undecidable", "new does not have this level"],
      ],
    );
  });
});
