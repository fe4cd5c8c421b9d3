import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadPlan } from "../../src/plan/load-plan.ts";
import { describeLevel, describeLoad, joinLevels, levelTitles } from "../../src/registry/level-names.ts";
import { makePlan } from "../plan/make-plan.ts";

/** The names of levels. */

const levels = { kind: "list", values: [1, 4] } as const;
const CLOSED: LoadPlan = { kind: "concurrency", levels, search: "linear" };
const OPEN: LoadPlan = { kind: "request-rate", levels, search: "linear", distribution: "constant", seed: 0 };
const PHASES: LoadPlan = { kind: "phases", phases: [{ load: CLOSED, name: "base" }, { load: OPEN }] };
const RAMP: LoadPlan = { kind: "concurrency-ramp", start: 1, end: 16, overMs: 1000 };
const RECORDED: LoadPlan = { kind: "fixed-schedule" };
const tokens = { responses: "chat", isStreamed: true, tokenizer: "none", revision: "main" };

for (const [load, measurement, phase, one, four, column] of [
  [CLOSED, {}, undefined, "concurrency 1", "concurrency 4", "concurrency"],
  [CLOSED, { tokens }, undefined, "1 user", "4 users", "users"],
  [OPEN, {}, undefined, "1 requests/s", "4 requests/s", "req/s asked"],
  [OPEN, { tokens }, undefined, "1 requests/s", "4 requests/s", "req/s asked"],
  [RAMP, {}, undefined, "concurrency 1 to 16", "concurrency 1 to 16", "concurrency"],
  [RECORDED, {}, undefined, "recorded times", "recorded times", "req/s asked"],
  [PHASES, {}, 0, "base: concurrency 1", "base: concurrency 4", "req/s asked"],
  [PHASES, { tokens }, 0, "base: 1 user", "base: 4 users", "req/s asked"],
  [PHASES, { tokens }, 1, "1 requests/s", "4 requests/s", "req/s asked"],
] as const)
  test(`a level is ${four} in a column ${column}`, () => {
    const plan = makePlan({ load, measurement });
    assert.deepEqual(
      [1, 4].map((level) => describeLevel(plan, level, phase)),
      [one, four],
    );
    assert.equal(levelTitles(plan).column, column);
  });

test("the head of a report names levels as its tables do", () => {
  assert.equal(describeLoad(makePlan({ load: CLOSED })), "concurrency 1, 4");
  assert.equal(describeLoad(makePlan({ load: CLOSED, measurement: { tokens } })), "users 1, 4");
  assert.equal(describeLoad(makePlan({ load: OPEN, measurement: { tokens } })), "constant request rate 1, 4");
});

test("names of several levels name the unit once", () => {
  assert.equal(joinLevels(["concurrency 1", "concurrency 2", "concurrency 4"]), "concurrency 1, 2 and 4");
  assert.equal(joinLevels(["1 user", "4 users"]), "1 and 4 users");
  assert.equal(joinLevels(["1 user"]), "1 user");
  assert.equal(joinLevels(["base: 1 user", "peak: 4 users"]), "base: 1 user and peak: 4 users");
  assert.equal(joinLevels(["10 requests/s", "20 requests/s"]), "10 and 20 requests/s");
});
