import assert from "node:assert/strict";
import { test } from "node:test";
import * as api from "../../src/index.ts";
import { functionsOf } from "../../src/plan/functions.ts";
import { UserError } from "../../src/plan/problem.ts";
import { loadFunctions, whyNotElsewhere } from "../../src/scenario/thread-functions.ts";
import { makeFolder, writeIn } from "../make-folder.ts";
import { makePlan } from "../plan/make-plan.ts";

/** The functions of a scenario in a thread that has loaded nothing yet. */

const SCENARIO = `
import { defineScenario, embedded, hold } from "rampart";
export default defineScenario({
  name: "functions",
  target: embedded(),
  load: hold(1, { requests: 1 }),
  check: function isRight() { return true; },
});
`;

const sourceOf = (folder: string, started?: unknown) => {
  const path = writeIn(folder, "scenario.ts", SCENARIO);
  return { folder, context: { values: {}, file: "scenario.ts", path, started: { value: started } }, overrides: {} };
};

test("a plan's functions are found wherever they are", () => {
  const plan = { a: { function: "one" }, b: [{ c: { function: "two" }, function: "no name alone" }], d: null };
  assert.deepEqual([...functionsOf(plan).keys()], ["one", "two"]);
});

test("the scenario is loaded, and its functions have the names of the plan", async () => {
  const folder = makeFolder();
  const plan = makePlan({ check: { function: "check (isRight) #1" } });
  const { check } = await loadFunctions(plan, sourceOf(folder), api);
  assert.equal(check?.function, "check (isRight) #1");
  assert.equal((check?.call as (() => unknown) | undefined)?.(), true);
});

test("a function that the scenario does not give again is an error that names it", async () => {
  const folder = makeFolder();
  const plan = makePlan({ check: { function: "check (other) #1" } });
  await assert.rejects(loadFunctions(plan, sourceOf(folder), api), (error) => {
    assert.ok(error instanceof UserError);
    assert.equal(error.problems[0]?.path, "check (other) #1");
    return true;
  });
});

test("what setup returned must be plain data", async () => {
  const folder = makeFolder();
  assert.equal(whyNotElsewhere(sourceOf(folder, { url: "localhost" })), undefined);
  assert.match(whyNotElsewhere(sourceOf(folder, { stop: () => {} })) ?? "", /setup/);
});
