// Runs on: bun, deno, node.

import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COMMANDS } from "../../../src/cli/commands.ts";
import { TOPICS } from "../../../src/cli/help/topics.ts";
import { runDoor } from "../../fuzz/command.ts";

/** `rampart help TOPIC`. */

/** A sentence, command or option of some guides. */
const SAMPLES: Readonly<Record<string, string>> = {
  quickstart: "npm run quickstart",
  scenarios: 'load: ramp(1, 4, { step: 3, for: "1 s" }),',
  guides: "rampart help find-the-limit",
  wizard: "rampart init --yes",
  "compare-runs": "--fail-if",
  "find-the-limit": "findMax({",
  targets: "Options of triton",
  commands: "--watch-port PORT",
  perf_analyzer: "--concurrency-range START[:END[:STEP]]",
  "genai-perf": "--benchmark-duration NUMBER *",
  measuring: "CAP_SYS_NICE",
  hosts: "rampart agent --bus",
  house: "A folder imports only from folders below it",
};

describe("rampart help TOPIC", () => {
  for (const { name, kind, summary } of TOPICS)
    test(name, async () => {
      const { code, out, err } = await runDoor(["help", name]);
      assert.deepEqual([code, err], [0, ""]);
      const sample = SAMPLES[name] ?? "";
      assert.ok(out.length > 500 && out.includes(sample), `${sample} is missing`);
      // Nothing of Markdown is left, outside of code.
      const text = out.replace(/^ {4}.*$/gm, "");
      assert.doesNotMatch(text, /^\||^#|^```|<!--|\*\*\w|\]\(/m);
      if (kind === "Guides")
        assert.match((await runDoor(["help"])).out, new RegExp(`^Guides: [^.]*\\b${name}\\b`, "m"));
      const listed = (await runDoor(["--help-all"])).out.replaceAll(/\n {24}/g, " ");
      assert.ok(listed.includes(`  ${name.padEnd(22)}${summary}\n`));
    });

  test("a topic has the name of no command, except for the compatible modes", () => {
    const names = COMMANDS.map(({ name }) => name);
    assert.deepEqual(
      TOPICS.map(({ name }) => name).filter((name) => names.includes(name)),
      ["perf_analyzer", "genai-perf"],
    );
  });

  test("a topic that is misspelt gets the nearest one", async () => {
    const { code, err } = await runDoor(["help", "scenario"]);
    assert.equal(code, 64);
    assert.match(err, /there is no command or topic 'scenario'\. Did you mean scenarios\?/);
    assert.match((await runDoor(["help", "ci"])).err, /Did you mean ci-gate\?/);
  });
});
