import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { replacePart } from "../../compile/docs/generated-part.ts";
import { PARTS, refresh } from "../../compile/docs/parts.ts";
import { TOPICS } from "../../src/cli/help/topics.ts";
import { ROOT } from "../cli/rampart-process.ts";
import { makeFolder } from "../make-folder.ts";
import { writeTypes } from "../scenario/write-types.ts";
import { typeCheck } from "../type-check.ts";
import { blocksOf, GUIDES } from "./blocks.ts";

/** The guides: what is made from the source is fresh, links lead somewhere, and examples compile. */

const read = (guide: string): string => readFileSync(join(ROOT, guide), "utf8");

describe("generated parts", () => {
  for (const part of PARTS)
    test(`${part.guide}: ${part.name}`, () => {
      const { before, after } = refresh(part);
      const stale = after.split("\n").find((line, i) => line !== before.split("\n")[i]);
      assert.ok(before === after, `is not what the source says; run npm run docs: ${stale}`);
      assert.ok(!after.includes("\u001b"), "holds escape sequences of a terminal");
      const rows = after.slice(after.indexOf(`<!-- generated: ${part.name} -->`)).match(/^\| [`[]/gm) ?? [];
      assert.ok(rows.length >= part.leastRows, `only ${rows.length} rows`);
    });

  for (const name of ["bench", "bench:generative"])
    test(`the guide of the benchmarks has a place for ${name}, which is not empty`, () => {
      const guide = read("test/bench/README.md");
      assert.match(replacePart(guide, name, "new figures"), /\n\nnew figures\n\n<!-- end -->/);
      assert.match(guide, new RegExp(`<!-- generated: ${name} -->\\n\\n[^<]*\\| rampart \\|`));
    });

  test("the guide of service kinds has the matrix with its date, which is not empty", () => {
    const guide = read("src/service/README.md");
    assert.match(replacePart(guide, "matrix", "new rows"), /\n\nnew rows\n\n<!-- end -->/);
    assert.match(guide, /\n\nOn \d{4}-\d\d-\d\d: \d+ of \d+ are measured\.\n\n\| server \|.*\n\| --- .*\n\| Triton \|/);
  });

  test("are replaced between their marks only", () => {
    const guide = "# A\n\n<!-- generated: x -->\nold\n<!-- end -->\n\nrest\n";
    assert.equal(replacePart(guide, "x", "new\n"), "# A\n\n<!-- generated: x -->\n\nnew\n\n<!-- end -->\n\nrest\n");
    assert.throws(() => replacePart(guide, "y", "new"), /no lines <!-- generated: y -->/);
  });
});

/** Whether the file of a link is there, and the heading that it names. */
function leadsSomewhere(guide: string, target: string): boolean {
  const [path = "", heading] = target.split("#");
  const file = path === "" ? guide : join(dirname(guide), path);
  if (!existsSync(join(ROOT, file))) return false;
  return heading === undefined || anchorsOf(read(file)).includes(heading);
}

/** The anchors of headings, as GitHub makes them. */
function anchorsOf(text: string): string[] {
  return [...text.replaceAll(/^```[\s\S]*?^```/gm, "").matchAll(/^#+ (.+)$/gm)].map(([, heading = ""]) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, "")
      .replaceAll(" ", "-"),
  );
}

describe("every guide", () => {
  for (const guide of GUIDES) {
    test(`${guide}: links lead to files`, () => {
      const targets = [...read(guide).matchAll(/\]\(([^)]+)\)/g)].map((match) => match[1] as string);
      assert.deepEqual(
        targets.filter((target) => !/^https?:/.test(target) && !leadsSomewhere(guide, target)),
        [],
      );
    });

    test(`${guide}: lines are short, except in tables and generated parts`, () => {
      const written = read(guide).replace(/<!-- generated[\s\S]*?<!-- end -->/g, "");
      const long = written.split("\n").filter((line) => [...line].length > 125 && !line.startsWith("|"));
      assert.deepEqual(long, []);
    });
  }

  test("has no empty code and no links of doc comments", () => {
    const found = GUIDES.filter((guide) => /\| `` \||\{@link/.test(read(guide)));
    assert.deepEqual(found, []);
  });

  for (const [guide, most] of [
    ["README.md", 150],
    ["scenarios/README.md", 200],
    ["scenarios/guide/ci-gate.md", 80],
    ...GUIDES.filter((guide) => guide.startsWith("scenarios/recipes/")).map((guide) => [guide, 50] as const),
  ] as const)
    test(`${guide} has at most ${most} lines`, () => assert.ok(read(guide).trimEnd().split("\n").length <= most));

  test("of scenarios is a topic of help", () => {
    const topics = TOPICS.map(({ guide }) => guide);
    assert.deepEqual(
      GUIDES.filter((guide) => guide.startsWith("scenarios/") && !topics.includes(guide)),
      [],
    );
  });

  test("those of help are among them", () => {
    assert.deepEqual(
      TOPICS.filter(({ guide }) => !GUIDES.includes(guide)),
      [],
    );
  });
});

/** Options of the programs beside Rampart that guides show, and of npm, Deno and `npm test`. */
const FOREIGN = new Set(
  "--workflow --branch --event --limit --jq --dir --edit-last --create-if-none --body-file --fail --silent --location --output --status --name --user --pass --server-side --mpi --host --bind-to --release --ignore-missing --detach --name --profile-models --matrix --triton-launch-mode --perf-analyzer-path --target --force --all --only --rounds --memory --minutes --baseline --quick --timeout --no-check --test --metrics".split(
    " ",
  ),
);

describe("what guides name exists", () => {
  const written = GUIDES.map((guide) => read(guide).replace(/<!-- generated[\s\S]*?<!-- end -->/g, "")).join("\n");

  test("scripts of package.json", () => {
    const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
    const named = [...written.matchAll(/npm run ([\w:-]+)/g)].map((match) => match[1] as string);
    assert.ok(named.length > 10);
    assert.deepEqual(
      named.filter((script) => !(script in scripts)),
      [],
    );
  });

  test("options: the generated lists have them, or their beginning", () => {
    const listed = PARTS.flatMap(({ make }) => make().match(/--[a-z][a-z-]*/g) ?? []);
    const named = [...written.matchAll(/(?<![\w-])(--[a-z][a-z-]*[a-z])(-?[…*])?/g)];
    assert.ok(named.length > 150);
    const unknown = named.filter(([, name = "", more = ""]) =>
      more === "" ? !listed.includes(name) && !FOREIGN.has(name) : !listed.some((option) => option.startsWith(name)),
    );
    assert.deepEqual([...new Set(unknown.map((match) => match[0]))], []);
  });
});

test("the guide of the house lists the folders of src, and no others", () => {
  const listed = [...read("src/README.md").matchAll(/^\| `([a-z]+)\/` \|/gm)].map((match) => match[1] as string);
  const folders = readdirSync(join(ROOT, "src"), { withFileTypes: true }).filter((entry) => entry.isDirectory());
  assert.deepEqual(listed.sort(), folders.map(({ name }) => name).sort());
});

test("the guide of the house names files and folders that exist", () => {
  const inSource = readdirSync(join(ROOT, "src"), { recursive: true, encoding: "utf8" });
  const all = [...inSource, ...readdirSync(ROOT), ...readdirSync(join(ROOT, "test"))];
  // NAME stands for the name of what is added.
  const named = [...read("src/README.md").matchAll(/`([a-z][a-z0-9./-]*(?:\.ts|\/))`/g)].map(
    (match) => match[1] as string,
  );
  assert.ok(named.length > 40);
  const isThere = (name: string): boolean => {
    const path = name.replace(/^(src|test)\/|\/$/g, "");
    return path === "src" || path === "test" || all.some((other) => other === path || other.endsWith(`/${path}`));
  };
  assert.deepEqual(
    named.filter((name) => !isThere(name.replace(/\/$/, ""))),
    [],
  );
});

test("the scenarios of the guides compile", () => {
  const folder = makeFolder();
  const blocks = GUIDES.flatMap(blocksOf).filter(({ language }) => language === "ts");
  assert.ok(blocks.length >= 3);
  for (const [index, { text }] of blocks.entries()) writeFileSync(join(folder, `${index}.ts`), text);
  writeTypes(folder);
  assert.equal(typeCheck(folder), "");
});
