import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { before, describe, test } from "node:test";
import { makeDeclarations } from "../../compile/declarations.ts";
import { makeFolder } from "../make-folder.ts";
import { typeCheck } from "../type-check.ts";

/** The package's types in a strict project that has nothing else: neither Node's types nor a browser's, nor other packages. */

const GOOD = `import { defineScenario, errorRate, hold, p99, triton } from "rampart";
export default defineScenario({
  name: "typed",
  target: triton("localhost:8001", { protocol: "grpc", model: "simple" }),
  load: hold(2, { requests: 50 }),
  assert: [errorRate().is(0), p99("latency").below("25 ms")],
});
`;
const BAD = GOOD.replace('"latency"', '"letancy"').replace('"25 ms"', "25");

const folder = makeFolder();
before(() => {
  const home = join(folder, "node_modules", "rampart");
  mkdirSync(home, { recursive: true });
  writeFileSync(join(home, "index.d.ts"), makeDeclarations());
  const exports = { ".": { types: "./index.d.ts", default: "./index.js" } };
  writeFileSync(join(home, "package.json"), JSON.stringify({ name: "rampart", type: "module", exports }));
  writeFileSync(join(folder, "package.json"), '{"type": "module"}');
  writeFileSync(join(folder, "good.ts"), GOOD);
  writeFileSync(join(folder, "bad.ts"), BAD);
});

function check(file: string, moduleResolution: string): string {
  const compilerOptions = {
    target: "es2024",
    lib: ["es2024"],
    types: [],
    module: moduleResolution === "nodenext" ? "nodenext" : "esnext",
    moduleResolution,
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
  };
  const config = join(folder, `tsconfig.${moduleResolution}.${file}.json`);
  writeFileSync(config, JSON.stringify({ compilerOptions, files: [file] }));
  return typeCheck(config);
}

for (const resolution of ["nodenext", "bundler"])
  describe(`with moduleResolution ${resolution}`, () => {
    test("a scenario compiles, and so do the declarations themselves", () => {
      assert.equal(check("good.ts", resolution), "");
    });

    test("a wrong metric and a bare number are errors", () => {
      assert.match(check("bad.ts", resolution), /letancy/);
    });
  });
