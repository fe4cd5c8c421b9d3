// Runs on: bun, deno, node.
import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { beforeEach, describe, test } from "node:test";
import { UserError } from "../../../../src/plan/problem.ts";
import { findModules } from "../../../../src/run/fleet/bus/sent-modules.ts";
import { makeFolder } from "../../../make-folder.ts";

/** Which files of a scenario go to the agents. */

const base = realpathSync(makeFolder());
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(base, "one-"));
});

function write(files: Readonly<Record<string, string>>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}

function link(name: string, to: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  symlinkSync(join(folder, to), join(folder, name));
}

/** What is found of `a.ts`, below the folder. */
function found(): readonly string[] {
  const { paths, links } = findModules(join(folder, "a.ts"));
  const name = (path: string): string => relative(folder, path);
  return [...paths.map(name), ...links.map(({ path, target }) => `${name(path)} -> ${name(target)}`)].sort();
}

function problems(): readonly [name: unknown, message: string][] {
  try {
    found();
  } catch (error) {
    assert.ok(error instanceof UserError);
    return error.problems.map(({ value, message }) => [value, String(message)]);
  }
  return [];
}

const PACKAGE = { "package.json": "{}", "index.js": "" };

function packageAt(place: string, settings: object = {}, more: Readonly<Record<string, string>> = {}): void {
  const files = { ...PACKAGE, "package.json": JSON.stringify(settings), ...more };
  write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`${place}/${name}`, text])));
}

const filesAt = (place: string): string[] => [`${place}/index.js`, `${place}/package.json`];

describe("the files of a scenario", () => {
  test("are itself and the modules that it imports, however they are named", () => {
    write({
      "package.json": "{}",
      "a.ts": 'import { hold } from "rampart";\nimport "./shared.ts";\nawait import("./lazy");\nimport "./x.json";',
      "shared.ts": 'export { y } from "./deep/y.js";\nimport "node:fs";\nimport "fs/promises";\nimport "./b.cjs";',
      "deep/y.ts": "export const y = 1;",
      "lazy/index.js": "",
      "x.json": "{}",
      "b.cjs": 'require("./c.cjs")',
      "c.cjs": "",
      "other.ts": "",
    });
    const wanted = ["a.ts", "b.cjs", "c.cjs", "deep/y.ts", "lazy/index.js", "package.json", "shared.ts", "x.json"];
    assert.deepEqual(found(), wanted);
  });

  test("are those of its packages and of what they need, and of no others", () => {
    write({ "a.ts": 'import "@org/one/sub";\n' });
    packageAt("node_modules/@org/one", {
      dependencies: { two: "1" },
      peerDependencies: { peer: "1", absent: "1", choice: "1" },
      peerDependenciesMeta: { choice: { optional: true } },
      devDependencies: { dev: "1" },
    });
    packageAt("node_modules/@org/one/node_modules/two", { dependencies: { "@org/one": "1" } });
    for (const name of ["two", "peer", "choice", "dev", "other"]) packageAt(`node_modules/${name}`);
    const places = ["node_modules/@org/one", "node_modules/@org/one/node_modules/two", "node_modules/peer"];
    assert.deepEqual(found(), ["a.ts", ...places.flatMap(filesAt)].sort());
  });

  test("keep the links of package managers, from which runtimes look for packages", () => {
    write({ "a.ts": 'import "one";\n' });
    packageAt("store/one/node_modules/one", { dependencies: { two: "1" } });
    packageAt("store/two/node_modules/two");
    link("node_modules/one", "store/one/node_modules/one");
    link("store/one/node_modules/two", "store/two/node_modules/two");
    const links = [
      "node_modules/one -> store/one/node_modules/one",
      "store/one/node_modules/two -> store/two/node_modules/two",
    ];
    const places = ["store/one/node_modules/one", "store/two/node_modules/two"];
    assert.deepEqual(found(), ["a.ts", ...places.flatMap(filesAt), ...links].sort());
  });

  test("of a scenario that is a link are beside what it leads to", () => {
    write({ "real/b.ts": 'import "./c.ts";\n', "real/c.ts": "" });
    link("a.ts", "real/b.ts");
    assert.deepEqual(found(), ["a.ts -> real/b.ts", "real/b.ts", "real/c.ts"]);
  });
});

describe("what a scenario imports", () => {
  test("is refused by name where it is not installed, all at once; comments and types are not imported", () => {
    write({
      "a.ts": [
        '// import "comment";',
        "/**",
        ' * import "comment";',
        " */",
        'import type { T } from "types";',
        'import _ from "lodash";',
        'import z, { type Z } from "npm:zod@3";',
      ].join("\n"),
    });
    const message = "imports a package that is in no node_modules folder, so it is not sent to agents";
    assert.deepEqual(problems(), [
      ["lodash", message],
      ["npm:zod@3", message],
    ]);
  });

  test("is refused by name where it has a native addon, unless that is optional", () => {
    write({ "a.ts": 'import "needs";\nimport "may-use";\n' });
    packageAt("node_modules/needs", { dependencies: { addon: "1" } });
    packageAt("node_modules/may-use", { dependencies: { other: "1" }, optionalDependencies: { other: "1" } });
    packageAt("node_modules/addon", {}, { "build/a.node": "" });
    packageAt("node_modules/other", {}, { "b.node": "" });
    const message =
      "imports a package with a native addon (build/a.node), which is of this host, so it is not sent to agents";
    assert.deepEqual(problems(), [["needs", message]]);
  });
});
