import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { findLarge, readStat } from "./watch-memory.ts";

test("this process is read as Linux lists it", () => {
  const own = readStat(readFileSync("/proc/self/stat", "utf8"));
  assert.equal(own?.pid, process.pid);
  assert.equal(own?.parentPid, process.ppid);
  const { rss } = process.memoryUsage();
  assert.ok(own.residentBytes > rss / 2 && own.residentBytes < rss * 2, `${own.residentBytes}, ${rss}`);
});

test("a program's name may hold blanks and brackets, and no process is no error", () => {
  const rest = Array.from({ length: 22 }, (_, index) => index).join(" ");
  assert.equal(readStat(`12 (a) S (b) S 7 ${rest}`)?.parentPid, 7);
  assert.equal(readStat(""), undefined);
});

test("only what a group started is looked at, however far below it", () => {
  const processes = [
    { pid: 10, parentPid: 1, residentBytes: 50 },
    { pid: 11, parentPid: 10, residentBytes: 5 },
    { pid: 12, parentPid: 11, residentBytes: 60 },
    { pid: 20, parentPid: 1, residentBytes: 70 },
  ];
  const pidsOf = (rootPid: number): number[] => findLarge(processes, rootPid, 40).map(({ pid }) => pid);
  assert.deepEqual(pidsOf(10), [10, 12]);
  assert.deepEqual(pidsOf(11), [12]);
  assert.deepEqual(pidsOf(20), [20]);
});
