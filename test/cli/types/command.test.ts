// Runs on: executable.
import assert from "node:assert/strict";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { typeCheck } from "../../type-check.ts";
import { createFolder, inFolder, ROOT, runRampart } from "../rampart-process.ts";

/** `rampart types`: scenarios are checked with nothing but what it writes. */

const WRONG = `import { defineScenario, embedded, hold, param, p99 } from "rampart";
export default defineScenario({
  name: "wrong",
  params: { users: param.integer(1) },
  target: embedded(),
  load: ({ userCount }) => hold(userCount),
  asserts: [p99("latency").below("1 s")],
});
`;

test("every scenario of the repository compiles with what it writes, and a wrong field does not", async () => {
  await inFolder({}, async (cwd) => {
    const { code, out, err } = await runRampart(["types", "tests"], { cwd });
    assert.equal(code, 0, out + err);
    const written = ["rampart.d.ts", "rampart-env.d.ts", "tsconfig.json"].map((name) => join("tests", name));
    assert.equal(out, written.map((path) => `wrote ${path}\n`).join(""));
    const folder = join(cwd, "tests");
    const scenarios = readdirSync(join(ROOT, "scenarios")).filter((name) => name.endsWith(".ts"));
    assert.ok(scenarios.length >= 4);
    for (const name of scenarios) cpSync(join(ROOT, "scenarios", name), join(folder, name));
    assert.equal(typeCheck(folder), "");
    writeFileSync(join(folder, "wrong.ts"), WRONG);
    const found = typeCheck(folder);
    assert.match(found, /wrong\.ts\(6,\d+\): error TS\d+: .*userCount/);
    assert.match(found, /wrong\.ts/);
    assert.doesNotMatch(found, /rampart\.d\.ts|Cannot find module/);
    writeFileSync(join(folder, "wrong.ts"), WRONG.replaceAll("userCount", "users"));
    assert.match(typeCheck(folder), /wrong\.ts\(7,\d+\): error TS\d+: .*asserts/);
    const text = readFileSync(join(folder, "rampart.d.ts"), "utf8");
    assert.doesNotMatch(text, /\bimport\(|^\s*import .* from "(?!rampart")/m);
    assert.match(
      text,
      / \* A constant concurrency\.\n \* @example\n \* hold\(16, \{ for: "30 s" \}\)\n \*\/\s+declare function hold</,
    );

    // A second time replaces the types only.
    writeFileSync(join(folder, "tsconfig.json"), '{"include": ["*.ts"]}');
    const again = await runRampart(["types", "tests"], { cwd });
    assert.equal(again.code, 0, again.err);
    assert.match(again.out, /tsconfig\.json exists and is kept\. Add to its compilerOptions: "paths": \{"rampart":/);
    assert.equal(readFileSync(join(folder, "tsconfig.json"), "utf8"), '{"include": ["*.ts"]}');
  });
});

const OF_NODE = `import { readFileSync } from "node:fs";
import { defineScenario, hold, input, openai } from "rampart";
export default defineScenario({
  name: readFileSync("name", "utf8"),
  target: openai(process.env.URL ?? "localhost:8000", { model: "m" }),
  load: hold(1),
  inputs: input.prompts({ isl: 1 }),
});
`;

test("it can be run twice, in a folder and in one inside it, and leaves process.env and Node's modules", async () => {
  await inFolder({ "a.ts": OF_NODE }, async (cwd) => {
    for (const args of [[], ["inside"], [], ["inside"]]) {
      const { code, err } = await runRampart(["types", ...args], { cwd });
      assert.equal(code, 0, err);
    }
    writeFileSync(join(cwd, "inside", "b.ts"), OF_NODE);
    assert.equal(typeCheck(cwd), "");
    assert.equal(typeCheck(join(cwd, "inside")), "");
    writeFileSync(join(cwd, "inside", "b.ts"), OF_NODE.replace("isl", "length"));
    for (const folder of [cwd, join(cwd, "inside")]) assert.match(typeCheck(folder), /^\S*b\.ts\(7,\d+\): [^\n]*\n$/);
    // Node's own types replace the part that is written.
    const typeRoots = JSON.stringify([join(ROOT, "node_modules", "@types")]);
    const config = readFileSync(join(cwd, "tsconfig.json"), "utf8");
    writeFileSync(
      join(cwd, "tsconfig.json"),
      config.replace('"strict"', `"typeRoots": ${typeRoots}, "types": ["node"], "strict"`),
    );
    writeFileSync(join(cwd, "inside", "b.ts"), OF_NODE.replace('"utf8"', "8"));
    assert.match(typeCheck(cwd), /b\.ts\(4,\d+\): error/);
  });
});

test("a file that it did not write is kept", async () => {
  using folder = createFolder({ "rampart.d.ts": "export {};\n" });
  const { code, err } = await runRampart(["types"], { cwd: folder.path });
  assert.equal(code, 64);
  assert.match(err, /^rampart: rampart\.d\.ts: exists, and is not written by this command\. Rename it\./);
  assert.equal(readFileSync(join(folder.path, "rampart.d.ts"), "utf8"), "export {};\n");
  assert.ok(!existsSync(join(folder.path, "tsconfig.json")));
});

test("a folder that cannot be made, and wrong options, are errors", async () => {
  using folder = createFolder({ file: "" });
  const { code, err } = await runRampart(["types", "--force"], { cwd: folder.path });
  assert.equal(code, 64);
  assert.match(err, /^rampart: --force: /m);
  const help = await runRampart(["types", "--help"], { cwd: folder.path });
  assert.equal(help.code, 0);
  assert.match(help.out, /rampart types \[FOLDER\]/);
});
