import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { judgePhases, measureDrift, measureRecovery, type PhaseLevel } from "../../src/measure/phase-verdicts.ts";
import type { TimelineBucket } from "../../src/measure/timeline.ts";
import type { VerdictState } from "../../src/measure/verdict-state.ts";
import type { PhasePlan } from "../../src/plan/load-options.ts";
import { makeWindow, tallyOf } from "./make-window.ts";

/** An interval of one second with `count` latencies of `ms` milliseconds. */
function bucket(index: number, ms: number, count = 10): TimelineBucket {
  const latency = { meanNs: ms * 1e6, p50Ns: ms * 1e6, p99Ns: ms * 1e6 };
  const [startNs, endNs] = [index * 1e9, (index + 1) * 1e9];
  return {
    ...{ startNs, endNs, requestCount: count, failedCount: 0, cancelledCount: 0, meanOutstanding: 1 },
    ...(count === 0 ? {} : { latency }),
  };
}

const line = (...ms: number[]): TimelineBucket[] =>
  ms.map((value, index) => bucket(index, value, value === 0 ? 0 : 10));
const hold: PhasePlan["load"] = { kind: "concurrency", levels: { kind: "list", values: [1] }, search: "linear" };

function levelOf(index: number, timeline: readonly TimelineBucket[]): PhaseLevel {
  const latency = tallyOf(
    timeline.flatMap((one) => new Array<number>(one.requestCount).fill(one.latency?.meanNs ?? 0)),
  );
  return { phase: { index }, window: { ...makeWindow(), latency, requestCount: latency.count }, timeline };
}

describe("drift", () => {
  test("is the change from the first third to the last, with its interval", () => {
    const drift = measureDrift(line(10, 11, 9, 500, 500, 500, 12, 13, 11));
    assert.deepEqual([drift?.latency.first, drift?.latency.last], [10e6, 12e6]);
    assert.ok(Math.abs((drift?.latency.ratio ?? 0) - 0.2) < 1e-9);
    // scipy.stats: Welch's degrees of freedom 4, t 2.776; the ratio's standard error √((1/3 + 1.44/3) / 100).
    const half = 2.7764451 * Math.sqrt((1 / 3 + 1.44 / 3) / 100);
    assert.ok(Math.abs((drift?.latency.lowRatio ?? 0) - (0.2 - half)) < 1e-6, `${drift?.latency.lowRatio}`);
    assert.ok(Math.abs((drift?.latency.highRatio ?? 0) - (0.2 + half)) < 1e-6);
    assert.deepEqual([drift?.throughput.ratio, drift?.throughput.lowRatio], [0, 0]);
  });

  const cases: readonly (readonly [name: string, timeline: TimelineBucket[], state: VerdictState, measured: RegExp])[] =
    [
      ["no change", line(10, 10.1, 9.9, 11, 10, 11, 10, 10.1, 9.9), "pass", /^latency 0 % \(-2.27 % to \+2.27 %\)/],
      [
        "a change that may be chance",
        line(5, 20, 5, 9, 9, 9, 5, 24, 6),
        "unresolved",
        /^latency \+16.7 %, throughput 0 % \(0 % to 0 %\): too uncertain; the change is close to its limit$/,
      ],
      [
        "a change that a longer phase would decide",
        line(9, 10, 11, 9, 9, 9, 9.4, 10.4, 11.4),
        "unresolved",
        /^latency \+4 % \(-.* too uncertain; hold the load for about \d+ s$/,
      ],
      [
        "a certain change for the worse",
        line(10, 10.1, 9.9, 12, 12, 12, 14, 14.1, 13.9),
        "fail",
        /latency \+40 % \(\+/,
      ],
      ["a change for the better", line(14, 14.1, 13.9, 12, 12, 12, 10, 10.1, 9.9), "pass", /latency -28.6 % \(-/],
      [
        "less throughput",
        Array.from({ length: 9 }, (_, index) => bucket(index, 10, index < 5 ? 100 + (index % 2) : 50 + (index % 2))),
        "fail",
        /throughput -49.8 % \(-50.9 % to -/,
      ],
      ["too few intervals", line(10, 10, 10, 10, 10, 10, 10, 10), "unresolved", /too short/],
      ["thirds without a response", line(0, 0, 0, 10, 10, 10, 10, 10, 10), "unresolved", /too short/],
    ];
  for (const [name, timeline, state, measured] of cases) {
    test(`${name}: ${state}`, () => {
      const [verdict, ...others] = judgePhases([{ load: hold, drift: { maxRatio: 0.1 } }], [levelOf(0, timeline)]);
      assert.deepEqual([verdict?.state, verdict?.phaseIndex, others], [state, 0, []]);
      assert.match(verdict?.measured ?? "", measured);
      assert.equal(verdict?.text, "drift of latency and throughput at most 10 % for the worse");
    });
  }
});

test("the drift of a phase that did not run to its end is unresolved, however much it changed", () => {
  const whole = levelOf(0, line(10, 10.1, 9.9, 12, 12, 12, 14, 14.1, 13.9));
  const stateOf = (...levels: PhaseLevel[]) =>
    judgePhases([{ load: hold, drift: { maxRatio: 0.1 } }], levels).map(({ state }) => state);
  assert.deepEqual(stateOf(whole), ["fail"]);
  assert.deepEqual(stateOf({ ...whole, outcome: "partial" }), ["unresolved"]);
  assert.deepEqual(stateOf(), ["unresolved"]);
});

test("a soak in which nothing completed for a time does not pass, and says so; a certain drift still fails", () => {
  const gaps = [{ startNs: 3e9, endNs: 5e9, typicalNs: 1e6 }];
  const judge = (...ms: number[]) => {
    const level = levelOf(0, line(...ms));
    return judgePhases(
      [{ load: hold, drift: { maxRatio: 0.1 } }],
      [{ ...level, window: { ...level.window, gaps } }],
    )[0];
  };
  const steady = judge(10, 10.1, 9.9, 11, 10, 11, 10, 10.1, 9.9);
  assert.equal(steady?.state, "unresolved");
  assert.match(steady?.measured ?? "", /^latency 0 % .*: nothing completed for a time$/);
  const worse = judge(10, 10.1, 9.9, 12, 12, 12, 14, 14.1, 13.9);
  assert.equal(worse?.state, "fail");
  assert.doesNotMatch(worse?.measured ?? "", /nothing completed/);
});

describe("recovery", () => {
  const base = levelOf(0, line(10, 10, 10));
  const cases: readonly (readonly [name: string, after: TimelineBucket[], tookSec: number | undefined])[] = [
    ["at once", line(11, 10, 12, 10), 0],
    ["after the queue is gone", line(90, 50, 13, 11, 10, 10), 3],
    ["not while it comes and goes", line(90, 10, 10, 90, 10, 10, 90), undefined],
    ["after a first moment that was calm by chance", line(10, 90, 10, 10, 10), 2],
    ["not while nothing is answered", line(90, 0, 10, 10, 0, 10), undefined],
  ];
  for (const [name, after, tookSec] of cases) {
    test(name, () => {
      const recovery = measureRecovery({ withinRatio: 0.2 }, base, levelOf(2, after));
      assert.deepEqual(
        [recovery?.baseNs, recovery?.tookNs, recovery?.intervalNs],
        [10e6, tookSec === undefined ? undefined : tookSec * 1e9, 1e9],
      );
    });
  }

  const phases = (limitMs?: number): PhasePlan[] => [
    { load: hold, name: "base" },
    { load: hold, name: "peak" },
    { load: hold, recovery: { baseIndex: 0, withinRatio: 0.2, ...(limitMs === undefined ? {} : { limitMs }) } },
  ];
  const verdicts: readonly (readonly [
    name: string,
    limitMs: number | undefined,
    after: TimelineBucket[],
    RegExp,
    VerdictState,
  ])[] = [
    [
      "back in time",
      3000,
      line(90, 50, 13, 11, 10, 10),
      /^back after 3 s to the median of 10 ms, in intervals of 1 s$/,
      "pass",
    ],
    ["back too late", 2999, line(90, 50, 13, 11, 10, 10), /^back after 3 s/, "fail"],
    ["back without a limit", undefined, line(90, 50, 13, 11, 10, 10), /^back after 3 s/, "pass"],
    ["never back", undefined, line(90, 90, 90, 90), /^not back to the median of 10 ms/, "fail"],
    ["not back before a limit that is later", 9000, line(90, 90, 90, 90), /^not back .* after 4 s$/, "unresolved"],
    ["not back when the limit has passed", 4000, line(90, 90, 90, 90), /^not back/, "fail"],
    ["too short", undefined, line(10, 10), /too little/, "unresolved"],
  ];
  for (const [name, limitMs, after, measured, state] of verdicts) {
    test(`${name}: ${state}`, () => {
      const [verdict] = judgePhases(phases(limitMs), [base, levelOf(1, line(90)), levelOf(2, after)]);
      assert.match(verdict?.measured ?? "", measured);
      assert.equal(verdict?.state, state);
      assert.match(verdict?.text ?? "", /^median latency back after peak/);
    });
  }

  test("of a phase that was not reached is unresolved, and of one that was cut short unless it was back", () => {
    const stateOf = (...levels: PhaseLevel[]) => judgePhases(phases(), [base, ...levels]).map(({ state }) => state);
    const cut = (timeline: TimelineBucket[]): PhaseLevel => ({ ...levelOf(2, timeline), outcome: "partial" });
    assert.deepEqual(stateOf(), ["unresolved"]);
    assert.deepEqual(stateOf(cut(line(90, 90, 90, 90))), ["unresolved"]);
    assert.deepEqual(stateOf(cut(line(90, 10, 10, 10))), ["pass"]);
  });
});
