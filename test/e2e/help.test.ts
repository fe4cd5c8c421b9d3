import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TOPICS } from "../../src/cli/help/topics.ts";
import { makeFolder } from "../make-folder.ts";
import { runRampart } from "./command.ts";

/** The guides come with the command: an executable prints them in an empty folder. */

describe("rampart help", () => {
  for (const { name, guide } of TOPICS)
    test(`${name} prints ${guide}`, async () => {
      const folder = makeFolder();
      const { code, stdout, stderr } = await runRampart(["help", name], { cwd: folder });
      assert.equal(code, 0, stderr);
      assert.match(stdout, /\n[=-]+\n/);
      assert.ok(stdout.length > 1000, stdout);
    });
});
