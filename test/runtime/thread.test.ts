import assert from "node:assert/strict";
import { readlinkSync } from "node:fs";
import { getPriority, hostname, networkInterfaces } from "node:os";
import { test } from "node:test";
import { openCoreWait } from "../../src/runtime/core-wait.ts";
import { isThisHost } from "../../src/runtime/this-host.ts";
import { raiseThreadPriority } from "../../src/runtime/thread-priority.ts";

/** What the measuring thread knows of its core, and does to have it. */

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

test("the thread comes before others where that is allowed, until it is put back", () => {
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
