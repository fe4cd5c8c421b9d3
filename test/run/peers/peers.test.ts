import assert from "node:assert/strict";
import { test } from "node:test";
import { ALONE } from "../../../src/run/peers/peers.ts";

test("a single process does not wait, and is stable when it is stable itself", async () => {
  const signal = { isStopped: false };
  await ALONE.waitForAll(signal);
  assert.deepEqual([await ALONE.areAllStable(true, signal), await ALONE.areAllStable(false, signal)], [true, false]);
  await ALONE.waitForEnd(signal);
  await ALONE.close();
  assert.equal(ALONE.count, 1);
});
