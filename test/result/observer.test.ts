import assert from "node:assert/strict";
import { test } from "node:test";
import { broadcast } from "../../src/result/observer.ts";

test("all broadcast observers are called, and records are created when one of them wants them", () => {
  const told: string[] = [];
  const joined = broadcast([
    { onEmptyWindow: (trial) => told.push(`a${trial}`) },
    { onEmptyWindow: (trial) => told.push(`b${trial}`) },
  ]);
  joined.onEmptyWindow?.(4);
  assert.deepEqual(told, ["a4", "b4"]);
  assert.equal(joined.onRecord, undefined);
  assert.notEqual(broadcast([{}, { onRecord: () => {} }]).onRecord, undefined);
});
