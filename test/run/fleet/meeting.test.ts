// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { readdirSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { RunError } from "../../../src/plan/problem.ts";
import { joinLaunchedFleet } from "../../../src/run/fleet/launched-fleet.ts";
import { slurmMeeting } from "../../../src/run/fleet/meeting.ts";
import { makeFolder } from "../../make-folder.ts";

const taskOf = (rank: number, folder: string) => slurmMeeting({ rank, size: 3, step: "17.2" }, folder);

test("tasks of a step of Slurm hear what task 0 tells, also before it does, and only its user can read it", async () => {
  const folder = makeFolder();
  const endMs = Date.now() + 30_000;
  const heard = [1, 2].map((rank) => taskOf(rank, folder).hear(endMs));
  const first = taskOf(0, folder);
  await first.tell("where it is");
  assert.deepEqual(await Promise.all(heard), ["where it is", "where it is"]);
  const [name = "", ...others] = readdirSync(folder);
  assert.deepEqual(others, []);
  assert.equal(statSync(join(folder, name)).mode & 0o777, 0o600);
  await taskOf(1, folder).end();
  assert.deepEqual(readdirSync(folder), [name]);
  await first.end();
  assert.deepEqual(readdirSync(folder), []);
});

test("a job that was started again with the same numbers replaces what is left of its first run", async () => {
  const folder = makeFolder();
  await taskOf(0, folder).tell("the first");
  await taskOf(0, folder).tell("the second");
  assert.equal(await taskOf(1, folder).hear(0), "the second");
});

test("what is no file of this user is not followed, and the error names the file that is missing", async () => {
  const folder = makeFolder();
  writeFileSync(join(folder, "elsewhere"), "somebody's");
  symlinkSync(join(folder, "elsewhere"), join(folder, ".rampart-17.2"));
  await assert.rejects(taskOf(1, folder).hear(0), (error: unknown) => {
    assert.ok(error instanceof RunError);
    assert.equal(error.message, `task 0 of this step of Slurm wrote no ${join(folder, ".rampart-17.2")}`);
    return true;
  });
  await assert.rejects(taskOf(0, join(folder, "nowhere")).tell("x"), /meet by .*nowhere/);
});

test("a process that was started without others is alone", async () => {
  assert.deepEqual(await joinLaunchedFleet(), { kind: "alone" });
});
