import assert from "node:assert/strict";
import { test } from "node:test";
import { broadcast } from "../../src/result/observer.ts";

test("joined observers are all told, and want records when one of them does", () => {
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
