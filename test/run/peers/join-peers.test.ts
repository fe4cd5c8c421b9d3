import assert from "node:assert/strict";
import { test } from "node:test";
import { word } from "../../../src/plan/messages.ts";
import { joinPeers } from "../../../src/run/peers/join-peers.ts";
import { ALONE } from "../../../src/run/peers/peers.ts";
import { isMpiRank } from "../../../src/runtime/launch/mpi.ts";

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
