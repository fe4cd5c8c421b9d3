import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { drawPicture, PICTURE } from "../../compile/docs/picture.ts";
import { GUIDE_MOCK, listSamples, replaceSamples, runSample } from "../../compile/docs/samples.ts";
import { ROOT } from "../cli/rampart-process.ts";
import { GUIDES } from "../guides/blocks.ts";
import { type GuideServer, startGuideServer } from "../guides/guide-folder.ts";

/** The samples of output in the guides: each is what its command prints, but for numbers, and for notes on this machine. */

let server: GuideServer;
before(async () => {
  server = await startGuideServer(GUIDE_MOCK);
});
after(() => server.stop());

/** Returns the columns of the heads of tables, which are in every run of a command. */
function headsOf(output: string): string[][] {
  return output
    .split("\n")
    .filter((line) => / {2}/.test(line.trim()) && !/\d/.test(line.replaceAll(/p\d+/g, "")))
    .filter((line) => !/^ {2}(note|\*|wrong)/.test(line))
    .map((line) => line.trim().split(/ {2,}/));
}

/** Whether two heads are of one table. Where values are long, columns are left out. */
function areOfOneTable(head: readonly string[], other: readonly string[]): boolean {
  const common = head.filter((name) => other.includes(name));
  return head[0] === other[0] && common.length >= head.length / 2;
}

/** The picture has the titles, axes and series of one that is drawn now. @param folder where the run of the first guide wrote its JSON */
async function comparePicture(folder: string): Promise<void> {
  const wordsOf = (svg: string): string[] => [...svg.matchAll(/>([^<>\d]+)<\/text>/g)].map(([, word = ""]) => word);
  const words = wordsOf(await drawPicture(join(folder, "knee.json")));
  assert.ok(words.includes("Throughput over load") && words.includes("Requests in flight"), words.join());
  assert.deepEqual(wordsOf(readFileSync(join(ROOT, PICTURE), "utf8")), words);
}

for (const guide of GUIDES)
  for (const [index, sample] of listSamples(guide).entries())
    test(`${guide}, sample ${index + 1}: ${sample.commands.at(-1)}`, { timeout: 300_000 }, async () => {
      const printed = await runSample(sample, server, guide === "README.md" ? comparePicture : undefined);
      assert.notEqual(sample.shown, "", "npm run docs -- --output writes it");
      const heads = headsOf(printed);
      const missing = headsOf(sample.shown).filter((head) => !heads.some((other) => areOfOneTable(head, other)));
      assert.deepEqual(missing, [], printed);
    });

describe("samples of output", () => {
  test("are in the tutorial, and are replaced in their order", () => {
    const text =
      "```sh\nrampart a\n```\n\n<!-- output -->\n\n<!-- end -->\n\n<!-- output | head -1 -->\n\n```text\nold\n```\n\n<!-- end -->\n";
    const [first, second] = ["a\n", "b\n"].map((printed) => `\`\`\`text\n${printed}\`\`\``);
    const replaced = replaceSamples(text, ["a\n", "b\n"]);
    assert.ok(replaced.includes(`<!-- output -->\n\n${first}\n\n<!-- end -->`));
    assert.ok(replaced.includes(`<!-- output | head -1 -->\n\n${second}\n\n<!-- end -->`));
    assert.ok(!replaced.includes("old"));
    assert.ok(listSamples("scenarios/README.md").length >= 2);
  });

  test("are never typed: other blocks of text hold commands only", () => {
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
});
