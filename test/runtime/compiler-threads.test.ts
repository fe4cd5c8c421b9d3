import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { getPriority } from "node:os";
import { test } from "node:test";
import { yieldBackgroundThreads } from "../../src/runtime/background-threads.ts";

const NICENESS = 8;
const TASKS = "/proc/self/task";

/** Niceness of the threads with these names. */
function nicenessOf(isWanted: (name: string) => boolean): number[] {
  return readdirSync(TASKS)
    .filter((thread) => isWanted(readFileSync(`${TASKS}/${thread}/comm`, "utf8").trim()))
    .map((thread) => getPriority(Number(thread)));
}

test("compiler threads get a lower priority; the sending thread keeps its own", {
  skip: process.platform !== "linux",
}, async () => {
  const own = getPriority(process.pid);
  // There is something to compile, so that the threads are there.
  let sum = 0;
  for (let i = 0; i < 3e6; i++) sum = (sum * 31 + i) % 1_000_003;
  assert.ok(sum >= 0);
  yieldBackgroundThreads();
  const read = (): number[] => nicenessOf((name) => /^(?:JITWorker|V8Worker|V8 DefaultWorke)$/.test(name));
  let compilers = read();
  // Those that were started since the last look are lowered at the next one.
  for (let looks = 0; looks < 50 && compilers.some((niceness) => niceness !== NICENESS); looks++) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    compilers = read();
  }
  assert.ok(compilers.length > 0, "no thread of those names was found");
  assert.deepEqual(new Set(compilers), new Set([NICENESS]));
  assert.equal(getPriority(process.pid), own);
});
