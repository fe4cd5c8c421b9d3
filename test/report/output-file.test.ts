import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { registerSecret } from "../../src/plan/secrets.ts";
import { OutputFile, removeOutput, writeOutput } from "../../src/report/output-file.ts";
import { isSameFile, whyNotWritable } from "../../src/report/output-place.ts";
import { makeFolder, writeIn } from "../make-folder.ts";

/** A pipe with a name, and what was written to it by `write`. */
function readPipe(path: string, write: () => void): string {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    write();
    const bytes = Buffer.alloc(4096);
    return bytes.toString("utf8", 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}

describe("output files", () => {
  test("appear whole, and nothing else stays in the folder", () => {
    const folder = makeFolder();
    const path = writeIn(folder, "a.json", "old");
    const file = new OutputFile(path);
    file.write("first, ");
    file.write("second");
    assert.equal(file.byteCount, 13);
    file.truncate(7);
    file.write("third");
    assert.equal(readFileSync(path, "utf8"), "old");
    file.commit();
    assert.equal(readFileSync(path, "utf8"), "first, third");
    new OutputFile(path).discard();
    assert.equal(readFileSync(path, "utf8"), "first, third");
    assert.deepEqual(readdirSync(folder), ["a.json"]);
  });

  test("two files at once, and existing names, do not collide", () => {
    const folder = makeFolder();
    const path = join(folder, "a");
    const victim = writeIn(folder, "victim", "mine");
    symlinkSync(victim, `${path}.${process.pid}.part`);
    const files = ["1", "2"].map((text) => {
      const file = new OutputFile(path);
      file.write(text);
      return file;
    });
    for (const file of files) file.commit();
    assert.equal(readFileSync(path, "utf8"), "2");
    assert.equal(readFileSync(victim, "utf8"), "mine");
  });

  test("keep the mode of the file they replace", () => {
    const folder = makeFolder();
    const path = writeIn(folder, "a", "old");
    chmodSync(path, 0o640);
    writeOutput(path, "new");
    assert.equal(statSync(path).mode & 0o777, 0o640);
  });

  test("are written where a link points to, and the link stays", () => {
    const folder = makeFolder();
    mkdirSync(join(folder, "there"));
    for (const [name, to] of [
      ["there/old", "there/old"],
      ["there/new", "there/new"],
    ] as const) {
      if (name.endsWith("old")) writeFileSync(join(folder, to), "old");
      const link = join(folder, "link");
      rmSync(link, { force: true });
      symlinkSync(to, link);
      writeOutput(link, "text");
      assert.ok(lstatSync(link).isSymbolicLink());
      assert.equal(readFileSync(join(folder, name), "utf8"), "text");
    }
    symlinkSync("circle", join(folder, "circle"));
    assert.match(whyNotWritable(join(folder, "circle")) ?? "", /circle|ELOOP|symbolic links/i);
  });

  test("a pipe is written to and stays a pipe", () => {
    const folder = makeFolder();
    const path = join(folder, "pipe");
    execFileSync("mkfifo", [path]);
    assert.equal(whyNotWritable(path), undefined);
    assert.throws(() => writeOutput(path, "nobody"), /is a pipe that no program reads/);
    assert.equal(
      readPipe(path, () => writeOutput(path, "whole")),
      "whole",
    );
    const file = new OutputFile(path);
    file.write("cut off");
    file.truncate(3);
    file.write("!");
    assert.equal(
      readPipe(path, () => file.commit()),
      "cut!",
    );
    removeOutput(path);
    assert.ok(lstatSync(path).isFIFO());
    assert.deepEqual(readdirSync(folder), ["pipe"]);
  });

  test("a device is written to and stays a device", () => {
    const before = lstatSync("/dev/null");
    writeOutput("/dev/null", "text");
    removeOutput("/dev/null");
    const after = lstatSync("/dev/null");
    assert.deepEqual([after.ino, after.isCharacterDevice()], [before.ino, true]);
    assert.throws(() => writeOutput("/dev/full", "text"), /ENOSPC|no space/i);
    const folder = makeFolder();
    symlinkSync("/dev/null", join(folder, "link"));
    writeOutput(join(folder, "link"), "text");
    assert.ok(lstatSync(join(folder, "link")).isSymbolicLink());
  });

  test("unwritable files are known before", () => {
    const folder = makeFolder();
    writeFileSync(join(folder, "file"), "");
    assert.equal(whyNotWritable(join(folder, "new")), undefined);
    const tooLong = join(folder, "a".repeat(250));
    const ofSystem = existsSync("/proc/self") ? ["/proc/a"] : [];
    for (const path of [folder, join(folder, "none", "a"), join(folder, "file", "a"), tooLong, ...ofSystem]) {
      assert.equal(typeof whyNotWritable(path), "string", path);
      assert.throws(() => writeOutput(path, ""), path);
    }
    assert.deepEqual(readdirSync(folder), ["file"]);
  });

  test("a file has many names", () => {
    const folder = makeFolder();
    const path = writeIn(folder, "a", "");
    linkSync(path, join(folder, "hard"));
    symlinkSync("a", join(folder, "soft"));
    symlinkSync(".", join(folder, "here"));
    for (const name of ["hard", "soft", "here/a", "here/here/../a"])
      assert.ok(isSameFile(path, join(folder, name)), name);
    assert.ok(isSameFile(join(folder, "new"), join(folder, "here/new")));
    assert.ok(!isSameFile(path, join(folder, "new")));
  });

  test("contain no secrets, except those that are sent", () => {
    const folder = makeFolder();
    registerSecret("output-file-secret");
    const path = join(folder, "a");
    writeOutput(path, '{"a":"output-file-secret"}');
    assert.equal(readFileSync(path, "utf8"), '{"a":"***"}');
    writeOutput(path, "output-file-secret", { isMasked: false });
    assert.equal(readFileSync(path, "utf8"), "output-file-secret");
  });

  test("with a new name do not replace existing ones", () => {
    const folder = makeFolder();
    const path = join(folder, "a");
    writeOutput(path, "first", { isNew: true, mode: 0o755 });
    assert.equal(statSync(path).mode & 0o700, 0o700);
    assert.throws(() => writeOutput(path, "second", { isNew: true }), { code: "EEXIST" });
    const late = new OutputFile(join(folder, "b"), { isNew: true });
    late.write("late");
    writeFileSync(join(folder, "b"), "early");
    assert.throws(() => late.commit(), { code: "EEXIST" });
    late.discard();
    symlinkSync("nothing", join(folder, "c"));
    assert.throws(() => writeOutput(join(folder, "c"), "x", { isNew: true }), { code: "EEXIST" });
    assert.deepEqual(
      ["a", "b"].map((name) => readFileSync(join(folder, name), "utf8")),
      ["first", "early"],
    );
    assert.deepEqual(readdirSync(folder).sort(), ["a", "b", "c"]);
  });

  test("an earlier one is removed, if it is a file", () => {
    const folder = makeFolder();
    const path = writeIn(folder, "a", "old");
    removeOutput(path);
    removeOutput(path);
    removeOutput(folder);
    assert.deepEqual([existsSync(path), existsSync(folder)], [false, true]);
  });
});
