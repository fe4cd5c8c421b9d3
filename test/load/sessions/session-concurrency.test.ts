import assert from "node:assert/strict";
import { test } from "node:test";
import * as v from "valibot";
import { sessionConcurrencyMode } from "../../../src/load/sessions/session-concurrency.ts";
import { prepareLoad } from "../../../src/registry/load-modes.ts";

test("sessions are one level of concurrent conversations", () => {
  const load = prepareLoad({ kind: "session-concurrency", concurrency: 3 });
  assert.deepEqual(load.search, { unit: "concurrency", levels: { kind: "list", values: [3] }, search: "linear" });
  assert.deepEqual(load.drive(3, []), { kind: "sessions", concurrency: 3 });
});

const VALID = { kind: "session-concurrency", concurrency: 1 };
const SCHEMAS: readonly (readonly [name: string, isAccepted: boolean, change: object])[] = [
  ["one session", true, {}],
  ["no session", false, { concurrency: 0 }],
];
for (const [name, isAccepted, change] of SCHEMAS)
  test(`the schema ${isAccepted ? "accepts" : "refuses"} ${name}`, () => {
    assert.equal(v.is(sessionConcurrencyMode.schema(), { ...VALID, ...change }), isAccepted);
  });

test("sessions that repeat have no number of requests of their own", () => {
  const load = { kind: "session-concurrency", concurrency: 3, repeats: true } as const;
  assert.equal(sessionConcurrencyMode.requestCount?.(load), undefined);
  assert.deepEqual(prepareLoad(load).drive(3, []), {
    kind: "sessions",
    concurrency: 3,
    repeats: true,
  });
});
