import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { TOPICS } from "../../../src/cli/help/topics.ts";
import { runDoor } from "../../fuzz/command.ts";

/** `rampart help TOPIC`. */

/** A sentence, command or option of each guide. */
const SAMPLES: Readonly<Record<string, string>> = {
  quickstart: "npm run quickstart",
  scenarios: 'load: ramp(1, 4, { step: 3, for: "1 s" }),',
  wizard: "rampart init --yes",
  compare: "--fail-if",
  perf_analyzer: "--concurrency-range START[:END[:STEP]]",
  "genai-perf": "--benchmark-duration NUMBER *",
  measuring: "CAP_SYS_NICE",
  hosts: "rampart agent --bus",
  house: "A folder imports only from folders below it",
};

describe("rampart help TOPIC", () => {
  for (const { name, summary } of TOPICS)
    test(name, async () => {
      const { code, out, err } = await runDoor(["help", name]);
      assert.deepEqual([code, err], [0, ""]);
      const sample = SAMPLES[name] ?? "no sample";
      assert.ok(out.includes(sample), `${sample} is missing`);
      // Nothing of Markdown is left, outside of code.
      const text = out.replace(/^ {4}.*$/gm, "");
      assert.doesNotMatch(text, /^\||^#|^```|<!--|\*\*\w|\]\(/m);
      assert.match((await runDoor(["help"])).out, new RegExp(`^Guides: [^.]*\\b${name}\\b`, "m"));
      assert.ok((await runDoor(["--help-all"])).out.includes(`  ${name.padEnd(15)}${summary}\n`));
    });

  test("wizard is a chapter, not the whole guide", async () => {
    const { out } = await runDoor(["help", "wizard"]);
    assert.match(out, /^Let the wizard write it\n-+\n/);
    assert.doesNotMatch(out, /Choose a load/);
  });

  test("a topic that is misspelt gets the nearest one", async () => {
    const { code, err } = await runDoor(["help", "scenario"]);
    assert.equal(code, 64);
    assert.match(err, /there is no command or topic 'scenario'\. Did you mean scenarios\?/);
  });
});
