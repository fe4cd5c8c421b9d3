import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { LIMIT } from "../time-limit.ts";
import { createFolder, inFolder } from "./rampart-process.ts";
import { runInFolder } from "./run-in-folder.ts";

/** `rampart report`: a stored report gives what the run gave. */

const SCENARIO = `import { defineScenario, embedded, p99, steps } from "rampart";
export default defineScenario({
  name: "stored",
  target: embedded({ latency: "2 ms" }),
  load: steps([1, 2], { for: "300 ms" }),
  assert: [p99("latency").below("1 s")],
});
`;

/** Of files. */
const COMPARISON = {
  version: 2,
  verdict: { name: "measured", headline: "", reasons: [], exitCode: 0 },
  notes: [],
  comparisons: [],
};

describe("a stored report", () => {
  test("gives the first screen, the page, the summary and JUnit's file of its run", LIMIT, async () => {
    for (const repeat of ["", "  repeat: 2,\n"])
      await inFolder({ "load.ts": SCENARIO.replace("  assert", `${repeat}  assert`) }, async (folder) => {
        const files = (name: string): string[] =>
          [
            ["--html", "html"],
            ["--markdown", "md"],
            ["--junit", "xml"],
          ].flatMap(([flag = "", ending]) => [flag, `${name}.${ending}`]);
        const run = await runInFolder(folder, ["run", "load.ts", "--json", "run.json", ...files("run")]);
        const shown = await runInFolder(folder, ["report", "run.json", ...files("again")]);
        assert.equal(shown.code, 0, shown.text);
        assert.ok(run.text.includes(shown.text.trim()), `${run.text}\n${shown.text}`);
        for (const ending of ["html", "md", "xml"]) {
          const [first, second] = ["run", "again"].map((name) =>
            readFileSync(join(folder, `${name}.${ending}`), "utf8"),
          );
          assert.equal(second, first, ending);
        }
      });
  });

  test("names files without a name after itself, and gives its JSON again", LIMIT, async () => {
    using folder = createFolder({ "load.ts": SCENARIO });
    const contentOf = (name: string): string => readFileSync(join(folder.path, name), "utf8");
    await runInFolder(folder.path, ["run", "load.ts", "--json", "run.json", "--html", "named.html"]);
    const right = ["report", "run.json", "--csv", "--html", "--json", "again.json", "--junit", "-v"];
    const shown = await runInFolder(folder.path, right);
    assert.equal(shown.code, 0, shown.text);
    for (const name of ["run.csv", "run.html", "run.xml"]) assert.match(shown.text, new RegExp(`^wrote ${name}$`, "m"));
    assert.doesNotMatch(shown.text, /wrote again/);
    assert.equal(contentOf("run.html"), contentOf("named.html"));
    assert.equal(contentOf("again.json"), contentOf("run.json"));
    for (const [args, message] of [
      [["run.json", "--json"], /--json: needs a value\. Write --json FILE\|-\./],
      [["run.json", "--json", "run.json"], /--json: is also a file that the run reads/],
      [["--html", "run.json"], /FILE: is missing\. --html took run\.json: write .*report run\.json --html\./],
    ] as const) {
      const wrong = await runInFolder(folder.path, ["report", ...args]);
      assert.equal(wrong.code, 64, wrong.text);
      assert.match(wrong.text, message);
    }
  });

  test("that is none, or of another version, is refused by name before anything is written", LIMIT, async () => {
    const files = {
      "v2.json": '{"version": 2, "plan": {}, "levels": []}',
      "v9.json": '{"version": 9}',
      "other.json": "[1]",
      "text.json": "no JSON",
      "sweep.json": '{"version":7,"points":[]}',
      "sweep2.json": '{"version":2,"points":[{}]}',
      "compare.json": JSON.stringify(COMPARISON),
    };
    using folder = createFolder(files);
    for (const [args, message] of [
      [["nothing.json"], /nothing\.json: cannot be read: there is no such file/],
      [["v9.json"], /v9\.json: .* version 9, .* version 4\b/],
      [["v2.json"], /v2\.json: .* version 2, .* version 4\b/],
      [["sweep.json"], /sweep\.json: .* version 7, .* version 2\b/],
      [["sweep2.json"], /sweep2\.json: .*: kind is missing\. Use the Rampart/],
      [
        ["compare.json"],
        /compare\.json: is the JSON of rampart compare, which has no runs to show again\. Run rampart/,
      ],
      [["other.json"], /other\.json: is not the JSON of a run\. Give the JSON report of Rampart/],
      [["text.json"], /text\.json: is not the JSON of a run/],
      [[], /FILE: is missing/],
      [["v9.json", "--markdown", "v9.json"], /--markdown: is also a file that the run reads/],
    ] as const) {
      const { code, text } = await runInFolder(folder.path, ["report", ...args, "--html", "page.html"]);
      assert.equal(code, 64, text);
      assert.match(text, message);
      assert.throws(() => readFileSync(join(folder.path, "page.html")));
    }
  });
});
