import assert from "node:assert/strict";
import { test } from "node:test";
import { BurstSharing, openBurstSharing } from "../../src/run/burst-sharing.ts";
import { openCoreYield } from "../../src/runtime/core-yield.ts";

const MS = 1e6;

test("the core is given away after each request, and where that takes long no more than 5 ms in one burst", () => {
  let timeNs = 0;
  let count = 0;
  let takesNs = 0;
  const sharing = new BurstSharing(
    () => {
      count++;
      timeNs += takesNs;
    },
    () => timeNs,
  );
  const send = (requests: number): number => {
    const before = count;
    for (let i = 0; i < requests; i++) {
      timeNs += 10_000;
      sharing.sent();
    }
    return count - before;
  };
  assert.equal(send(1000), 1000, "nobody waits for it");
  timeNs += MS;
  takesNs = 2 * MS;
  assert.equal(send(100), 3, "somebody takes all of it");
  assert.equal(send(100), 0, "the same burst");
  timeNs += MS;
  assert.equal(send(1), 1, "the next one");
});

test("the system's call is there, and comes back", async () => {
  const yieldCore = await openCoreYield();
  assert.ok(yieldCore !== undefined);
  yieldCore();
  (await openBurstSharing())?.sent();
});
