import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as v from "valibot";
import { Checkpoint, type KeepableRun } from "../../src/campaign/checkpoint.ts";
import { makeFolder, writeIn } from "../make-folder.ts";

/** Results that are kept between commands, in a layout of no front door. */

const root = makeFolder();
const report = writeIn(root, "report.json", "first");

interface Opened {
  readonly checkpoint: Checkpoint<number>;
  readonly notes: string[];
}

async function open(folder: string): Promise<Opened> {
  const notes: string[] = [];
  const checkpoint = await Checkpoint.open<number>({
    names: "run_",
    place: ["kept", "runs"],
    folder,
    schema: v.number(),
    format: (document) => JSON.stringify(document),
    note: (text) => notes.push(text),
  });
  return { checkpoint, notes };
}

function runOf(fingerprint: string): KeepableRun<number> {
  return { fingerprint: () => fingerprint, reportIn: () => report, toEntry: (_, result) => ({ value: result }) };
}

test("a stored result is found by a later command as long as its report is unchanged", async () => {
  const folder = makeFolder();
  const { checkpoint } = await open(folder);
  const name = checkpoint.nameResult();
  await checkpoint.add(runOf("a"), [["width", 4]], { name, folder: root, result: 7 });
  const later = await open(folder);
  assert.equal(later.checkpoint.find(runOf("b"), "another run"), undefined);
  assert.deepEqual(later.checkpoint.find(runOf("a"), "this run"), { name: "run_0", folder: root, result: 7 });
  assert.match(later.notes.join(), /^this run: run_0 of .* has been measured/);
  assert.equal(later.checkpoint.nameResult(), "run_1");
  writeFileSync(report, "second");
  assert.equal((await open(folder)).checkpoint.find(runOf("a"), "this run"), undefined);
});

test("entries of other tools are kept, and a result of the same run is replaced", async () => {
  const folder = makeFolder();
  const path = join(folder, "checkpoint.json");
  const other = { name: "run_8", theirs: true };
  writeFileSync(path, JSON.stringify({ kept: { runs: [other] } }));
  const { checkpoint } = await open(folder);
  for (const result of [1, 2])
    await checkpoint.add(runOf("a"), [], { name: checkpoint.nameResult(), folder: root, result });
  const { kept } = JSON.parse(readFileSync(path, "utf8")) as { kept: { runs: { name: string; value?: number }[] } };
  assert.deepEqual(kept.runs[0], other);
  assert.deepEqual(
    kept.runs.slice(1).map(({ name, value }) => [name, value]),
    [["run_10", 2]],
  );
});

test("a file without the list is refused by its place in the layout", async () => {
  const folder = makeFolder();
  for (const document of [{}, null, [], { kept: null }, { kept: { runs: [{}] } }]) {
    writeFileSync(join(folder, "checkpoint.json"), JSON.stringify(document));
    await assert.rejects(open(folder), /is not a checkpoint: kept\.runs is missing/);
  }
});
