import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { LIMIT } from "../time-limit.ts";
import { createFolder, type ProcessResult, ROOT, runRampart, startProcess } from "./rampart-process.ts";

/** A scenario that ends the process itself never looks as if it had passed. */

/** Fields of a scenario that would pass. */
const PASSING = {
  name: '"exits"',
  target: "embedded()",
  load: 'hold(1, { for: "20 s" })',
  assert: "[errorRate().is(0)]",
};

function scenario(
  fields: Readonly<Record<string, string>>,
  { before = "", after = "", from = "rampart" } = {},
): string {
  const lines = Object.entries({ ...PASSING, ...fields }).map(([name, text]) => `  ${name}: ${text},`);
  return [
    `import { defineScenario, embedded, errorRate, hold, input } from "${from}";`,
    `const end = () => { ${EXIT} };`,
    before,
    `const scenario = defineScenario({\n${lines.join("\n")}\n});`,
    after,
    "export default scenario;",
    "",
  ].join("\n");
}

/** Runs a file as the main module. Outside of the repository, Deno does not find the packages that Rampart imports. */
function runMain(file: string): Promise<ProcessResult> {
  const config = ["--config", join(ROOT, "deno.json")];
  const command = runtimeName === "deno" ? [process.execPath, "run", "-A", ...config, file] : [process.execPath, file];
  return startProcess(command).result;
}

const EXIT = "if (globalThis.Deno !== undefined) globalThis.Deno.exit(0); process.exit(0);";
const DURING: readonly (readonly [where: string, fields: Readonly<Record<string, string>>])[] = [
  ["setup", { setup: "() => end()" }],
  ["check", { check: "() => end()" }],
  ["onRecord", { onRecord: "() => end()" }],
  ["a timer", { setup: "() => { setTimeout(end, 300); }" }],
  ["teardown", { load: "hold(1, { requests: 3 })", teardown: "() => end()" }],
  ["a field that is a function", { load: "() => end()" }],
  ["process.reallyExit", { onRecord: "() => process.reallyExit(0)" }],
  ["another exit code", { onRecord: "() => process.exit(3)" }],
];

describe("a scenario that ends the process", () => {
  for (const [where, fields] of DURING)
    test(`from ${where}: exits with 1 and says so`, LIMIT, async () => {
      using folder = createFolder({ "x.mjs": scenario(fields) });
      const { code, out, err } = await runRampart(["run", "x.mjs", "--records", "r.jsonl"], { cwd: folder.path });
      assert.equal(code, 1, out + err);
      assert.match(
        err,
        /^rampart: x\.mjs: its code ended the process during its run \(exit code \d\), so the run does not count\./m,
      );
      assert.equal(err.match(/ended the process/g)?.length, 1);
      // At teardown, the report is complete.
      if (where === "teardown") return;
      assert.doesNotMatch(out, /^pass/m);
      assert.deepEqual(readdirSync(folder.path), ["x.mjs"], "partial files stay behind");
    });

  for (const [where, text] of [
    ["before its definition", scenario({}, { before: "end();" })],
    ["after its definition", scenario({}, { after: "end();" })],
  ] as const)
    test(`while it is loaded, ${where}: exits with 64 and says so`, LIMIT, async () => {
      using folder = createFolder({ "x.mjs": text });
      const { code, out, err } = await runRampart(["run", "x.mjs"], { cwd: folder.path });
      assert.equal(code, 64, out + err);
      assert.match(err, /^rampart: x\.mjs: its code ended the process while it was loaded \(exit code 0\)/m);
    });

  const api = join(ROOT, "src", "index.ts");

  test("as the main module, during the run: exits with 1", LIMIT, async () => {
    using folder = createFolder({ "x.mjs": scenario({ onRecord: "() => end()" }, { from: api }) });
    const { code, out, err } = await runMain(join(folder.path, "x.mjs"));
    assert.equal(code, 1, out + err);
    assert.match(err, /its code ended the process during its run/);
  });

  test("as the main module, before the run: exits with 64", LIMIT, async () => {
    using folder = createFolder({ "x.mjs": scenario({}, { from: api, after: "end();" }) });
    const { code, out, err } = await runMain(join(folder.path, "x.mjs"));
    assert.equal(code, 64, out + err);
    assert.match(err, /its code ended the process before its run/);
  });

  test("a program that imports a scenario may end as it likes", LIMIT, async () => {
    const files = {
      "x.mjs": scenario({}, { from: api }),
      "main.mjs": 'import scenario from "./x.mjs"; console.log(typeof scenario); process.exit(0);',
    };
    using folder = createFolder(files);
    const { code, out, err } = await runMain(join(folder.path, "main.mjs"));
    assert.deepEqual([code, out.trim(), err], [0, "object", ""]);
  });
});
