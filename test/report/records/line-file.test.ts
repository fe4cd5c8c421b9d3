import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { RunError } from "../../../src/plan/problem.ts";
import { registerSecret } from "../../../src/plan/secrets.ts";
import { openLines } from "../../../src/report/records/line-file.ts";
import { makeFolder } from "../../make-folder.ts";

test("lines are written in parts and renamed into place at the end", () => {
  const folder = makeFolder();
  const path = join(folder, "lines.jsonl");
  const file = openLines(path);
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
});

test("without lines the file is empty, and a discarded one leaves nothing", () => {
  const folder = makeFolder();
  const path = join(folder, "lines.jsonl");
  openLines(path).commit();
  assert.equal(readFileSync(path, "utf8"), "");
  const discarded = openLines(join(folder, "discarded"));
  discarded.open();
  assert.equal(readdirSync(folder).length, 2);
  discarded.discard();
  assert.deepEqual(readdirSync(folder), ["lines.jsonl"]);
});

test("a file that cannot be written is an error with its path", () => {
  const folder = makeFolder();
  const path = join(folder, "missing", "lines.jsonl");
  const file = openLines(path);
  assert.throws(
    () => file.open(),
    (error) => error instanceof RunError && error.message.startsWith(`${path} cannot`),
  );
  assert.throws(() => file.commit(), RunError);
});

test("text that is not kept can be taken back, whether or not it was written", () => {
  const folder = makeFolder();
  const path = join(folder, "lines.jsonl");
  const file = openLines(path);
  assert.equal(file.takeBack(), false, "nothing was kept");
  file.put("kept\n");
  file.keep();
  for (const dropped of ["short\n", `${"x".repeat(70_000)}\n`]) {
    file.put(dropped);
    assert.equal(file.takeBack(), true);
  }
  file.put("last\n");
  file.commit();
  assert.equal(readFileSync(path, "utf8"), "kept\nlast\n");
});

test("secrets are masked in each line, whether it was added as one or in parts, and between lines", () => {
  const path = join(makeFolder(), "lines.jsonl");
  registerSecret("a-secret-of-lines");
  const file = openLines(path);
  file.putFrame("frame: a-secret-of-lines\n");
  file.put("é a-secret-of-lines\n");
  file.text.append("in parts: a-secret-");
  file.text.append("of-lines 好\n");
  file.endLine();
  file.put("last\n");
  file.commit();
  assert.equal(readFileSync(path, "utf8"), "frame: ***\né ***\nin parts: *** 好\nlast\n");
});
