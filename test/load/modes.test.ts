import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import * as fc from "fast-check";
import * as v from "valibot";
import { gammaArrivals, rampArrivals } from "../../src/load/arrivals.ts";
import { concurrencyMode } from "../../src/load/concurrency.ts";
import { concurrencyRampMode, rampConcurrencyAt } from "../../src/load/concurrency-ramp.ts";
import { fixedScheduleMode } from "../../src/load/fixed-schedule.ts";
import { intervalsMode, readIntervalsNs } from "../../src/load/intervals.ts";
import { largestLevel, levelAt } from "../../src/load/levels.ts";
import { requestRateMode } from "../../src/load/request-rate.ts";
import { sessionConcurrencyMode } from "../../src/load/session-concurrency.ts";
import type { LevelsPlan } from "../../src/plan/load-plan.ts";
import { UserError } from "../../src/plan/problem.ts";

/** What each load mode decides, without a network or a clock. */

function allLevels(levels: LevelsPlan, most = 100): number[] {
  const found: number[] = [];
  for (let index = 0; index < most; index++) {
    const level = levelAt(levels, index);
    if (level === undefined) return found;
    found.push(level);
  }
  return found;
}

const sweeps: readonly (readonly [levels: LevelsPlan, visited: number[]])[] = [
  [{ kind: "list", values: [1, 8, 4] }, [1, 8, 4]],
  [{ kind: "range", start: 1, end: 4, step: 1 }, [1, 2, 3, 4]],
  [{ kind: "range", start: 1, end: 8, step: 3 }, [1, 4, 7]],
  [{ kind: "range", start: 4, end: 1, step: 1 }, [4]],
  [{ kind: "range", start: 4, end: 4, step: 1 }, [4]],
  [{ kind: "range", start: 0.5, end: 2, step: 0.5 }, [0.5, 1, 1.5, 2]],
];

for (const [levels, visited] of sweeps) {
  test(`levels visited of ${JSON.stringify(levels)}`, () => {
    assert.deepEqual(allLevels(levels), visited);
    assert.equal(levelAt(levels, visited.length), undefined);
  });
}

test("a range without an end goes on, and has no largest level", () => {
  const endless: LevelsPlan = { kind: "range", start: 2, end: null, step: 2 };
  assert.deepEqual(allLevels(endless, 4), [2, 4, 6, 8]);
  assert.equal(levelAt(endless, 1e6), 2 + 2e6);
  assert.equal(largestLevel(endless), undefined);
});

test("the largest level is that of the sweep, whatever its order", () => {
  const range = fc.record({
    kind: fc.constant("range" as const),
    start: fc.integer({ min: 1, max: 50 }),
    end: fc.integer({ min: 1, max: 50 }),
    step: fc.integer({ min: 1, max: 10 }),
  });
  const list = fc.record({
    kind: fc.constant("list" as const),
    values: fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 }),
  });
  fc.assert(
    fc.property(fc.oneof(range, list), (levels) => {
      const visited = allLevels(levels);
      assert.ok(visited.length > 0);
      assert.ok((largestLevel(levels) as number) >= Math.max(...visited));
    }),
  );
});

test("concurrency keeps the level outstanding", () => {
  const load = concurrencyMode.prepare({
    kind: "concurrency",
    levels: { kind: "list", values: [1, 2] },
    search: "linear",
  });
  assert.equal(load.search.unit, "concurrency");
  assert.deepEqual(load.drive(7, []), { kind: "closed", concurrency: 7 });
});

test("a request rate makes arrivals anew for each level", () => {
  for (const distribution of ["constant", "poisson"] as const) {
    const load = requestRateMode.prepare({
      kind: "request-rate",
      levels: { kind: "list", values: [10] },
      search: "linear",
      distribution,
      seed: 3,
    });
    assert.equal(load.search.unit, "request-rate");
    const times = [0, 1].map(() => {
      const drive = load.drive(10, []);
      assert.equal(drive.kind, "scheduled");
      return Array.from({ length: 5 }, (drive as Extract<typeof drive, { kind: "scheduled" }>).arrivals);
    });
    assert.deepEqual(times[0], times[1]);
  }
});

test("a request rate hands on its limit of requests outstanding, its gaps and its ramp", () => {
  const load = requestRateMode.prepare({
    kind: "request-rate",
    levels: { kind: "list", values: [10] },
    search: "linear",
    distribution: "gamma",
    seed: 3,
    smoothness: 0.25,
    maxOutstanding: 5,
    ramp: { fromPerSec: 0, overMs: 1000 },
  });
  const drive = load.drive(10, []);
  assert.ok(drive.kind === "scheduled");
  assert.equal(drive.maxOutstanding, 5);
  const expected = rampArrivals(gammaArrivals(10, 0.25, 3), 10, { fromPerSec: 0, overMs: 1000 });
  assert.deepEqual(Array.from({ length: 20 }, drive.arrivals), Array.from({ length: 20 }, expected));
});

test("concurrency with a ramp rises from 1 to the level, and stays there", () => {
  const levels = { kind: "list", values: [4] } as const;
  const load = concurrencyMode.prepare({ kind: "concurrency", levels, search: "linear", rampMs: 400 });
  const drive = load.drive(4, []);
  assert.ok(drive.kind === "ramp");
  assert.equal(drive.maxConcurrency, 4);
  assert.deepEqual(
    [0, 99, 100, 250, 300, 1e6].map((ms) => drive.concurrencyAt(ms * 1e6)),
    [1, 1, 2, 3, 4, 4],
  );
});

test("sessions are held at one level, so many at once", () => {
  const load = sessionConcurrencyMode.prepare({ kind: "session-concurrency", concurrency: 3 });
  assert.deepEqual(load.search, { unit: "concurrency", levels: { kind: "list", values: [3] }, search: "linear" });
  assert.deepEqual(load.drive(3, []), { kind: "sessions", concurrency: 3 });
});

test("a ramp begins at its start, reaches its end and never leaves the way between", () => {
  const level = fc.integer({ min: 1, max: 200 });
  fc.assert(
    fc.property(level, level, fc.integer({ min: 1, max: 1e6 }), (start, end, overMs) => {
      const overNs = overMs * 1e6;
      assert.equal(rampConcurrencyAt(start, end, overNs, 0), start);
      assert.equal(rampConcurrencyAt(start, end, overNs, -1), start);
      for (const late of [overNs, overNs * 10]) assert.equal(rampConcurrencyAt(start, end, overNs, late), end);
      const way = Array.from({ length: 101 }, (_, i) => rampConcurrencyAt(start, end, overNs, (i / 100) * overNs));
      const direction = Math.sign(end - start);
      for (const [index, now] of way.entries()) {
        assert.ok(Number.isInteger(now) && now >= Math.min(start, end) && now <= Math.max(start, end));
        if (index > 0) assert.ok((now - (way[index - 1] as number)) * direction >= 0);
      }
    }),
  );
});

test("a ramp holds every level equally long", () => {
  const counts = new Map<number, number>();
  for (let i = 0; i < 400; i++) {
    const level = rampConcurrencyAt(1, 4, 400, i);
    counts.set(level, (counts.get(level) ?? 0) + 1);
  }
  assert.deepEqual(Object.fromEntries(counts), { 1: 100, 2: 100, 3: 100, 4: 100 });
});

test("a ramp is one measurement at its largest level", () => {
  const load = concurrencyRampMode.prepare({ kind: "concurrency-ramp", start: 9, end: 2, overMs: 100 });
  assert.deepEqual(load.search.levels, { kind: "list", values: [9] });
  const drive = load.drive(9, []);
  assert.ok(drive.kind === "ramp");
  assert.equal(drive.maxConcurrency, 9);
  assert.deepEqual([drive.concurrencyAt(0), drive.concurrencyAt(100e6)], [9, 2]);
});

function withText<T>(text: string, use: (path: string) => T): T {
  const folder = mkdtempSync(join(tmpdir(), "rampart-test-"));
  const path = join(folder, "gaps.txt");
  writeFileSync(path, text);
  try {
    return use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function problemsOf(use: () => unknown): { path: string; message: string }[] {
  try {
    use();
  } catch (error) {
    assert.ok(error instanceof UserError);
    for (const problem of error.problems) assert.notEqual(problem.hint, "");
    return error.problems.map(({ path, message }) => ({ path, message }));
  }
  assert.fail("nothing was refused");
}

test("intervals are read from a file in microseconds, and their mode loops them", () => {
  withText("100\n\n 200 \r\n500", (path) => {
    assert.deepEqual(readIntervalsNs(path), [100e3, 200e3, 500e3]);
    const load = intervalsMode.prepare({ kind: "intervals", file: path });
    assert.deepEqual(load.search.levels, { kind: "list", values: [3750] });
    const drive = load.drive(3750, []);
    assert.ok(drive.kind === "scheduled");
    assert.deepEqual(Array.from({ length: 4 }, drive.arrivals), [100e3, 300e3, 800e3, 900e3]);
  });
});

test("every bad line of an intervals file is named, up to ten", () => {
  withText(`1\nx\n2\n-3\n4.5\n${"bad\n".repeat(20)}`, (path) => {
    const problems = problemsOf(() => readIntervalsNs(path));
    assert.equal(problems.length, 10);
    assert.deepEqual(
      problems.slice(0, 3).map((problem) => problem.path),
      [`${path}, line 2`, `${path}, line 4`, `${path}, line 5`],
    );
  });
});

test("an intervals file that is missing, empty or all zero is refused", () => {
  assert.match(problemsOf(() => readIntervalsNs("/nonexistent"))[0]?.message ?? "", /failed to open file/);
  for (const [text, message] of [
    ["", /is empty/],
    ["\n \n", /is empty/],
    ["0\n0\n", /all time intervals are 0/],
  ] as const)
    withText(text, (path) => assert.match(problemsOf(() => readIntervalsNs(path))[0]?.message ?? "", message));
});

const part = { startMs: 1, endMs: 1, startsAtFirst: false, speedRatio: 1 };
const rateOf = (more: object): object => ({
  kind: "request-rate",
  levels: { kind: "list", values: [1] },
  search: "linear",
  distribution: "gamma",
  seed: 0,
  ...more,
});
const rateSchema = requestRateMode.schema(v);
const schedule = (more: object): boolean =>
  v.is(fixedScheduleMode.schema(v), { kind: "fixed-schedule", part: { ...part, ...more } });
const rampOf = (rampMs: number): object => ({
  kind: "concurrency",
  levels: { kind: "list", values: [1] },
  search: "linear",
  rampMs,
});

const schemas: readonly (readonly [name: string, accepts: boolean, isAccepted: boolean])[] = [
  [
    "concurrency 1",
    v.is(concurrencyMode.schema(v), { kind: "concurrency", levels: { kind: "list", values: [1] }, search: "linear" }),
    true,
  ],
  [
    "concurrency 0",
    v.is(concurrencyMode.schema(v), { kind: "concurrency", levels: { kind: "list", values: [0] }, search: "linear" }),
    false,
  ],
  [
    "concurrency 1.5",
    v.is(concurrencyMode.schema(v), { kind: "concurrency", levels: { kind: "list", values: [1.5] }, search: "linear" }),
    false,
  ],
  [
    "no levels",
    v.is(concurrencyMode.schema(v), { kind: "concurrency", levels: { kind: "list", values: [] }, search: "linear" }),
    false,
  ],
  [
    "step 0",
    v.is(concurrencyMode.schema(v), {
      kind: "concurrency",
      levels: { kind: "range", start: 1, end: 2, step: 0 },
      search: "linear",
    }),
    false,
  ],
  [
    "no end",
    v.is(concurrencyMode.schema(v), {
      kind: "concurrency",
      levels: { kind: "range", start: 1, end: null, step: 1 },
      search: "binary",
    }),
    true,
  ],
  [
    "rate 0.5",
    v.is(requestRateMode.schema(v), {
      kind: "request-rate",
      levels: { kind: "list", values: [0.5] },
      search: "linear",
      distribution: "poisson",
      seed: 1,
    }),
    true,
  ],
  [
    "rate 0",
    v.is(requestRateMode.schema(v), {
      kind: "request-rate",
      levels: { kind: "list", values: [0] },
      search: "linear",
      distribution: "poisson",
      seed: 1,
    }),
    false,
  ],
  [
    "unknown distribution",
    v.is(requestRateMode.schema(v), {
      kind: "request-rate",
      levels: { kind: "list", values: [1] },
      search: "linear",
      distribution: "normal",
      seed: 1,
    }),
    false,
  ],
  [
    "ramp over 0 ms",
    v.is(concurrencyRampMode.schema(v), { kind: "concurrency-ramp", start: 1, end: 2, overMs: 0 }),
    false,
  ],
  ["concurrency reached in no time", v.is(concurrencyMode.schema(v), rampOf(0)), false],
  ["concurrency reached in a time", v.is(concurrencyMode.schema(v), rampOf(0.5)), true],
  ["gamma", v.is(rateSchema, rateOf({ smoothness: 0.5 })), true],
  ["no smoothness at all", v.is(rateSchema, rateOf({ smoothness: 0 })), false],
  ["one outstanding", v.is(rateSchema, rateOf({ maxOutstanding: 1 })), true],
  ["none outstanding", v.is(rateSchema, rateOf({ maxOutstanding: 0 })), false],
  ["a rate from 0", v.is(rateSchema, rateOf({ ramp: { fromPerSec: 0, overMs: 1 } })), true],
  ["a rate from below 0", v.is(rateSchema, rateOf({ ramp: { fromPerSec: -1, overMs: 1 } })), false],
  ["a rate reached in no time", v.is(rateSchema, rateOf({ ramp: { fromPerSec: 0, overMs: 0 } })), false],
  ["a whole schedule", v.is(fixedScheduleMode.schema(v), { kind: "fixed-schedule" }), true],
  ["a moment of a schedule", schedule({}), true],
  ["a schedule without bounds", schedule({ startMs: null, endMs: null }), true],
  ["a schedule that ends before it starts", schedule({ endMs: 0.5 }), false],
  ["a schedule from before 0", schedule({ startMs: -1 }), false],
  ["a schedule at speed 0", schedule({ speedRatio: 0 }), false],
  ["ramp", v.is(concurrencyRampMode.schema(v), { kind: "concurrency-ramp", start: 2, end: 1, overMs: 1 }), true],
  ["no intervals file", v.is(intervalsMode.schema(v), { kind: "intervals", file: "" }), false],
];

for (const [name, accepts, isAccepted] of schemas)
  test(`the schema ${isAccepted ? "accepts" : "refuses"}: ${name}`, () => assert.equal(accepts, isAccepted));
