import assert from "node:assert/strict";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { makeFolder, writeIn } from "../../make-folder.ts";
import { findCounter, readCallgrindCount, readPerfCount } from "./counter.ts";

const folder = makeFolder();

/** A program in place of perf, which prints a line when it is interrupted, or when it has run the command after `--`. */
function fakePerf(name: string, line: string): string {
  const text = `#!/bin/sh
say() { echo '${line}' >&2; exit 0; }
case "$*" in *" -- true") say ;; esac
trap say INT
while :; do sleep 0.05; done
`;
  const path = writeIn(folder, name, text);
  chmodSync(path, 0o755);
  return path;
}

describe("counting instructions", () => {
  test("perf stat counts where the processor does", async () => {
    const counter = await findCounter({ perf: fakePerf("perf", "123456789,,instructions:u,1000,100.00,,") });
    assert.ok("count" in counter, JSON.stringify(counter));
    assert.deepEqual([counter.name, counter.prefix], ["perf stat", []]);
    let isOver = false;
    const count = await counter.count(process.pid, async () => {
      isOver = true;
    });
    assert.deepEqual([count, isOver], [123_456_789, true]);
  });

  test("where nothing counts, there is a reason for each way", async () => {
    const perf = fakePerf("no-perf", "<not supported>,,instructions:u,0,100.00,,");
    const found = await findCounter({ perf, valgrind: join(folder, "no-valgrind") });
    assert.ok("reason" in found);
    assert.match(found.reason, /^perf stat: <not supported>; callgrind: .*no-valgrind/);
  });

  test("numbers are read from what the programs write", () => {
    assert.equal(readPerfCount("# started\n\n42,,instructions:u,1,100.00,,\n"), 42);
    assert.throws(() => readPerfCount("<not counted>,,instructions:u,0,100.00,,"), /<not counted>/);
    assert.throws(() => readPerfCount("perf: Permission denied"), /no instructions:u in: perf: Permission denied/);
    assert.equal(readCallgrindCount("version: 1\nsummary: 245391691\n"), 245_391_691);
    assert.throws(() => readCallgrindCount("version: 1\n"), /no sum/);
  });
});
