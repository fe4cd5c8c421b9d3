import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { inScenario, wordingIo } from "../../../src/cli/setting-names.ts";
import type { RepeatPlan } from "../../../src/plan/plan.ts";
import { RunError } from "../../../src/plan/problem.ts";
import { toRepeatedJson } from "../../../src/report/json/report-json.ts";
import { createRampartConsole } from "../../../src/report/rampart/console.ts";
import type { RepeatedResult } from "../../../src/result/repeated-result.ts";
import type { RunResult } from "../../../src/result/run-result.ts";
import { makeWindow } from "../../measure/make-window.ts";
import { makePlan, type PlanChange } from "../../plan/make-plan.ts";
import { checkRepeated } from "../check-repeated.ts";
import { makeLevel, makeResult, makeSink } from "../make-result.ts";

/** Repeated runs in Rampart's own reports. */

const REPEAT: RepeatPlan = { atLeast: 3, atMost: 3 };
const P99 = { key: "latency", statistic: 99 } as const;
const ASSERTIONS = [{ metric: P99, comparison: "below", limit: 12.5e6 }] as const;

/** A run of 1,000 requests of about so many milliseconds. */
function runOf(ms: number, change: Partial<RunResult> = {}): RunResult {
  const latenciesNs = Array.from({ length: 1000 }, (_, index) => ms * 1e6 + ((index * 7919) % 1000) * 1000);
  return makeResult(makePlan(), [makeLevel({ level: 128, window: makeWindow({ latenciesNs }) })], change);
}

function print(repeated: RepeatedResult, change: PlanChange = {}): string {
  return printed(repeated, change).out;
}

function printed(repeated: RepeatedResult, change: PlanChange = {}): { readonly out: string; readonly err: string } {
  const plan = makePlan({ repeat: REPEAT, assertions: ASSERTIONS, ...change });
  const sink = makeSink();
  const report = createRampartConsole(plan, wordingIo(inScenario, sink));
  for (const [index, run] of repeated.runs.entries()) {
    report.onRun?.(index + 1, plan.repeat?.atMost ?? 1);
    report.onPrepared?.(run.prepared);
  }
  report.finishRuns?.(repeated);
  return sink.printed;
}

test("each run has a row, and the runs together have their mean and its interval", () => {
  const { out, err } = printed({ runs: [runOf(10), runOf(11), runOf(12)] });
  assert.equal(out.match(/^a test: model model/gm)?.length, 1);
  assert.equal(err, "run 1 of 3\nrun 2 of 3\nrun 3 of 3\n");
  assert.match(out, /^run 2: sent 1,000 requests over 1 connection in 3\.5 s: 1,000 completed, 0 failed$/m);
  assert.match(out, /^run +infer\/s +average +p50 +p90 +p99 +errors +requests$/m);
  assert.match(out, /^2 +1,000 +11\.5 ms +11\.5 ms +11\.9 ms +11\.99 ms +0 % +1,000$/m);
  assert.match(out, /^mean +1,000 +11\.5 ms +11\.5 ms +11\.9 ms +11\.99 ms +0 %$/m);
  // 4.303 / sqrt(3) to each side, as the deviation of the runs is 1 ms.
  assert.match(out, /^95 % low +1,000 +9\.015 ms +9\.016 ms /m);
  assert.match(out, /^95 % high +1,000 +13\.98 ms +13\.98 ms /m);
  assert.match(out, /^ {2}runs differ by more than one run can show/m);
});

test("an assertion is judged on the mean over runs, and says how many runs meet it", () => {
  const out = print({ runs: [runOf(10), runOf(11), runOf(12)] });
  assert.match(out, /^unresolved +9\.505 to 14\.47 ms; 2 of 3 runs$/m);
  assert.match(out, /^unresolved +11\.99 ms: too close to the limit; add runs$/m);
  const good = print({ runs: [runOf(10), runOf(10), runOf(10.5)] });
  assert.match(good, /^pass +p99 latency below 12\.5 ms +11\.16 ms +.*; 3 of 3 runs$/m);
  const late = print({ runs: [runOf(12), runOf(13), runOf(14)] });
  assert.match(late, /^FAIL +p99 latency below 12\.5 ms +13\.99 ms +.*; 0 of 3 runs$/m);
});

test("a run that ended early is shown, and does not count", () => {
  const error = new RunError("stalled", "the server stalled", "Look at it.");
  const repeated = { runs: [runOf(10), runOf(11), runOf(99, { error })] };
  const out = print(repeated);
  assert.match(out, /^run 3: PARTIAL RESULT: the run ended early\. sent /m);
  assert.match(out, /^mean +1,000 +11 ms /m);
  assert.match(out, /2 of 2 runs$/m);
  const json = checkRepeated(makePlan({ repeat: REPEAT, assertions: ASSERTIONS }), repeated);
  assert.deepEqual([json.isPartial, json.runs.length, json.combination.runs], [true, 3, 2]);
  const none = print({ runs: [runOf(10, { isInterrupted: true })] });
  assert.match(none, /no run ended as planned: there is nothing to combine/);
  assert.match(none, /^unresolved +p99 latency below 12\.5 ms +nothing measured/m);
});

test("the precision that was asked for is reported beside the one that was reached", () => {
  const repeat: RepeatPlan = { atLeast: 2, atMost: 3, until: { metric: P99, ratio: 0.05 } };
  const runs = [runOf(10), runOf(11)];
  const { out: reached, err } = printed({ runs, precision: { ratio: 0.04, isReached: true } }, { repeat });
  assert.match(err, /^run 1 of at most 3$/m);
  assert.match(reached, /^p99 latency is within 4 % of its mean after 2 runs, 5 % was asked for$/m);
  const missed = print({ runs, precision: { ratio: 0.2, isReached: false } }, { repeat });
  assert.match(missed, /^NOT PRECISE: p99 latency is within 20 % of its mean after 2 runs, 5 % was asked for$/m);
});

test("with -v each run has its whole report", () => {
  const out = print({ runs: [runOf(10), runOf(11)] }, { outputs: { verbosity: 1 } });
  assert.equal(out.match(/samples, worth .* with 95 % confidence/g)?.length, 2);
  assert.equal(out.match(/^concurrency +infer\/s/gm)?.length, 2);
});

test("the JSON has each run like a report of its own, and the runs together", () => {
  const plan = makePlan({ repeat: REPEAT, assertions: ASSERTIONS });
  const json = checkRepeated(plan, { runs: [runOf(10), runOf(11), runOf(12)] });
  assert.equal(json.combination.levels[0]?.latencyUs["mean"]?.mean, 11_499.5);
  assert.deepEqual(
    [json.assertions[0]?.state, json.assertions[0]?.runs, json.assertions[0]?.runsMet],
    ["unresolved", 3, 2],
  );
  assert.deepEqual(
    json.runs.map((run) => run.levels[0]?.requests),
    [1000, 1000, 1000],
  );
  const first = toRepeatedJson(plan, { runs: [runOf(10)] }) as { combination: { levels: { latencyUs: object }[] } };
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
    const out = print({ runs: [two, three, three] }, SEARCH);
    assert.match(out, /^the highest load of each run\nrun +concurrency +infer\/s +average/m);
    assert.match(out, /^1 +200 +1,000 +6\.5 ms .*$/m);
    assert.match(out, /^3 +300 +1,000 +10\.5 ms .*$/m);
    assert.match(out, /^mean +266\.7 +1,000 +9\.166 ms /m);
    assert.match(
      out,
      /^highest load that keeps the limits: concurrency 266\.7, the mean over 3 runs \(95 % confidence: 123\.2 to 410\.1\)$/m,
    );
    // Levels of the curve have no tables of their own here.
    assert.doesNotMatch(out, /^concurrency 100\n/m);
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
  });

  test("says which runs have no certain answer, and leaves them out of every mean", () => {
    const repeated = { runs: [two, open, three] };
    const out = print(repeated, SEARCH);
    assert.match(out, /^2 .*UNRESOLVED: the load may be higher; not in the mean$/m);
    assert.match(out, /concurrency 250, the mean over 2 of 3 runs \(95 % confidence: .*\); not certain in run 2$/m);
    assert.match(out, /^pass .*; 2 of 2 runs$/m);
    const json = checkRepeated(makePlan(SEARCH), repeated);
    const { highest, unresolvedRuns, runsWithoutLoad } = json.combination.findMax ?? {};
    assert.deepEqual([highest?.count, highest?.mean, unresolvedRuns, runsWithoutLoad], [2, 250, [2], []]);
  });

  test("has no mean and no assertion that holds where no run has an answer", () => {
    const out = print({ runs: [open, open] }, SEARCH);
    assert.match(out, /^not certain in runs 1 and 2$/m);
    assert.match(out, /^unresolved +p99 latency below 12\.5 ms +nothing measured/m);
    const json = checkRepeated(makePlan(SEARCH), { runs: [open, open] });
    assert.deepEqual(json.combination.findMax, { unit: "concurrency", unresolvedRuns: [1, 2], runsWithoutLoad: [] });
  });

  test("does not hold where a run certainly has no load that keeps the limits", () => {
    const repeated = { runs: [two, none, three] };
    const out = print(repeated, SEARCH);
    assert.match(out, /the mean over 2 of 3 runs .*; no load keeps the limit in run 2$/m);
    assert.match(out, /^unresolved +p99 latency below 12\.5 ms +nothing measured/m);
    const json = checkRepeated(makePlan(SEARCH), repeated);
    assert.deepEqual(json.combination.findMax?.runsWithoutLoad, [2]);
    // Only levels that all runs measured are combined.
    assert.deepEqual(
      json.combination.levels.map(({ level }) => level),
      [100],
    );
  });
});
