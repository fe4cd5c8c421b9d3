import assert from "node:assert/strict";
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import {
  newMemoryPrefix,
  removeAbandonedMemory,
  removeSharedMemory,
} from "../../../src/service/triton-c-api/shared-memory-files.ts";

const skip = !existsSync("/dev/shm");

function namesOf(...prefixes: readonly string[]): string[] {
  return readdirSync("/dev/shm").filter((name) => prefixes.some((prefix) => name.startsWith(prefix)));
}

test("a run removes its own shared memory, and not that of another run of the same process", { skip }, () => {
  const [ended, running] = [newMemoryPrefix(), newMemoryPrefix()];
  for (const prefix of [ended, running]) writeFileSync(`/dev/shm/${prefix}a`, "");
  removeSharedMemory(ended);
  removeAbandonedMemory();
  assert.deepEqual(namesOf(ended, running), [`${running}a`]);
  removeSharedMemory(running);
  assert.deepEqual(namesOf(ended, running), []);
});

test("what a process has left that has ended is removed", { skip }, () => {
  const left = "/dev/shm/rampart_4194305_1_a"; // No process has such a number: it is above the kernel's limit.
  writeFileSync(left, "");
  removeAbandonedMemory();
  assert.equal(existsSync(left), false);
});
