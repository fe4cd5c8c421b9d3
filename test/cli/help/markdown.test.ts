import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { COMMAND_GROUPS, COMMANDS } from "../../../src/cli/commands.ts";
import { formatMarkdown } from "../../../src/cli/help/markdown.ts";
import { runDoor } from "../../fuzz/command.ts";

/** Markdown as text for a terminal. */

const format = (text: string, columns = 40): string =>
  formatMarkdown(text, { columns, describeLink: (target) => (target === "b.md" ? "rampart help b" : target) });

describe("Markdown in a terminal", () => {
  for (const [what, markdown, text] of [
    ["headings are underlined", "# One\n## Two\n### Three", "One\n===\n\nTwo\n---\n\nThree\n~~~~~\n"],
    [
      "paragraphs are wrapped",
      "one two three\nfour five six seven eight nine ten",
      "one two three four five six seven eight\nnine ten\n",
    ],
    ["emphasis and code lose their marks", "**a** and `b **c**`", "a and b **c**\n"],
    [
      "short code is not broken",
      'a word or two that is before `{ for: "30 s" }` ends',
      'a word or two that is before\n{ for: "30 s" } ends\n',
    ],
    ["a link whose text is code", "[`the guide`](b.md)", "the guide (rampart help b)\n"],
    ["a link tells the topic", "[the guide](b.md), [c](c.md)", "the guide (rampart help b), c (c.md)\n"],
    ["a link whose text is the topic is the command", "[b](b.md)", "rampart help b\n"],
    [
      "lists hang",
      "- one two three four five six seven eight\n  nine\n- ten",
      "- one two three four five six seven\n  eight nine\n- ten\n",
    ],
    ["numbers of a list stay", "1. a\n2. b", "1. a\n2. b\n"],
    [
      "code is indented and not wrapped",
      `\`\`\`sh x.sh\n${"a ".repeat(30)}\n\n# b\n\`\`\`\ntext`,
      `    ${"a ".repeat(30).trim()}\n\n    # b\n\ntext\n`,
    ],
    ["pictures are left out", "a\n\n![A curve, drawn](knee.svg)\n\nb\n", "a\n\nb\n"],
    ["comments are left out", "<!-- generated: x -->\n\na\n\n<!-- end -->\n", "a\n"],
    [
      "columns are as wide as their cells",
      "| a | long |\n| --- | ---: |\n| `b c` | d |\n| e\\|f | `g` |",
      "a    long\n───  ────\nb c  d\ne|f  g\n",
    ],
  ] as const)
    test(what, () => assert.equal(format(markdown), text));

  test("cells are wrapped where the line has no room for them, the widest first", () => {
    const table =
      "| option | meaning |\n| --- | --- |\n| `--x` | one two three four five six seven |\n| `--y` | eight |";
    assert.equal(
      format(table, 30),
      "option  meaning\n──────  ──────────────────────\n--x     one two three four\n        five six seven\n\n--y     eight\n",
    );
  });

  test("a word that is wider than the line stays whole", () => {
    const word = "x".repeat(50);
    assert.equal(format(`a ${word} b`), `a\n${word}\nb\n`);
    assert.equal(format(`| a |\n| - |\n| ${word} |`), `a\n${"─".repeat(50)}\n${word}\n`);
  });
});

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
    for (const [group, commands] of Object.entries(COMMAND_GROUPS)) {
      const [, below = ""] = out.split(`\n${group}:\n`);
      for (const { name } of commands) assert.match(below.split("\n\n", 1)[0] ?? "", new RegExp(`^ {2}${name} `, "m"));
    }
  });
});
