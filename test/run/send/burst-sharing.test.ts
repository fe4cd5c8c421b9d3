// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { test } from "node:test";
import { BurstSharing, openBurstSharing } from "../../../src/run/send/burst-sharing.ts";
import { openCoreYield } from "../../../src/runtime/core-yield.ts";

const MS = 1e6;

/** A clock that goes on by what each thing takes, and counts how often the core was given away. */
function makeSharing(): {
  send(requests: number, busyRatio?: number): number;
  pause(): void;
  setTaken(ns: number): void;
} {
  let timeNs = 0;
  let cpuNs = 0;
  let count = 0;
  let takenNs = 0;
  const yieldCore = (): void => {
    count++;
    timeNs += takenNs;
  };
  const sharing = new BurstSharing(yieldCore, { nowNs: () => timeNs, cpuNs: () => cpuNs });
  return {
    send: (requests, busyRatio = 0) => {
      const before = count;
      for (let i = 0; i < requests; i++) {
        timeNs += 10_000;
        cpuNs += 10_000 * busyRatio;
        sharing.beforeSend();
      }
      return count - before;
    },
    pause: () => {
      timeNs += MS;
    },
    setTaken: (ns) => {
      takenNs = ns;
    },
  };
}

test("the core is yielded between the requests of a burst, for at most 5 ms per burst", () => {
  const { send, pause, setTaken } = makeSharing();
  assert.equal(send(1000), 999, "nobody waits for it");
  pause();
  setTaken(2 * MS);
  assert.equal(send(100), 3, "somebody takes all of it");
  assert.equal(send(100), 0, "the same burst");
  pause();
  assert.equal(send(2), 1, "the next one");
  for (let i = 0; i < 10; i++) {
    pause();
    assert.equal(send(1), 0, "single requests are no burst");
  }
});

test("a busy thread keeps its core until it has time again", () => {
  const { send } = makeSharing();
  // 10,000 requests take 100 ms; every 50 ms it looks.
  assert.equal(send(5000, 0.9), 4999);
  assert.ok(send(5000, 0.9) < 10);
  assert.ok(send(5000, 0.2) < 10);
  assert.ok(send(5000, 0.2) > 4990);
});

test("the system's call is there, and comes back", async () => {
  const yieldCore = await openCoreYield();
  assert.ok(yieldCore !== undefined);
  yieldCore();
  (await openBurstSharing())?.beforeSend();
});
