import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { before, describe, test } from "node:test";
import { makeFolder } from "../make-folder.ts";

/** The npm package of a release, installed by npm into a project of its own. */

const root = join(import.meta.dirname, "..", "..");
const binaries = join(root, "node_modules", ".bin");
const release = join(root, "dist", "release");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { version: string };

const SCENARIO = `import { defineScenario, embedded, errorRate, hold } from "rampart";
export default defineScenario({
  name: "packed",
  target: embedded(),
  load: hold(2, { requests: 40 }),
  assert: [errorRate().is(0)],
});
`;

describe("the npm package", () => {
  let folder: string;
  before(() => {
    folder = makeFolder();
    writeFileSync(join(folder, "package.json"), '{"name": "project", "type": "module", "private": true}');
    writeFileSync(join(folder, "x.ts"), SCENARIO);
    const tarball = readdirSync(release).find((name) => name.endsWith(".tgz"));
    assert.ok(tarball);
    execFileSync("npm", ["install", "--loglevel=error", "--prefer-offline", join(release, tarball)], { cwd: folder });
  });

  /** With this repository's Node and Bun first. */
  function run(program: string, ...args: string[]): string {
    const env = { ...process.env, PATH: `${binaries}${delimiter}${process.env["PATH"]}`, npm_config_loglevel: "error" };
    const { status, stdout, stderr, error } = spawnSync(program, args, { cwd: folder, env, encoding: "utf8" });
    assert.equal(error, undefined);
    assert.equal(status, 0, stdout + stderr);
    return stdout;
  }

  for (const [name, command] of [
    ["npx", ["npx", "--no-install", "rampart"]],
    ["npm exec", ["npm", "exec", "--no", "--", "rampart"]],
    ["bunx, on Bun", ["bun", "x", "--bun", "--no-install", "rampart"]],
  ] as const)
    test(`works by ${name}`, () => {
      const [program, ...first] = command;
      assert.equal(run(program, ...first, "version"), `rampart ${version}\n`);
      assert.match(run(program, ...first, "run", "x.ts"), / 40 requests$/m);
    });

  for (const [name, ...command] of [
    ["Node", "node", "x.ts"],
    ["Bun", "bun", "x.ts"],
    ["Deno", "deno", "run", "-A", "x.ts"],
  ] as const)
    test(`a scenario runs as a script on ${name}`, () => {
      const [program, ...args] = command;
      assert.match(run(program, ...args), / 40 requests$/m);
    });

  for (const moduleResolution of ["nodenext", "bundler"])
    test(`its types work in a strict project with moduleResolution ${moduleResolution}`, () => {
      const module = moduleResolution === "nodenext" ? "nodenext" : "esnext";
      const strict = { strict: true, skipLibCheck: false, exactOptionalPropertyTypes: true, noEmit: true };
      const compilerOptions = { ...strict, module, moduleResolution, target: "es2024", lib: ["es2024"], types: [] };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["x.ts"] }));
      assert.equal(run("tsc", "-p", "."), "");
    });

  test("has the JSON Schemas that `rampart schema` prints, each with its id", () => {
    const ids = {
      report: /^urn:rampart:report:\d+$/,
      scenario: /^https:\/\/rampart\.invalid\/schema\/scenario-\d+\.json$/,
    };
    for (const [name, id] of Object.entries(ids)) {
      const resolve = `console.log(require.resolve("rampart/schemas/${name}.schema.json"))`;
      const schema = JSON.parse(readFileSync(run("node", "--input-type=commonjs", "-e", resolve).trim(), "utf8"));
      assert.match(schema.$id, id);
      assert.deepEqual(schema, JSON.parse(run("npx", "--no-install", "rampart", "schema", name)));
    }
  });

  test("prints its guides, the man page and the types of scenarios", () => {
    assert.match(run("npx", "--no-install", "rampart", "help", "scenarios"), /defineScenario/);
    assert.match(run("npx", "--no-install", "rampart", "man"), /^\.TH RAMPART 1/);
    run("npx", "--no-install", "rampart", "types", "typed");
    assert.match(readFileSync(join(folder, "typed", "rampart.d.ts"), "utf8"), /declare function defineScenario</);
  });
});
