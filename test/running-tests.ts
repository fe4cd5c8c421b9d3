import { writeSync } from "node:fs";
import type { TestContext } from "node:test";
import { isMainThread } from "node:worker_threads";

/**
 * Loaded before the tests of a group on Node, whose reporters write at the end only: the log gets each test's name as it begins, at once, so
 * that a process that is ended leaves the name of the test that ran. Node also loads it in each thread that a test starts.
 */

if (isMainThread) {
  const { beforeEach } = await import("node:test");
  beforeEach((context) => {
    const { filePath = "", fullName } = context as TestContext;
    writeSync(
      2,
      `${new Date().toISOString().slice(11, 19)} ${filePath.replace(/^.*\/test\//, "test/")}: ${fullName}\n`,
    );
  });
}
