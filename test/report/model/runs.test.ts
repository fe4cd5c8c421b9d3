import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { RepeatPlan } from "../../../src/plan/plan.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { toRepeatedJson } from "../../../src/report/json/report-json.ts";
import type { ReportModel } from "../../../src/report/model/report-model.ts";
import type { RepeatedResult } from "../../../src/result/repeated-result.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { checkRepeated } from "../check-repeated.ts";
import { makeLevel, makeResult } from "../make-result.ts";
import { cellsOf, linesOf, modelOfRuns, tableOf, valuesOf } from "./make-model.ts";

/** Repeated runs in Rampart's own reports. */

const REPEAT: RepeatPlan = { atLeast: 3, atMost: 3 };
const P99 = { key: "latency", statistic: 99 } as const;
const ASSERTIONS = [{ metric: P99, comparison: "below", limit: 12.5e6 }] as const;

/** A run of 1,000 requests of about so many milliseconds. */
function runOf(ms: number, change: Partial<RunResult> = {}): RunResult {
  const latenciesNs = Array.from({ length: 1000 }, (_, index) => ms * 1e6 + ((index * 7919) % 1000) * 1000);
  return makeResult(makePlan(), [makeLevel({ level: 128, window: makeWindow({ latenciesNs }) })], change);
}

function modelOfThese(repeated: RepeatedResult, change: PlanChange = {}): ReportModel {
  return modelOfRuns(makePlan({ repeat: REPEAT, assertions: ASSERTIONS, ...change }), repeated);
}

test("runs together are a row for each level, with means and intervals; each run is in the details", () => {
  const model = modelOfThese({ runs: [runOf(10), runOf(11), runOf(12)] });
  const [row, ...rest] = cellsOf(tableOf(model, "runs"));
  assert.deepEqual([rest, row?.["level"]?.value, row?.["runs"]?.value], [[], 128, 3]);
  // 4.303 / sqrt(3) to each side, as the deviation of the runs is 1 ms.
  const { value, interval } = row?.["latency.mean"] ?? {};
  assert.equal(value, 11_499_500);
  assert.ok(Math.abs((interval?.low ?? 0) - 9.015e6) < 1e3 && Math.abs((interval?.high ?? 0) - 13.984e6) < 1e3);
  assert.equal(tableOf(model, "runs").showsIntervals, true);
  assert.match(linesOf(model, "runs").join(), /^runs differ /);
  assert.deepEqual(
    valuesOf(tableOf(model, "by-run")).map(({ run, level }) => [run, level]),
    [1, 2, 3].map((run) => [`run ${run}`, 128]),
  );
  assert.deepEqual(model.verdict.facts, ["3 runs", "3.0 s", "3,000 requests"]);
});

test("an assertion is judged on the mean over runs, and says how many runs meet it", () => {
  const check = (...ms: readonly number[]): readonly [string | undefined, string | undefined] => {
    const [found] = modelOfThese({ runs: ms.map((one) => runOf(one)) }).checks;
    return [found?.state, found?.measured];
  };
  assert.deepEqual(check(10, 11, 12), [
    "unresolved",
    "mean 12.0 ms (9.50 to 14.5 ms), kept in 2 of 3 runs; too close to the limit; add runs",
  ]);
  const [good, ofGood] = check(10, 10, 10.5);
  assert.deepEqual([good, ofGood?.endsWith(", kept in 3 of 3 runs")], ["pass", true]);
  const [late, ofLate] = check(12, 13, 14);
  assert.deepEqual([late, ofLate?.endsWith(", kept in 0 of 3 runs")], ["fail", true]);
});

test("a run that ended early is shown, and does not count", () => {
  const error = new RunError("stalled", "the server stalled", "Look at it.");
  const repeated = { runs: [runOf(10), runOf(11), runOf(99, { error })] };
  const model = modelOfThese(repeated);
  assert.deepEqual([valuesOf(tableOf(model, "runs"))[0]?.["runs"], valuesOf(tableOf(model, "by-run")).length], [2, 3]);
  assert.equal(model.verdict.name, "partial");
  const json = checkRepeated(makePlan({ repeat: REPEAT, assertions: ASSERTIONS }), repeated);
  assert.deepEqual([json.isPartial, json.runs.length, json.combination.runs], [true, 3, 2]);
  const none = modelOfThese({ runs: [runOf(10, { isInterrupted: true })] });
  assert.match(linesOf(none, "levels").join(), /no run ended as planned: there is nothing to combine/);
  assert.deepEqual([none.checks[0]?.state, none.checks[0]?.measured], ["unresolved", "nothing measured"]);
});

test("the precision that was asked for is reported beside the one that was reached", () => {
  const repeat: RepeatPlan = { atLeast: 2, atMost: 3, until: { metric: P99, ratio: 0.05 } };
  const runs = [runOf(10), runOf(10)];
  const reached = modelOfThese({ runs, precision: { ratio: 0.04, isReached: true } }, { repeat });
  assert.match(
    linesOf(reached, "runs").join(),
    /p99 latency is within 4 % of its mean after 2 runs; 5 % was asked for$/,
  );
  const missed = modelOfThese({ runs, precision: { ratio: 0.2, isReached: false } }, { repeat });
  assert.deepEqual(
    [missed.verdict.name, missed.verdict.headline],
    ["unresolved", "the runs together are not as precise as asked for"],
  );
});

test("the JSON has each run like a report of its own, and the runs together", () => {
  const plan = makePlan({ repeat: REPEAT, assertions: ASSERTIONS });
  const json = checkRepeated(plan, { runs: [runOf(10), runOf(11), runOf(12)] });
  assert.equal(json.combination.levels[0]?.metrics["latencyUs"]?.mean?.mean, 11_499.5);
  assert.deepEqual(
    [json.assertions[0]?.state, json.assertions[0]?.runs, json.assertions[0]?.runsMet],
    ["unresolved", 3, 2],
  );
  assert.deepEqual(
    json.runs.map((run) => run.levels[0]?.completed),
    [1000, 1000, 1000],
  );
  const first = toRepeatedJson(plan, { runs: [runOf(10)] }) as { combination: { levels: object[] } };
  assert.ok(first.combination.levels[0]);
});

/** A run of a search over 100, 200, … in flight, of 1,000 requests each. @param highest the load that it found */
function searchOf(findMax: RunResult["findMax"], ...latenciesMs: readonly number[]): RunResult {
  const levels = latenciesMs.map((ms, index) => {
    const latenciesNs = Array.from({ length: 1000 }, (_, at) => ms * 1e6 + ((at * 7919) % 1000) * 1000);
    return makeLevel({ level: 100 * (index + 1), window: makeWindow({ latenciesNs }) });
  });
  return makeResult(makePlan(), levels, { findMax });
}

const SEARCH: PlanChange = {
  repeat: REPEAT,
  assertions: ASSERTIONS,
  limits: ASSERTIONS,
  load: { kind: "concurrency", levels: { kind: "range", start: 100, end: 800, step: 100 }, search: "highest" },
};

describe("a search that is repeated", () => {
  const two = searchOf({ highest: 200, next: 300, isResolved: true }, 4, 6, 20);
  const three = searchOf({ highest: 300, isResolved: true }, 5, 6, 10);
  const open = searchOf({ highest: 100, next: 200, isResolved: false }, 4, 99);
  const none = searchOf({ next: 100, isResolved: true }, 99);

  test("has the highest load of each run with its mean and interval, and what was measured at it", () => {
    const model = modelOfThese({ runs: [two, three, three] }, SEARCH);
    const [row] = cellsOf(tableOf(model, "search"));
    assert.equal(Math.round(row?.["level"]?.value as number), 267);
    assert.equal(Math.round((row?.["latency.mean"]?.value as number) / 1e3), 9166);
    const [answer, ...each] = linesOf(model, "search");
    assert.equal(answer, "load that keeps the limits: at least concurrency 266.7, the mean over 3 runs (123 to 410)");
    assert.deepEqual(each.slice(0, 2), [
      "run 1: highest load that keeps the limits: concurrency 200",
      "run 2: load that keeps the limits: at least concurrency 300",
    ]);
    const json = checkRepeated(makePlan(SEARCH), { runs: [two, three, three] });
    assert.deepEqual(
      json.combination.levels.map(({ level, runs }) => [level, runs]),
      [
        [100, 3],
        [200, 3],
        [300, 3],
      ],
    );
    assert.equal(json.assertions[0]?.isMet, true);
    assert.deepEqual(json.combination.findMax?.runsAtUpperEnd, [2, 3]);
  });

  test("says which runs have no certain result, and leaves them out of every mean", () => {
    const repeated = { runs: [two, open, three] };
    const model = modelOfThese(repeated, SEARCH);
    assert.match(
      model.verdict.headline,
      /concurrency 250, the mean over 2 of 3 runs \(.* to .*\); not certain in run 2; it may be higher$/,
    );
    assert.match(model.checks[0]?.measured ?? "", /, kept in 2 of 2 runs$/);
    const json = checkRepeated(makePlan(SEARCH), repeated);
    const { highest, unresolvedRuns, runsWithoutLoad } = json.combination.findMax ?? {};
    assert.deepEqual([highest?.count, highest?.mean, unresolvedRuns, runsWithoutLoad], [2, 250, [2], []]);
  });

  test("has no mean and no assertion that holds where no run has a response", () => {
    const model = modelOfThese({ runs: [open, open] }, SEARCH);
    assert.deepEqual(
      [model.verdict.name, model.verdict.headline, model.checks[0]?.measured],
      ["unresolved", "not certain in runs 1 and 2", "nothing measured"],
    );
    const json = checkRepeated(makePlan(SEARCH), { runs: [open, open] });
    assert.deepEqual(json.combination.findMax, {
      ...{ unit: "concurrency", unresolvedRuns: [1, 2] },
      ...{ runsWithoutLoad: [], runsAtUpperEnd: [] },
    });
  });

  test("does not hold where a run certainly has no load that keeps the limits", () => {
    const repeated = { runs: [two, none, three] };
    const model = modelOfThese(repeated, SEARCH);
    assert.match(model.verdict.headline, /the mean over 2 of 3 runs .*; no load keeps the limit in run 2$/);
    assert.deepEqual([model.checks[0]?.state, model.checks[0]?.measured], ["unresolved", "nothing measured"]);
    const json = checkRepeated(makePlan(SEARCH), repeated);
    assert.deepEqual(json.combination.findMax?.runsWithoutLoad, [2]);
    // Only levels that all runs measured are combined.
    assert.deepEqual(
      json.combination.levels.map(({ level }) => level),
      [100],
    );
  });
});
