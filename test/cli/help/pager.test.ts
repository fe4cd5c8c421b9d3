// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { describe, test } from "node:test";
import { ROOT, rampartCommand } from "../rampart-process.ts";

/** `rampart help TOPIC` on a terminal, which util-linux' `script` makes. */

const COMMAND = [...rampartCommand(), "help", "words"].map((word) => `'${word}'`).join(" ");

/** Returns the lines that the command prints on a terminal of this height. */
function printOn(rows: number, pager: string): string[] {
  const env = { ...process.env, PAGER: pager, NO_COLOR: "1", TERM: "xterm" };
  const line = `stty rows ${rows} cols 80; ${COMMAND}`;
  const { stdout } = spawnSync("script", ["-qec", line, "/dev/null"], { cwd: ROOT, env, encoding: "utf8", input: "" });
  return stdout.split("\r\n").filter((text) => text !== "");
}

describe("help on a terminal", { skip: process.platform !== "linux" }, () => {
  test("is paged where it is longer than the screen", () => {
    const lines = printOn(10, "sed s/^/paged:/");
    assert.ok(lines.some((line) => line.endsWith("paged:The words of load tests")));
    assert.ok(lines.some((line) => line.startsWith("paged:ITL")));
  });

  test("is not paged where it fits, and for an empty PAGER", () => {
    for (const lines of [printOn(200, "sed s/^/paged:/"), printOn(10, "")]) {
      assert.ok(lines.some((line) => line.endsWith("The words of load tests")));
      assert.ok(!lines.some((line) => line.includes("paged:")));
    }
  });

  test("is not printed again when the pager ends before it has read all", () => {
    const titles = printOn(10, "head -n 2").filter((line) => line.endsWith("The words of load tests"));
    assert.equal(titles.length, 1);
  });

  test("is printed where the pager cannot be started", () => {
    const lines = printOn(10, "no-such-pager");
    assert.ok(lines.some((line) => line.endsWith("The words of load tests")));
  });
});
