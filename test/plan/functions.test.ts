import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import {
  functionOf,
  functionSchema,
  functionsOf,
  numberFunctions,
  toFunctionPlan,
  withCalls,
  withoutCalls,
} from "../../src/plan/functions.ts";

const named = (name: string, fn: () => unknown) => Object.defineProperty(fn, "name", { value: name });

test("a plan names a function and holds it, and prints the name", () => {
  const plan = toFunctionPlan(
    "target.body",
    named("makeBody", () => "body"),
  );
  assert.deepEqual(JSON.parse(JSON.stringify(plan)), { function: "target.body (makeBody) #1" });
  assert.equal(functionOf<() => unknown>(plan)(), "body");
});

test("a function without a name is known by its setting alone", () => {
  assert.equal(
    toFunctionPlan(
      "target.request",
      named("", () => 1),
    ).function,
    "target.request #1",
  );
});

test("different functions of a plan have different names, and the same one has one", () => {
  const [one, other] = [named("makeBody", () => 1), named("makeBody", () => 2)];
  const [bytes, list] = [new Uint8Array(2), [1, { two: 2 }]];
  const parts = [one, other, one].map((fn) => ({ by: toFunctionPlan("target.body", fn) }));
  const plan = numberFunctions({ parts, bytes, list });
  assert.deepEqual(
    plan.parts.map(({ by }) => by.function),
    ["target.body (makeBody) #1", "target.body (makeBody) #2", "target.body (makeBody) #1"],
  );
  assert.deepEqual([...functionsOf(plan).values()], [one, other]);
  assert.equal(plan.bytes, bytes);
  assert.equal(plan.list, list, "a part without functions is the same");
});

test("a plan without its functions can be cloned, and takes others of these names", () => {
  const given = {
    a: toFunctionPlan(
      "check",
      named("isRight", () => 1),
    ),
    b: { function: "no function", c: 1 },
  };
  const sent = structuredClone(withoutCalls(given));
  assert.deepEqual(sent, { a: { function: "check (isRight) #1" }, b: given.b });
  assert.deepEqual(withCalls(sent, functionsOf(given)), given);
});

test("a function of another process is refused by name", () => {
  const plan = { function: "target.body (gone) #1" };
  assert.throws(() => functionOf(plan), /target\.body \(gone\) #1: is a function of the scenario/);
  assert.equal(v.safeParse(functionSchema(), plan).success, false);
  assert.equal(v.safeParse(functionSchema(), toFunctionPlan("here", Math.abs)).success, true);
});
