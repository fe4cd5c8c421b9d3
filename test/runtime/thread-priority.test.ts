import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { LOWERED } from "../../src/runtime/thread-priority.ts";

/** A thread that lowers its priority and reports its niceness, the 19th field of the system's line about it. */
const LOWERING = new URL("./lowering-thread.ts", import.meta.url);

function nicenessOf(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
}

test("a thread lowers its own priority, and no other's", { skip: process.platform !== "linux" }, async () => {
  const before = nicenessOf(readFileSync("/proc/thread-self/stat", "utf8"));
  const worker = new Worker(fileURLToPath(LOWERING));
  const stat = await new Promise<string>((resolve, reject) => {
    worker.once("message", resolve);
    worker.once("error", reject);
  });
  await worker.terminate();
  assert.equal(nicenessOf(stat), Math.max(before, LOWERED));
  assert.equal(nicenessOf(readFileSync("/proc/thread-self/stat", "utf8")), before);
});
