import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { $, cd, echo } from "zx";
import { makeDeclarations } from "./declarations.ts";
import { smokeTest, smokeTestCommand } from "./smoke-test.ts";

/**
 * `npm run compile:deno [-- --check]`: builds dist/rampart-deno with `deno compile`. That needs Deno's base executable `denort`, which Deno
 * downloads or DENORT_BIN names. With --check, only checks types, the bundle and its module graph. --bundle FOLDER takes one that is made already.
 */

const root = join(import.meta.dirname, "..");
const binaries = join(root, "node_modules", ".bin");
const deno = join(binaries, "deno");
const outfile = join(root, "dist", "rampart-deno");
const { values } = parseArgs({ options: { check: { type: "boolean", default: false }, bundle: { type: "string" } } });

cd(root);
$.quiet = true;
const folder = mkdtempSync(join(tmpdir(), "rampart-deno-"));
const bundle = join(folder, "bundle");
try {
  await checkTypes(join(folder, "types"));
  echo("deno check passed");
  // One flat folder without node_modules, so that `deno compile` embeds 2 MB instead of all packages.
  if (values.bundle === undefined) await $`${join(binaries, "bun")} compile/bundle.ts --outdir ${bundle}`;
  else cpSync(values.bundle, bundle, { recursive: true });
  await smokeTestCommand([deno, "run", "-A", "--no-config", join(bundle, "main.js")]);
  echo("the bundle runs from an empty folder");
  if (values.check) await checkGraph();
  else await compile();
} catch (error) {
  echo(error instanceof Error ? error.message : String(error));
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

/** Checks the scenarios against the types of the package, as for its users on Deno: `tsc` has checked the sources in a tenth of Deno's time. */
async function checkTypes(path: string): Promise<void> {
  cpSync(join(root, "scenarios"), join(path, "scenarios"), { recursive: true });
  writeFileSync(join(path, "rampart.d.ts"), makeDeclarations());
  const settings = JSON.parse(readFileSync(join(root, "deno.json"), "utf8")) as object;
  writeFileSync(join(path, "deno.json"), JSON.stringify({ ...settings, imports: { rampart: "./rampart.d.ts" } }));
  symlinkSync(join(root, "node_modules"), join(path, "node_modules"));
  await $({ cwd: path })`${deno} check scenarios`;
}

async function embed(path: string, env: NodeJS.ProcessEnv): Promise<void> {
  const flags = ["-A", "--no-config", "--no-check", "--include", join(bundle, "worker.js"), "--output", path];
  await $({ env, cwd: folder })`${deno} compile ${flags} ${join(bundle, "main.js")}`;
}

/** With the full Deno as base, `deno compile` resolves and embeds the graph; the result is not usable. */
async function checkGraph(): Promise<void> {
  const base = process.env["DENORT_BIN"] ?? (await findDeno());
  const path = join(folder, "graph");
  await embed(path, { ...process.env, DENORT_BIN: base });
  if (!existsSync(path)) throw new Error("deno compile wrote nothing");
  echo("deno compile embeds the module graph");
}

async function findDeno(): Promise<string> {
  const { stdout } = await $`${deno} eval ${"console.log(Deno.execPath())"}`;
  return stdout.trim();
}

async function compile(): Promise<void> {
  mkdirSync(join(root, "dist"), { recursive: true });
  try {
    await embed(outfile, process.env);
  } catch (error) {
    const hint =
      "deno compile needs the base executable `denort`: let Deno download it, or set DENORT_BIN to its path.";
    throw new Error(`${error instanceof Error ? error.message : String(error)}\n${hint}`);
  }
  await smokeTest(outfile);
  echo("compiled dist/rampart-deno; smoke test passed");
}
