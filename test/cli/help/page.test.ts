import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { runDoor } from "../../fuzz/command.ts";

/** The help of Rampart's own commands. The compatible modes have that of the originals. */

const OWN = COMMANDS.map(({ name }) => name).filter((name) => name !== "perf_analyzer" && name !== "genai-perf");
const PATHS: readonly (readonly string[])[] = [[], ...OWN.map((name) => [name]), ["k8s", "manifest"], ["k8s", "pod"]];

describe("help", () => {
  for (const path of PATHS)
    test(`of rampart ${path.join(" ")} fits a screen of 80 columns, and --help-all has every option`, async () => {
      const [short, whole] = [await runDoor([...path, "--help"]), await runDoor([...path, "--help-all"])];
      assert.equal(short.code, 0);
      assert.equal(whole.code, 0);
      const lines = short.out.trimEnd().split("\n");
      assert.ok(lines.length <= 40, `${lines.length} lines`);
      for (const line of [...lines, ...whole.out.split("\n")]) assert.ok(line.length <= 80, line);
      const [name = ""] = path;
      const usage = (await COMMANDS.find((command) => command.name === name)?.load())?.usage();
      const options =
        path.length > 1 ? usage?.subcommands?.find((one) => one.name === path[1])?.options : usage?.options;
      for (const { names } of options ?? [])
        assert.match(whole.out, new RegExp(`^ +(?:-\\w, )?${names.at(-1)}\\b`, "m"), names.join());
    });

  test("lists every command below its group", async () => {
    const { out } = await runDoor(["--help"]);
    for (const { name, group } of COMMANDS) {
      const [, below = ""] = out.split(`\n${group}:\n`);
      assert.match(below.split("\n\n", 1)[0] ?? "", new RegExp(`^ {2}${name} `, "m"));
    }
  });
});
