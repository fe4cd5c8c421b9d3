import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import { joinPeers } from "../../../src/run/peers/join-peers.ts";
import { joinLocally } from "../../../src/run/peers/local-peers.ts";
import type { Peers } from "../../../src/run/peers/peers.ts";
import { ALONE } from "../../../src/run/peers/peers.ts";
import { isMpiRank } from "../../../src/runtime/launch/mpi.ts";

test("a single process does not wait, and is stable when it is stable itself", async () => {
  const signal = { isStopped: false };
  await ALONE.waitForAll(signal);
  assert.deepEqual([await ALONE.areAllStable(true, signal), await ALONE.areAllStable(false, signal)], [true, false]);
  await ALONE.waitForEnd(signal);
  await ALONE.close();
  assert.equal(ALONE.count, 1);
});

const RUNNING = { isStopped: false };

function pair(): [Peers, Peers] {
  const [one, other] = joinLocally(2);
  return [one as Peers, other as Peers];
}

test("runs begin their levels together, and do not wait for those that have ended", async () => {
  const [one, other] = pair();
  const order: string[] = [];
  const first = one.waitForAll(RUNNING).then(() => order.push("began"));
  order.push("other comes");
  await other.waitForAll(RUNNING);
  await first;
  assert.deepEqual(order, ["other comes", "began"]);
  await other.close();
  await one.waitForAll(RUNNING);
  await one.waitForEnd(RUNNING);
});

test("a run keeps its load up until the others have ended", async () => {
  const [one, other] = pair();
  let hasEnded = false;
  const ending = one.waitForEnd(RUNNING).then(() => {
    hasEnded = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(hasEnded, false);
  await other.waitForEnd(RUNNING);
  await ending;
});

test("windows are stable when those of all runs at the level are", async () => {
  const [one, other] = pair();
  await Promise.all([one.waitForAll(RUNNING), other.waitForAll(RUNNING)]);
  assert.deepEqual(await Promise.all([one.areAllStable(true, RUNNING), other.areAllStable(false, RUNNING)]), [
    false,
    false,
  ]);
  assert.deepEqual(await Promise.all([one.areAllStable(true, RUNNING), other.areAllStable(true, RUNNING)]), [
    true,
    true,
  ]);
});

test("a run that is stopped waits for nothing", async () => {
  const [one] = pair();
  await one.waitForAll({ isStopped: true });
  await one.waitForEnd({ isStopped: true });
});

test("a plan without peers measures alone, without a note", async () => {
  const told: string[] = [];
  assert.equal(await joinPeers(false, (line) => told.push(word(line))), ALONE);
  assert.deepEqual(told, []);
});

test("a process that mpirun did not start measures alone, with a note", async () => {
  assert.equal(isMpiRank(), false);
  const told: string[] = [];
  assert.equal(await joinPeers(true, (line) => told.push(word(line))), ALONE);
  assert.equal(told.length, 1);
  assert.match(told[0] ?? "", /this process was not started by mpirun/);
});
