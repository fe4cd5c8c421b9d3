import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pathToFileURL } from "node:url";
import * as api from "../../src/index.ts";
import { ROOT } from "../cli/rampart-process.ts";
import { writeTypes } from "../scenario/write-types.ts";
import { LIMIT } from "../time-limit.ts";
import { typeCheck } from "../type-check.ts";
import { readExamples, toModule } from "./doc-examples.ts";

/** The public API shows how each function is used, and the examples work. */

/** The functions of the API, also those in its objects: `json` of `input`. */
const FUNCTIONS = Object.entries(api).flatMap(([name, value]) =>
  typeof value === "function" ? [name] : Object.keys(value),
);
const examples = readExamples().filter(({ name }) => FUNCTIONS.includes(name));

describe("the examples of the public API", () => {
  test("every function has one", () => {
    const shown = new Set(examples.map(({ name }) => name));
    assert.ok(FUNCTIONS.length > 50);
    assert.deepEqual(
      FUNCTIONS.filter((name) => !shown.has(name)),
      [],
    );
  });

  test("compile and can be executed", LIMIT, async () => {
    const cache = join(ROOT, ".cache");
    mkdirSync(cache, { recursive: true });
    const folder = mkdtempSync(join(cache, "examples-"));
    const types = mkdtempSync(join(tmpdir(), "rampart-examples-"));
    try {
      const index = join(ROOT, "src", "index.ts");
      const paths = examples.map((example, at) => {
        const name = `${at}-${example.name}.ts`;
        writeFileSync(join(types, name), toModule(example, "rampart", Object.keys(api)));
        writeFileSync(join(folder, name), toModule(example, index, Object.keys(api)));
        return join(folder, name);
      });
      // Every function is imported, whether or not the example uses it.
      writeTypes(types, { noUnusedLocals: false });
      assert.equal(typeCheck(types), "");
      for (const path of paths) await import(pathToFileURL(path).href);
    } finally {
      for (const each of [folder, types]) rmSync(each, { recursive: true, force: true });
    }
  });
});
