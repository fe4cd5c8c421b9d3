import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { functionSchema, heldFunction, holdFunction } from "../../src/plan/functions.ts";

test("a plan names a function, and the process returns it", () => {
  const makeBody = (n: number): string => `body ${n}`;
  const plan = holdFunction("target.body", makeBody);
  assert.match(plan.function, /^target\.body \(makeBody\) #\d+$/);
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
  assert.equal(heldFunction<typeof makeBody>(plan)(3), "body 3");
  assert.deepEqual(holdFunction("target.body", makeBody), plan, "the same function keeps its name");
  const other = holdFunction(
    "target.body",
    Object.defineProperty(() => 1, "name", { value: "makeBody" }),
  );
  assert.notEqual(other.function, plan.function);
});

test("a function without a name is known by its setting alone", () => {
  assert.match(
    holdFunction(
      "target.request",
      (
        () => () =>
          1
      )(),
    ).function,
    /^target\.request #\d+$/,
  );
});

test("a function of another process is refused by name", () => {
  const plan = { function: "target.body (gone) #1" };
  assert.throws(() => heldFunction(plan), /target\.body \(gone\) #1: is a function of the scenario/);
  assert.equal(v.safeParse(functionSchema(), plan).success, false);
  assert.equal(v.safeParse(functionSchema(), holdFunction("here", Math.abs)).success, true);
});
