import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { checkInstallation, findLibrary } from "../../../src/service/triton-c-api/find-library.ts";
import type { TritonInProcessTargetPlan } from "../../../src/service/triton-c-api/target.ts";

let folder: string;
before(() => {
  folder = mkdtempSync(join(tmpdir(), "rampart-triton-"));
});
after(() => rmSync(folder, { recursive: true, force: true }));

describe("the library is found", () => {
  const cases = [
    { name: "in lib, as in Triton's container", library: "a/lib/libtritonserver.so", directory: "a" },
    { name: "in the folder itself", library: "b/libtritonserver.so", directory: "b" },
    {
      name: "with a hash beside a Python package",
      library: "c/site/some_package.libs/libtritonserver-717102f0.so",
      directory: "c/site/package/tritonserver",
    },
  ];
  for (const { name, library, directory } of cases) {
    test(name, () => {
      mkdirSync(join(folder, directory), { recursive: true });
      mkdirSync(dirname(join(folder, library)), { recursive: true });
      writeFileSync(join(folder, library), "");
      assert.equal(findLibrary(join(folder, directory)), join(folder, library));
    });
  }
});

test("a check reports everything that is missing at once, and what is there", () => {
  mkdirSync(join(folder, "models/one"), { recursive: true });
  mkdirSync(join(folder, "empty"));
  const target = { directory: join(folder, "empty"), modelRepository: join(folder, "models"), model: "two" };
  const problems = checkInstallation(target as TritonInProcessTargetPlan);
  assert.deepEqual(
    problems.map(({ code, path, value }) => [code, path, value]),
    [
      ["missing", "{setting:target.directory}", join(folder, "empty")],
      ["unknown-name", "{setting:target.model}", "two"],
    ],
  );
  assert.match(problems[0]?.message ?? "", /the folder contains nothing/);
  assert.equal(problems[1]?.hint, "It has one.");
});

test("a repository that only the library knows is not looked at", () => {
  const target = { directory: join(folder, "a"), modelRepository: "s3://bucket/models", model: "two" };
  assert.deepEqual(checkInstallation(target as TritonInProcessTargetPlan), []);
});
