import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { listSamples, replaceSamples } from "../../compile/docs/samples.ts";
import { ROOT } from "../cli/rampart-process.ts";
import { GUIDES } from "./blocks.ts";
import { assertIsSampleOf } from "./sample-heads.ts";

/** The samples of output in the guides. That each is what its command prints is checked where the command runs, in `test/e2e/`. */

test("samples are in the tutorial, and are replaced in their order", () => {
  const text =
    "```sh\nrampart a\n```\n\n<!-- output -->\n\n<!-- end -->\n\n<!-- output | head -1 -->\n\n```text\nold\n```\n\n<!-- end -->\n";
  const [first, second] = ["a\n", "b\n"].map((printed) => `\`\`\`text\n${printed}\`\`\``);
  const replaced = replaceSamples(text, ["a\n", "b\n"]);
  assert.ok(replaced.includes(`<!-- output -->\n\n${first}\n\n<!-- end -->`));
  assert.ok(replaced.includes(`<!-- output | head -1 -->\n\n${second}\n\n<!-- end -->`));
  assert.ok(!replaced.includes("old"));
  assert.ok(listSamples("scenarios/README.md").length >= 2);
});

test("a sample is of a command that prints the heads of its tables", () => {
  const shown = "users   req/s    p99\n    1      47   2 ms\n";
  assertIsSampleOf("PASSED\n\nusers   req/s    p50    p99\n    1   9   2 ms  3 ms\n", { shown });
  assert.throws(() => assertIsSampleOf("users   errors   reason\n", { shown }));
  assert.throws(() => assertIsSampleOf("anything", { shown: "" }), /npm run docs/);
});

test("samples are never typed: other blocks of text hold commands only", () => {
  const typed = GUIDES.flatMap((guide) => {
    const text = readFileSync(join(ROOT, guide), "utf8").replaceAll(/^<!-- output[\s\S]*?^<!-- end -->$/gm, "");
    return [...text.matchAll(/^```text\n([\s\S]*?)^```$/gm)].flatMap(([, block = ""]) =>
      block
        .split("\n")
        .filter(
          (line) =>
            line !== "" &&
            !/^( {2}|\S*(rampart|perf_analyzer|genai-perf|kubectl|ln|scp|mpirun|srun|jq|bun|deno|node)\b|model-analyzer|PATH=)/.test(
              line,
            ),
        )
        .map((line) => `${guide}: ${line}`),
    );
  });
  assert.deepEqual(typed, []);
});
