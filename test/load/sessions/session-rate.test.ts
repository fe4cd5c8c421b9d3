import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { divideDrive } from "../../../src/load/drive.ts";
import { sessionRateMode } from "../../../src/load/sessions/session-rate.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";

const PLAN = { kind: "session-rate", perSec: 4, distribution: "constant", seed: 0 } as const;

test("sessions at a rate are one level of that rate, and arrive at it", () => {
  const load = prepareLoad(PLAN);
  assert.deepEqual(load.search, { unit: "session-rate", levels: { kind: "list", values: [4] }, search: "linear" });
  const drive = load.drive(4, []);
  assert.ok(drive.kind === "session-arrivals" && drive.repeats === undefined);
  assert.deepEqual([drive.arrivals(), drive.arrivals()], [250e6, 500e6]);
  assert.equal(sessionRateMode.requestCount?.(PLAN), null);
  assert.equal(sessionRateMode.requestCount?.({ ...PLAN, repeats: true }), undefined);
});

test("each of several senders begins an equal part of the sessions", () => {
  const drive = divideDrive(prepareLoad(PLAN).drive(4, []), { index: 1, count: 2 });
  assert.ok(drive.kind === "session-arrivals");
  assert.deepEqual([drive.arrivals(), drive.arrivals()], [500e6, 1000e6]);
});

const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, change: object])[] = [
  ["a rate", true, {}],
  ["no rate", false, { perSec: 0 }],
  ["sessions that repeat", true, { repeats: true }],
  ["gamma-distributed gaps", true, { distribution: "gamma", smoothness: 2 }],
];
for (const [name, isAccepted, change] of SCHEMAS)
  test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    assert.equal(v.is(sessionRateMode.schema(), { ...PLAN, ...change }), isAccepted);
  });
