import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { functionSchema, lookUpFunction, registerFunction } from "../../src/plan/functions.ts";

test("a plan names a function, and the process returns it", () => {
  const makeBody = (n: number): string => `body ${n}`;
  const plan = registerFunction("target.body", makeBody);
  assert.match(plan.function, /^target\.body \(makeBody\) #\d+$/);
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), plan);
  assert.equal(lookUpFunction<typeof makeBody>(plan)(3), "body 3");
  assert.deepEqual(registerFunction("target.body", makeBody), plan, "the same function keeps its name");
  const other = registerFunction(
    "target.body",
    Object.defineProperty(() => 1, "name", { value: "makeBody" }),
  );
  assert.notEqual(other.function, plan.function);
});

test("a function without a name is known by its setting alone", () => {
  assert.match(
    registerFunction(
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
  assert.throws(() => lookUpFunction(plan), /target\.body \(gone\) #1: is a function of the scenario/);
  assert.equal(v.safeParse(functionSchema(), plan).success, false);
  assert.equal(v.safeParse(functionSchema(), registerFunction("here", Math.abs)).success, true);
});
