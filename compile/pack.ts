import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { $, cd, echo } from "zx";
import { TOPICS } from "../src/cli/help/topics.ts";
import { SCHEMAS } from "../src/cli/schema.ts";
import { makeDeclarations } from "./declarations.ts";

/**
 * `npm run pack:npm`: packs dist/rampart-VERSION.tgz with compiled ESM, because Node does not strip types in packages, one file of
 * declarations, which needs no other package, and the published JSON Schemas.
 */

const root = join(import.meta.dirname, "..");
const work = join(root, "dist", "package");

cd(root);
$.quiet = true;
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
writeFileSync(
  join(work, "tsconfig.json"),
  JSON.stringify({
    extends: "../../tsconfig.json",
    compilerOptions: {
      noEmit: false,
      outDir: "./lib",
      rootDir: "../../src",
      rewriteRelativeImportExtensions: true,
      typeRoots: ["../../node_modules/@types"],
    },
    include: ["../../src"],
  }),
);
await $`${join(root, "node_modules", ".bin", "tsc")} -p ${join(work, "tsconfig.json")}`;
rmSync(join(work, "tsconfig.json"));
// `rampart types` writes it too.
writeFileSync(join(work, "lib", "index.d.ts"), makeDeclarations());
mkdirSync(join(work, "schemas"));
for (const name of Object.keys(SCHEMAS)) {
  const { stdout: schema } = await $`${process.execPath} ${join(root, "src", "main.ts")} schema ${name}`;
  writeFileSync(join(work, "schemas", `${name}.schema.json`), schema);
}
const { name, version, description, dependencies, optionalDependencies, engines } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
) as Record<string, unknown>;
const manifest = {
  name,
  version,
  description,
  type: "module",
  engines,
  bin: { rampart: "./lib/main.js" },
  exports: {
    ".": { types: "./lib/index.d.ts", default: "./lib/index.js" },
    "./schemas/*.json": "./schemas/*.json",
  },
  // The guides that `rampart help` prints stand where they do in the repository.
  files: ["lib", "schemas", ...TOPICS.map(({ guide }) => guide)],
  dependencies,
  optionalDependencies,
};
writeFileSync(join(work, "package.json"), `${JSON.stringify(manifest, null, 2)}\n`);
for (const { guide } of TOPICS) cpSync(join(root, guide), join(work, guide));
const { stdout } = await $({ cwd: work })`npm pack --loglevel=error`;
const tarball = stdout.trim().split("\n").at(-1) as string;
renameSync(join(work, tarball), join(root, "dist", tarball));
rmSync(work, { recursive: true, force: true });
echo(`packed dist/${tarball}`);
