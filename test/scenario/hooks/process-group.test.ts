// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { test } from "node:test";
import { ProcessGroups } from "../../../src/scenario/hooks/process-group.ts";
import { isAlive } from "./alive.ts";

/** Processes that are stopped with their children. */

/** Starts a shell script that prints process numbers, and waits for them. */
async function startScript(groups: ProcessGroups, script: string, count: number) {
  const child: ChildProcess = groups.spawn("sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  await new Promise<void>((resolve) => {
    child.stdout?.on("data", (bytes: Buffer) => {
      text += bytes.toString();
      if (text.split("\n").length > count) resolve();
    });
  });
  return { group: groups.of(child), pids: text.trim().split("\n").map(Number) };
}

test("a process is stopped with its children", async () => {
  const groups = new ProcessGroups();
  const { group, pids } = await startScript(groups, "sleep 100 & echo $!; echo $$; wait", 2);
  assert.deepEqual(pids.map(isAlive), [true, true]);
  assert.equal(group.isRunning, true);
  await group.stop();
  assert.deepEqual(pids.map(isAlive), [false, false]);
  assert.equal(group.end?.signal, "SIGTERM");
  await group.stop();
});

test("children outlive their parent only until the groups are stopped", async () => {
  const groups = new ProcessGroups();
  const { group, pids } = await startScript(groups, "sleep 100 >/dev/null & echo $!", 1);
  await group.ended;
  assert.deepEqual(pids.map(isAlive), [true]);
  await groups.stopAll();
  assert.deepEqual(pids.map(isAlive), [false]);
});

test("processes that ignore SIGTERM are killed", async () => {
  const groups = new ProcessGroups();
  const script = "trap '' TERM; sleep 100 & echo $!; echo $$; wait; wait";
  const { group, pids } = await startScript(groups, script, 2);
  await group.stop(100);
  assert.deepEqual(pids.map(isAlive), [false, false]);
  assert.equal(group.end?.signal, "SIGKILL");
});

test("all are killed at once without waiting", async () => {
  const groups = new ProcessGroups();
  const both = await Promise.all([1, 2].map(() => startScript(groups, "trap '' TERM; echo $$; sleep 100", 1)));
  groups.killAll();
  await Promise.all(both.map(({ group }) => group.ended));
  assert.deepEqual(
    both.flatMap(({ pids }) => pids.map(isAlive)),
    [false, false],
  );
});
