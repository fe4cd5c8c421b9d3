import assert from "node:assert/strict";
import { test } from "node:test";
import { sum } from "../../../src/plan/units.ts";
import { makePlan } from "../../plan/make-plan.ts";
import { runSenders } from "./run-senders.ts";

/** A run that adds senders between its levels is the run of the same number of senders. */

const plan = makePlan({
  failures: { maxRatio: null },
  load: { kind: "concurrency", levels: { kind: "list", values: [1, 3, 5, 6] }, search: "linear" },
  measurement: { mode: { kind: "requests", count: 60 } },
});

test("one more sends after each level that was limited, up to the most, and each level says how many", async () => {
  const { result, sent } = await runSenders(plan, { remoteCount: 1, growsTo: 3 });
  assert.equal(result.error, undefined);
  assert.deepEqual(
    result.levels.map(({ level, workers }) => [level, workers?.count]),
    [
      [1, 1],
      [3, 2],
      [5, 3],
      [6, 3],
    ],
  );
  assert.equal(result.levels[0]?.workers?.reason, undefined);
  assert.equal(typeof result.levels[1]?.workers?.reason, "string");
  // Each fleet has clients of its own: 1, 2 and 3.
  assert.deepEqual(
    sent.map(({ length }) => length > 0),
    Array.from({ length: 6 }, () => true),
  );
  assert.equal(sum(sent.map(({ length }) => length)), 240);
});

test("its counts and its windows are those of all senders together", async () => {
  const { result: grown } = await runSenders(plan, { remoteCount: 1, growsTo: 3 });
  const { result: fixed } = await runSenders(plan, { remoteCount: 1 });
  const { sentCount, completedCount, failedCount } = grown;
  assert.deepEqual([sentCount, completedCount + failedCount], [240, 240]);
  assert.equal(fixed.sentCount, sentCount);
  const numbersOf = ({ levels }: typeof grown): unknown => levels.map(({ window }) => window.numbers);
  assert.deepEqual(numbersOf(grown), numbersOf(fixed));
  for (const { window } of grown.levels) assert.equal(window.requestCount + window.failedCount, 60);
  assert.ok(fixed.levels.every(({ workers }) => workers === undefined));
});
