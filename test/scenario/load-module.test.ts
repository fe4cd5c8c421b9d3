// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, test } from "node:test";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { loadScenario } from "../../src/scenario/load-module.ts";
import { createFolder, inFolder, type ProcessResult, runRampart } from "../cli/rampart-process.ts";
import { runInFolder } from "../cli/run-in-folder.ts";

/** Scenario files that `rampart run` loads from a folder where nothing is installed. */

const ENUMS = `#!/usr/bin/env -S rampart run
import { defineScenario, type Scenario } from "rampart";
import { Level } from "./level.ts";
import { Settings } from "./shared/settings.ts";

namespace Names {
  export const scenario: string = "enums and classes";
}
const settings = new Settings(Level.Four, "10 s");
const scenario: Scenario = defineScenario({ name: Names.scenario, ...settings.toParts() });
export default scenario;
`;
const LEVEL = "export enum Level { One = 1, Four = One + 3 }\nexport const enum Other { A = 'a' }\n";
const SETTINGS = `import * as rampart from "rampart";
import type { Duration } from "rampart";

export class Settings {
  constructor(private readonly level: number, public readonly limit: Duration) {}

  toParts() {
    const { embedded, errorRate, hold, p90 } = rampart;
    return {
      target: embedded(),
      load: hold(this.level, { requests: 40 }),
      assert: [p90("latency").below(this.limit), errorRate().is(0)],
    } as const;
  }
}
`;
const SCENARIO =
  'import { defineScenario, embedded, hold } from "rampart";\n' +
  'export default defineScenario({ name: "sound", target: embedded(), load: hold(1, { requests: 5 }) });\n';

async function runText(text: string, file = "x.ts", ...flags: string[]): Promise<ProcessResult> {
  using folder = createFolder({ [file]: text });
  return await runRampart(["run", file, ...flags], { cwd: folder.path });
}

describe("rampart run, where nothing is installed, loads", () => {
  test("enums, parameter properties, namespaces and relative imports", async () => {
    using folder = createFolder({ "x.ts": ENUMS, "level.ts": LEVEL });
    await mkdir(join(folder.path, "shared"));
    await writeFile(join(folder.path, "shared", "settings.ts"), SETTINGS);
    const { code, out, err } = await runRampart(["run", "x.ts"], { cwd: folder.path });
    assert.equal(code, 0, out + err);
    assert.equal(err, "  measuring concurrency 4 …\n");
    assert.match(out, /^PASSED {2}enums and classes: [\s\S]*^ +4 +\S/m);
    assert.match(out, / 40 requests$/m);
    assert.equal(out.match(/^ {2}pass/gm)?.length, 2);
  });

  test("a scenario without a name, which has that of its file", async () => {
    const unnamed = SCENARIO.replace('name: "sound", ', "");
    const data = "target: { embedded: {} }\nload: { hold: { concurrency: 1, requests: 5 } }\n";
    for (const [text, file] of [
      [unnamed, "my load.ts"],
      [data, "my load.yaml"],
    ] as const) {
      const { code, out, err } = await runText(text, file);
      assert.equal(code, 0, out + err);
      assert.match(out, /^MEASURED {2}my load: /m);
    }
  });

  test("a file in another folder, by relative and absolute path, and starts its relative paths there", async () => {
    const text = SCENARIO.replace("hold }", "hold, input }").replace(
      "load:",
      'inputs: input.json("./data.json"), load:',
    );
    const one = JSON.stringify({ content: Array(16).fill(1), shape: [16] });
    using folder = createFolder({ "data.json": `{"data": [{"INPUT0": ${one}, "INPUT1": ${one}}]}` });
    await mkdir(join(folder.path, "elsewhere"));
    await writeFile(join(folder.path, "x.ts"), text);
    for (const path of ["../x.ts", join(folder.path, "x.ts")]) {
      const { code, out, err } = await runRampart(["run", path], { cwd: join(folder.path, "elsewhere") });
      assert.equal(code, 0, out + err);
      assert.match(out, / 5 requests$/m);
    }
  });

  test("JavaScript, and names with blanks and signs", async () => {
    for (const file of ["x.mjs", "a b#c%20ü.ts", "x.mts"]) {
      const { code, out, err } = await runText(SCENARIO, file, "--dry-run");
      assert.equal(code, 0, `${file}: ${out}${err}`);
      assert.equal((JSON.parse(out) as { name: string }).name, "sound");
    }
  });

  const isWindows = process.platform === "win32";
  test("names with ? and \\, with relative imports, and leaves nothing beside them", { skip: isWindows }, async () => {
    const settings = { "settings.ts": 'export const name: string = "sound";\n' };
    const text = `import { name } from "./settings.ts";\n${SCENARIO.replace('"sound"', "name")}`;
    for (const file of ["why?.ts", "a?b=1.mjs", "back\\slash.ts", "\\?#%.ts"])
      await inFolder({ ...settings, [file]: text }, async (cwd) => {
        for (const path of [file, join(cwd, file)]) {
          const { code, out, err } = await runRampart(["run", path, "--dry-run"], { cwd });
          assert.equal(code, 0, `${path}: ${out}${err}`);
          assert.equal((JSON.parse(out) as { name: string }).name, "sound");
        }
        assert.deepEqual((await readdir(cwd)).sort(), [file, "settings.ts"].sort());
      });
  });

  test("folders with ? and \\ in their names, or refuses them by name", { skip: isWindows }, async () => {
    await inFolder({}, async (cwd) => {
      for (const folder of ["why?", "back\\slash"]) {
        await mkdir(join(cwd, folder));
        await writeFile(join(cwd, folder, "x.ts"), SCENARIO);
        const { code, out, err } = await runRampart(["run", join(folder, "x.ts"), "--dry-run"], { cwd });
        assert.match(
          `${code}: ${out}${err}`,
          /^0: \{[\s\S]*"name": "sound"|^64: rampart: \S+x\.ts: its folder has a name that cannot be imported\. Rename it/m,
        );
      }
    });
  });

  test("modules that wait", async () => {
    const { code, err } = await runText(`await Promise.resolve();\n${SCENARIO}`, "x.ts", "--dry-run");
    assert.equal(code, 0, err);
  });
});

/** Runs a file: as a process where that is the executable; here on Deno and Node, which take long to start so often. */
async function refuse(files: Readonly<Record<string, string>>, file = "x.ts"): Promise<ProcessResult> {
  using folder = createFolder(files);
  return (await runtimeName) === "bun"
    ? await runRampart(["run", file], { cwd: folder.path })
    : await runInFolder(folder.path, ["run", file]);
}

describe("rampart run refuses", () => {
  const refused: readonly (readonly [name: string, text: string, message: RegExp])[] = [
    ["a file with a syntax error", `${SCENARIO}const = 5;\n`, /^rampart: x\.ts:3(:\d+)?: does not load: /],
    [
      "a file that throws",
      `throw new Error("no luck");\n${SCENARIO}`,
      /^rampart: x\.ts:1:\d+: does not load: no luck\. Correct the file/,
    ],
    [
      "options of a builder that takes none",
      'import { p50 } from "rampart";\np50("latency", { for: "3 s" });\n',
      /^rampart: x\.ts:2:\d+: p50\(of\): takes 1 argument \(got \{"for":"3 s"\}\)\. Remove what is more\.$/m,
    ],
    ["a file that throws nothing", `throw null;\n${SCENARIO}`, /x\.ts: does not load: null/],
    ["a file that throws no error", `throw "a text";\n${SCENARIO}`, /x\.ts: does not load: a text/],
    [
      "a file that imports what is not there",
      `import "./missing.ts";\n${SCENARIO}`,
      /x\.ts(:1(:\d+)?)?: does not load: .*missing\.ts/,
    ],
    ["a package that is not installed", `import "no-such-package";\n${SCENARIO}`, /does not load: .*no-such-package/],
    [
      "a builder that there is not",
      `import { findMax } from "rampart";\nfindMax();\n${SCENARIO}`,
      /x\.ts(:\d+)*: does not load: /,
    ],
    [
      "a function with its old name",
      'import { server } from "rampart";\nserver(1, { latency: "1 s" });\n',
      /x\.ts(:\d+)*: does not load: .*server.*\. Write mlperf\.server\(…\)\.$/m,
    ],
    [
      "a function with its old name, of all that there is",
      'import * as rampart from "rampart";\nrampart.requestRate(1, 2);\n',
      /x\.ts(:\d+)*: does not load: .*requestRate.*Write rate\(100\), or rateRamp\(10, 500\)/m,
    ],
    [
      "a builder with a typing error in its import",
      SCENARIO.replace("hold }", "hold, hlod }").replace("load:", "x: hlod, load:"),
      /x\.ts(:\d+)*: does not load: .*hlod.*\. Did you mean hold\?/,
    ],
    [
      "a builder that is not imported",
      SCENARIO.replace(", hold }", " }"),
      /x\.ts:\d+:\d+: does not load: hold is not defined\. Add it to the import: import \{ hold \} from "rampart"\./,
    ],
    [
      "a builder with a typing error",
      SCENARIO.replace("load: hold", "load: hlod"),
      /hlod is not defined\. Did you mean hold\?/,
    ],
    [
      "a name that has nothing to do with Rampart",
      `somethingElse();\n${SCENARIO}`,
      /somethingElse is not defined\. Correct the file\./,
    ],
    [
      "a file without a default export",
      SCENARIO.replace("export default", "export const x ="),
      /x\.ts: .*default export/,
    ],
    ["a file with nothing in it", "", /x\.ts: its default export is not a scenario/],
    ["a default export that is none", "export default { name: 'x' };\n", /x\.ts: its default export is not a scenario/],
    ["a default export of nothing", "export default null;\n", /x\.ts: its default export is not a scenario/],
  ];
  for (const [name, text, message] of refused) {
    test(name, async () => {
      const { code, out, err } = await refuse({ "x.ts": text });
      assert.equal(code, 64, out + err);
      assert.equal(out, "");
      assert.match(err, message);
      assert.doesNotMatch(err, /internal error|^\s+at /m);
    });
  }

  test("a file that is no code, and says which files are scenarios", async () => {
    using folder = createFolder({ "x.txt": "hello" });
    const { code, err } = await runRampart(["run", "x.txt"], { cwd: folder.path });
    assert.equal(code, 64, err);
    assert.match(err, /^rampart: x\.txt: is not a scenario\. A scenario is a \.ts or \.js file/);
  });

  test("a syntax error in an imported file, and names that file", async () => {
    const files = { "x.ts": `import "./other.ts";\n${SCENARIO}`, "other.ts": "enum A { B }\nlet = = 1;\n" };
    const { code, err } = await refuse(files);
    assert.equal(code, 64, err);
    assert.match(err, /^rampart: other\.ts:2(:\d+)?: does not load: /);
  });

  test("a file that waits for nothing, when its time is over, and says before that it still loads", async () => {
    using folder = createFolder({ "never.mjs": "await new Promise(() => {});\nexport default 1;\n" });
    const said: string[] = [];
    const limits = { noticeMs: 100, mostMs: 200 };
    const loading = loadScenario(join(folder.path, "never.mjs"), {}, (text) => said.push(text), limits);
    await assert.rejects(loading, /never\.mjs: is still loading after 0\.2 s/);
    assert.equal(said.length, 1);
    assert.match(said[0] ?? "", /never\.mjs: is still loading after 0\.1 s: it waits for .*, for 0\.2 s at most\n$/);
  });

  test("a missing file, a folder, and a device", async () => {
    for (const [path, problem] of [
      ["missing.ts", "there is no such file"],
      [".", "has no scenario"],
      ["/dev/null", "is not a regular file"],
    ] as const) {
      const { code, err } = await refuse({}, path);
      assert.equal(code, 64, err);
      assert.ok(err.startsWith(`rampart: ${path}: ${problem}`), err);
    }
  });
});
