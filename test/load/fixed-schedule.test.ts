import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { fixedScheduleMode } from "../../src/load/fixed-schedule.ts";
import { prepareLoad } from "../../src/registry/load-modes.ts";

test("each step of the data is due at its own time, at one level", () => {
  const load = prepareLoad({ kind: "fixed-schedule" });
  assert.deepEqual(load.search, { unit: "request-rate", levels: { kind: "list", values: [1] }, search: "linear" });
  const drive = load.drive(1, [0, 5, 5, 20]);
  assert.ok(drive.kind === "scheduled");
  assert.deepEqual(Array.from({ length: 4 }, drive.arrivals), [0, 5e6, 5e6, 20e6]);
});

const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, part: object | undefined])[] = [
  ["a whole schedule", true, undefined],
  ["a moment of it", true, {}],
  ["a part without bounds", true, { startMs: null, endMs: null }],
  ["a part that ends before it starts", false, { endMs: 0.5 }],
  ["a part from before 0", false, { startMs: -1 }],
  ["speed 0", false, { speedRatio: 0 }],
];
for (const [name, isAccepted, change] of SCHEMAS)
  test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    const part = change && { startMs: 1, endMs: 1, startsAtFirst: false, speedRatio: 1, ...change };
    const plan = { kind: "fixed-schedule", ...(part === undefined ? {} : { part }) };
    assert.equal(v.is(fixedScheduleMode.schema(), plan), isAccepted);
  });
