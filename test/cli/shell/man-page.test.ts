import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { before, describe, test } from "node:test";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { formatManPage } from "../../../src/cli/shell/man-page.ts";
import { EXIT } from "../../../src/result/exit-codes.ts";
import { runDoor } from "../../fuzz/command.ts";
import { installTool } from "../../servers/install-tool.ts";

/** `rampart man`, set by a real groff. */

function set(page: string): string {
  const args = ["-man", "-ww", "-Tutf8", "-P-cbou", "-rLL=110n"];
  const { stdout, stderr, status } = spawnSync("groff", args, { input: page, encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
  return stdout;
}

describe("the man page", () => {
  let page: string;
  let shown: string;
  before(async () => {
    installTool("groff");
    const { code, out } = await runDoor(["man"]);
    assert.equal(code, 0);
    page = out;
    shown = set(page);
  });

  test("has every command with every option, and every exit code", async () => {
    for (const { name, load } of COMMANDS) {
      assert.match(shown, new RegExp(`^ +rampart ${name}\\b`, "m"));
      const { options, subcommands = [] } = (await load()).usage();
      for (const { names } of [...options, ...subcommands.flatMap((one) => one.options)])
        assert.match(shown, new RegExp(`^ +(-.*, )?${names.join(", ")}( |$)`, "m"), names[0]);
    }
    for (const code of Object.values(EXIT)) assert.match(shown, new RegExp(`^ +${code}( |$)`, "m"));
  });

  test("shows what it says as it is written", () => {
    const help = "'Odd' \\fBtext\\fR … with -dashes";
    const option = { names: ["--odd"], value: ".X", takes: "word", help } as const;
    const text = set(formatManPage("1", [{ name: "x", summary: "y", usage: { options: [option] } }]));
    assert.ok(text.includes(help), text);
    assert.match(text, /^ +--odd \.X$/m);
  });
});
