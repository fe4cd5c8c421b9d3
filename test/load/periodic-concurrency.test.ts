import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { periodicConcurrencyMode } from "../../src/load/periodic-concurrency.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";

test("groups join up to the largest concurrency, which is the one level", () => {
  const load = prepareLoad({ ...VALID, kind: "periodic-concurrency" });
  assert.deepEqual(load.search, { unit: "concurrency", levels: { kind: "list", values: [9] }, search: "linear" });
  assert.deepEqual(load.drive(9, []), { kind: "periodic", start: 1, end: 9, step: 4, periodResponses: 3 });
});

const VALID = { kind: "periodic-concurrency", start: 1, end: 9, step: 4, periodResponses: 3 };
const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, change: object])[] = [
  ["groups", true, {}],
  ["groups of none", false, { step: 0 }],
  ["no responses to wait for", false, { periodResponses: 0 }],
  ["half a response", false, { periodResponses: 1.5 }],
];
for (const [name, isAccepted, change] of SCHEMAS)
  test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    assert.equal(v.is(periodicConcurrencyMode.schema(), { ...VALID, ...change }), isAccepted);
  });
