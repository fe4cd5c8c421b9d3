import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { divideDrive } from "../../../src/load/drive.ts";
import { sessionConcurrencyMode } from "../../../src/load/sessions/session-concurrency.ts";
import { sessionRateMode } from "../../../src/load/sessions/session-rate.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";
import { testSchema } from "../../plan/test-schema.ts";

test("sessions are one level of concurrent conversations", () => {
  const load = prepareLoad({ kind: "session-concurrency", concurrency: 3 });
  assert.deepEqual(load.search, { unit: "concurrency", levels: { kind: "list", values: [3] }, search: "linear" });
  assert.deepEqual(load.drive(3, []), { kind: "sessions", concurrency: 3 });
});

const VALID = { kind: "session-concurrency", concurrency: 1 };
testSchema(sessionConcurrencyMode.schema(), VALID, [
  ["one session", true, {}],
  ["no session", false, { concurrency: 0 }],
]);

test("sessions that repeat have no number of requests of their own", () => {
  const load = { kind: "session-concurrency", concurrency: 3, repeats: true } as const;
  assert.equal(sessionConcurrencyMode.requestCount?.(load), undefined);
  assert.deepEqual(prepareLoad(load).drive(3, []), {
    kind: "sessions",
    concurrency: 3,
    repeats: true,
  });
});

describe("session rate", () => {
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

  testSchema(sessionRateMode.schema(), PLAN, [
    ["a rate", true, {}],
    ["no rate", false, { perSec: 0 }],
    ["sessions that repeat", true, { repeats: true }],
    ["gamma-distributed gaps", true, { distribution: "gamma", smoothness: 2 }],
  ]);
});
