import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { createFolder, ROOT, runRampart } from "../rampart-process.ts";

/** `rampart check`: types, plan and time of scenarios, of which nothing is sent. */

const scenario = (fields: string): string => `
import { defineScenario, embedded, hold, p99, triton } from "rampart";
export default defineScenario({ name: "checked", ${fields} });
`;
const RIGHT = scenario('target: embedded(), load: hold(2, { for: "2 s" }), assert: [p99("latency").below("1 s")]');
const WITH_SETUP = `
import { writeFileSync } from "node:fs";
import { defineScenario, hold, triton } from "rampart";
export default defineScenario({
  name: "started",
  setup: () => { writeFileSync("called", ""); return { url: "localhost:1" }; },
  target: (_params, { url }) => triton(url, { model: "simple" }),
  load: hold(2),
});
`;
/** With the compiler of this repository on the path. */
const WITH_COMPILER = { PATH: `${join(ROOT, "node_modules", ".bin")}:${process.env["PATH"] ?? ""}` };
const WITHOUT_COMPILER = { PATH: "" };

describe("rampart check", () => {
  test("describes the plan and the time of each scenario of files and folders, and calls no setup", async () => {
    const files = {
      "a.ts": RIGHT,
      "b/c.yaml": "name: c\ntarget: embedded\nload: { hold: 1 }\n",
      "b/d.mjs": WITH_SETUP,
    };
    using folder = createFolder(files);
    const { code, out, err } = await runRampart(["check", "a.ts", "b"], { cwd: folder.path, env: WITHOUT_COMPILER });
    assert.deepEqual([code, err], [0, ""], out);
    assert.match(out, /^plan {3}a\.ts: right\n {7}checked: embedded target over http; concurrency 2; 1 assertion\n/);
    assert.match(out, /\n {7}The run takes about 3 s \(1 level of 2 s and a warm-up\)\.\n/);
    assert.match(out, /\nplan {3}b\/c\.yaml: right\n/);
    assert.match(out, /\nplan {3}b\/d\.mjs: right\n {7}target: not checked, because setup makes it/);
    assert.match(out, /\ntypes {2}a\.ts: not checked, because no TypeScript compiler was found \(npm install/);
    assert.match(out, /\nPASSED {2}3 scenarios are right; types not checked\n$/);
    assert.ok(!existsSync(join(folder.path, "called")));
  });

  test("looks for the files of inputs, unless a pattern or setup finds them", async () => {
    const json = (more: string): string => `
import { defineScenario, file, grpc, hold, input, rest, torchserve, triton } from "rampart";
export default defineScenario({ name: "files", load: hold(1), ${more} });
`;
    const tensors = 'target: triton("localhost:1", { model: "m" }), inputs: input.json("made.json")';
    const files = {
      "missing.ts": json(tensors),
      "made.ts": json(`setup: () => {}, ${tensors}`),
      "call.ts": json('target: grpc("localhost:1", { method: "a.B/C", file: "calls.json" })'),
      "body.ts": json('target: rest("http://localhost:1", { method: "POST", body: file("body.bin") })'),
      "pattern.ts": json('target: torchserve("localhost:1", { model: "m" }), inputs: input.files("*.ts")'),
    };
    using folder = createFolder(files);
    const args = ["check", ...Object.keys(files)];
    const { code, out } = await runRampart(args, { cwd: folder.path, env: WITHOUT_COMPILER });
    assert.deepEqual(
      [code, out.match(/^plan .*$/gm)],
      [
        64,
        [
          "plan   missing.ts: wrong",
          "plan   made.ts: right",
          "plan   call.ts: wrong",
          "plan   body.ts: wrong",
          "plan   pattern.ts: right",
        ],
      ],
    );
  });

  test("describes each target of a scenario that has several runs, and how long they take together", async () => {
    const members = '{ name: "one", target: embedded() }, { name: "two", target: embedded() }';
    const load = 'perTarget({ one: hold(3, { for: "2 s" }), two: rate(50, { for: "4 s" }) })';
    const files = {
      "ab.ts": scenario('target: ab(embedded(), embedded(), { pairs: 2 }), load: hold(2, { for: "2 s" })'),
      "own.ts": scenario(`target: mix([${members}]), load: ${load}`),
    };
    const imports = /hold, p99, triton/;
    const withImports = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, text.replace(imports, "hold, ab, mix, perTarget, rate")]),
    );
    using folder = createFolder(withImports);
    const { code, out, err } = await runRampart(["check", "ab.ts", "own.ts"], {
      cwd: folder.path,
      env: WITHOUT_COMPILER,
    });
    assert.deepEqual([code, err], [0, ""], out);
    const lines = out.split("\n").map((line) => line.trim());
    assert.deepEqual(lines.slice(0, 8), [
      "plan   ab.ts: right",
      "a: checked: embedded target over http; concurrency 2; 0 assertions",
      "b: checked: embedded target over http; concurrency 2; 0 assertions",
      "The run takes about 12 s (4 blocks).",
      "plan   own.ts: right",
      "one: checked: embedded target over http; concurrency 3; 0 assertions",
      "two: checked: embedded target over http; constant request rate 50; 0 assertions",
      "The run takes about 5 s (2 targets at the same time).",
    ]);
  });

  test("reports what is wrong with any target", async () => {
    const text = scenario('target: mix([{ name: "a", target: embedded() }]), load: perTarget({ a: hold(0) })');
    const files = { "a.ts": text.replace("hold, p99, triton", "hold, mix, perTarget") };
    using folder = createFolder(files);
    const { code, out, err } = await runRampart(["check", "a.ts"], { cwd: folder.path, env: WITHOUT_COMPILER });
    assert.deepEqual([code, /load\.a/.test(err)], [64, true], out + err);
  });

  test("reports all mistakes of all scenarios, and what is right", async () => {
    const files = {
      "a.ts": RIGHT,
      "b.ts": scenario('target: triton("h:8000", { model: "m" }), load: hold(0), latencyLimit: 5 as never'),
      "c.yaml": "name: c\ntarget: embedded\nload: { holt: 1 }\n",
    };
    using folder = createFolder(files);
    const { code, out, err } = await runRampart(["check", ".", "gone.ts"], { cwd: folder.path, env: WITHOUT_COMPILER });
    assert.equal(code, 64);
    assert.match(out, /^plan {3}a\.ts: right\n/);
    for (const file of ["b.ts", "c.yaml", "gone.ts"]) assert.ok(out.includes(`plan   ${file}: wrong\n`), out);
    for (const part of [/latencyLimit/, /holt/, /gone\.ts/]) assert.match(err, part);
    assert.match(out, /\nREFUSED {2}3 of 4 plans are wrong\n$/);
  });

  test("reports errors of types with their place", async () => {
    const wrong = RIGHT.replace("export", "const n: number = 'x';\nexport");
    using folder = createFolder({ "a.ts": RIGHT, "b.ts": wrong });
    const right = await runRampart(["check", "a.ts"], { cwd: folder.path, env: WITH_COMPILER });
    assert.equal(right.code, 0, right.out + right.err);
    assert.match(right.out, /\ntypes {2}a\.ts: right, by .*tsc/);
    const { code, out, err } = await runRampart(["check", "a.ts", "b.ts"], { cwd: folder.path, env: WITH_COMPILER });
    assert.equal(code, 64);
    assert.match(err, /^b\.ts\(3,7\): error TS2322: /m);
    assert.doesNotMatch(err, /^a\.ts/m);
    assert.match(out, /\ntypes {2}2 scenarios: wrong, by .*tsc\w*\nREFUSED {2}types are wrong\n$/);
  });

  test("takes the settings of the nearest tsconfig.json", async () => {
    const files = {
      "a.ts": `${RIGHT}\nfunction unused(): void {}\n`,
      "tsconfig.json":
        '{ "compilerOptions": { "noUnusedLocals": true, "strict": true, "module": "esnext", "moduleResolution": "bundler", "target": "es2024" } }',
    };
    using folder = createFolder(files);
    const { code, err } = await runRampart(["check", "a.ts"], { cwd: folder.path, env: WITH_COMPILER });
    assert.equal(code, 64);
    assert.match(err, /^a\.ts\(\d+,10\): error TS6133: 'unused'/m);
  });

  test("needs a scenario, and takes values of parameters", async () => {
    const files = {
      "a.ts": `import { defineScenario, embedded, hold, param } from "rampart";
export default defineScenario({ name: "p", params: { users: param.integer(1) }, target: embedded(), load: ({ users }) => hold(users) });\n`,
    };
    using folder = createFolder(files);
    const options = { cwd: folder.path, env: WITHOUT_COMPILER };
    const none = await runRampart(["check"], options);
    assert.deepEqual([none.code, none.out], [64, ""]);
    assert.match(none.err, /no scenario is given/);
    assert.match((await runRampart(["check", "a.ts", "--set", "users=7"], options)).out, /; concurrency 7; /);
    assert.equal((await runRampart(["check", "a.ts", "--set", "users=x"], options)).code, 64);
  });

  test("prints one line for each mistake, also where both the plan and the compiler find it", async () => {
    const text = (params: string): string => `
import { defineScenario, embedded, hold, param } from "rampart";
export default defineScenario({ name: "x", target: embedded(), load: hold(1), params: {
  ${params}
} });
`;
    const files = {
      "both.ts": text('users: param.integer("16"),\n  time: param.duration(5),\n  model: param.choice("a"),'),
      "types.ts": text('time: param.duration("5 s", { descr: "x" }),'),
    };
    using folder = createFolder(files);
    const both = await runRampart(["check", "both.ts"], { cwd: folder.path, env: WITH_COMPILER });
    assert.deepEqual([both.code, both.err.match(/^\S+ both\.ts:\d/gm)?.length], [64, 3], both.err);
    assert.equal(both.err.trimEnd().split("\n").length, 3, both.err);
    const types = await runRampart(["check", "types.ts"], { cwd: folder.path, env: WITH_COMPILER });
    assert.match(types.err, /\btypes\.ts/);
    assert.equal(types.err.trimEnd().split("\n").length, 1, types.err);
  });
});
