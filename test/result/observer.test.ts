import assert from "node:assert/strict";
import { test } from "node:test";
import { broadcast } from "../../src/result/observer.ts";

test("joined observers are all told, and want records when one of them does", () => {
  const told: string[] = [];
  const joined = broadcast([
    { onWindowError: (trial) => told.push(`a${trial}`) },
    { onWindowError: (trial) => told.push(`b${trial}`) },
  ]);
  joined.onWindowError?.(4, "x");
  assert.deepEqual(told, ["a4", "b4"]);
  assert.equal(joined.onRecord, undefined);
  assert.notEqual(broadcast([{}, { onRecord: () => {} }]).onRecord, undefined);
});
