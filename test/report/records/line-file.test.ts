import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { RunError } from "../../../src/plan/problem.ts";
import { LineFile } from "../../../src/report/records/line-file.ts";
import { withFolder } from "../with-folder.ts";

test("lines are written in parts and renamed into place at the end", () =>
  withFolder((folder) => {
    const path = join(folder, "lines.jsonl");
    const file = new LineFile(path, "outputs.files.records");
    file.put("first\n");
    assert.deepEqual(readdirSync(folder), [], "a line waits until there is a part to write");
    const long = `${"x".repeat(70_000)}\n`;
    file.put(long);
    assert.equal(readdirSync(folder).length, 1);
    assert.ok(!existsSync(path));
    file.put("last\n");
    file.commit();
    assert.equal(readFileSync(path, "utf8"), `first\n${long}last\n`);
    assert.deepEqual(readdirSync(folder), ["lines.jsonl"]);
  }));

test("without lines the file is empty, and a discarded one leaves nothing", () =>
  withFolder((folder) => {
    const path = join(folder, "lines.jsonl");
    new LineFile(path, "outputs.files.records").commit();
    assert.equal(readFileSync(path, "utf8"), "");
    const discarded = new LineFile(join(folder, "discarded"), "outputs.files.records");
    discarded.open();
    assert.equal(readdirSync(folder).length, 2);
    discarded.discard();
    assert.deepEqual(readdirSync(folder), ["lines.jsonl"]);
  }));

test("a file that cannot be written is an error with its path", () =>
  withFolder((folder) => {
    const path = join(folder, "missing", "lines.jsonl");
    const file = new LineFile(path, "outputs.files.records");
    assert.throws(
      () => file.open(),
      (error) => error instanceof RunError && error.message.startsWith(`${path} cannot`),
    );
    assert.throws(() => file.commit(), RunError);
  }));
