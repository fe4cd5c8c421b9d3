import assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { getPriority, hostname, networkInterfaces } from "node:os";
import { describe, type TestContext, test } from "node:test";
import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import { yieldBackgroundThreads } from "../../src/runtime/background-threads.ts";
import { COLD } from "../../src/runtime/cold-start.ts";
import { openCoreWait } from "../../src/runtime/core-wait.ts";
import { isThisHost } from "../../src/runtime/this-host.ts";
import { LOWERED, raiseThreadPriority } from "../../src/runtime/thread-priority.ts";

/** What the measuring thread knows of its core, and does to have it. */

/** Lets threads change their priorities in this test, as in the product. */
function withPriorities(t: TestContext): void {
  const cold = process.env[COLD] ?? "0";
  delete process.env[COLD];
  t.after(() => {
    process.env[COLD] = cold;
  });
}

test("a thread's waits for a core are counted where the system does that, and only grow", () => {
  const read = openCoreWait();
  assert.ok(process.platform !== "linux" || read !== undefined);
  const first = read?.() ?? 0;
  let sum = 0;
  for (let i = 0; i < 1e6; i++) sum += i;
  assert.ok(sum > 0);
  const second = read?.() ?? 0;
  assert.ok(first >= 0 && second >= first && Number.isInteger(second), `${first}, then ${second} ns`);
});

test("the thread comes before others where that is allowed, until it is put back", (t) => {
  withPriorities(t);
  // A runtime may run tests in a thread of their own.
  const own = process.platform === "linux" ? Number(readlinkSync("/proc/thread-self").split("/").at(-1)) : process.pid;
  const before = getPriority(own);
  const restore = raiseThreadPriority();
  const raised = getPriority(own);
  assert.ok(raised <= before, `${before}, then ${raised}`);
  if (process.platform === "linux" && process.getuid?.() === 0 && raised === before) assert.ok(before <= -10);
  restore();
  assert.equal(getPriority(own), before);
});

const OWN = Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address));
for (const [host, expected] of [
  ["localhost", true],
  ["127.0.0.1", true],
  ["127.1.2.3", true],
  ["::1", true],
  [hostname(), true],
  ...OWN.map((address) => [address, true] as const),
  ["192.0.2.7", false],
  ["2001:db8::7", false],
  ["gpu-7.example", false],
  ["127.example", false],
] as const)
  test(`the host ${host} is ${expected ? "this machine" : "another one"}`, () =>
    assert.equal(isThisHost(host), expected));

/** A thread that lowers its priority and reports its niceness, the 19th field of the system's line about it. */
const LOWERING = new URL("./lowering-thread.ts", import.meta.url);

function nicenessOf(stat: string): number {
  return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
}

test("a thread lowers its own priority, and no other's", { skip: process.platform !== "linux" }, async (t) => {
  withPriorities(t);
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

describe("compiler threads", () => {
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
  }, async (t) => {
    withPriorities(t);
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
});
