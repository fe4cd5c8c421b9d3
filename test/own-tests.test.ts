import assert from "node:assert/strict";
import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { test } from "node:test";

/** Folders in which every file with code has tests of its own. */
const FOLDERS = ["measure", "load", "run", "tokenize"];

const root = join(import.meta.dirname, "..");
const read = (path: string): string => readFileSync(join(root, path), "utf8");

/** The sources that tests import, by their paths below the repository. */
function listImported(): Set<string> {
  const found = globSync("test/**/*.test.ts", { cwd: root }).flatMap((path) =>
    [...read(path).matchAll(/(?:from|import\()\s*"(\.[^"]+)"/g)].map(([, name = ""]) =>
      normalize(join(dirname(path), name)),
    ),
  );
  return new Set(found);
}

test(`each file of ${FOLDERS.map((name) => `src/${name}`).join(", ")} that has code has tests`, () => {
  const imported = listImported();
  const sources = FOLDERS.flatMap((name) => globSync(`src/${name}/**/*.ts`, { cwd: root })).sort();
  assert.ok(sources.length > 100, `only ${sources.length} files were found`);
  // Some are tested through what starts them; their tests have their names.
  const hasTests = (path: string): boolean =>
    imported.has(path) || existsSync(join(root, path.replace(/^src/, "test").replace(/\.ts$/, ".test.ts")));
  const hasCode = (path: string): boolean => /^export (async )?(function|const|class)\b/m.test(read(path));
  assert.deepEqual(
    sources.filter((path) => hasCode(path) && !hasTests(path)),
    [],
  );
});
