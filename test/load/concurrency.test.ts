import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { concurrencyMode } from "../../src/load/concurrency.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";

test("concurrency keeps the level outstanding", () => {
  const load = prepareLoad({
    kind: "concurrency",
    levels: { kind: "list", values: [1, 2] },
    search: "linear",
  });
  assert.equal(load.search.unit, "concurrency");
  assert.deepEqual(load.drive(7, []), { kind: "closed", concurrency: 7 });
});

test("concurrency with a ramp rises from 1 to the level, and stays there", () => {
  const levels = { kind: "list", values: [4] } as const;
  const load = prepareLoad({ kind: "concurrency", levels, search: "linear", rampMs: 400 });
  const drive = load.drive(4, []);
  assert.ok(drive.kind === "ramp");
  assert.equal(drive.maxConcurrency, 4);
  assert.deepEqual(
    [0, 99, 100, 250, 300, 1e6].map((ms) => drive.concurrencyAt(ms * 1e6)),
    [1, 1, 2, 3, 4, 4],
  );
});

const VALID = { kind: "concurrency", levels: { kind: "list", values: [1] }, search: "linear" };
const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, change: object])[] = [
  ["a level", true, {}],
  ["level 0", false, { levels: { kind: "list", values: [0] } }],
  ["half a level", false, { levels: { kind: "list", values: [1.5] } }],
  ["a ramp", true, { rampMs: 0.5 }],
  ["a ramp in no time", false, { rampMs: 0 }],
];
for (const [name, isAccepted, change] of SCHEMAS)
  test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    assert.equal(v.is(concurrencyMode.schema(), { ...VALID, ...change }), isAccepted);
  });
