import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { $, echo } from "zx";
import { build, checksumLine, install, recordOrders } from "./build.ts";
import { checkCodeSignature, removeCodeSignature } from "./release/code-signature.ts";
import { readFormat } from "./release/file-format.ts";
import { installRuntime, type TargetRuntime } from "./release/runtimes.ts";
import { makeSbom } from "./release/sbom.ts";
import { executableName, suffixOf, TARGETS, type Target } from "./release/targets.ts";

/**
 * `npm run release [-- --only NAME,…]`: writes dist/release with an executable for each platform, the npm package, the software
 * bill of materials, the man page, and checksums. It does not run them: `npm test -- --release` does, as far as they can run here.
 */

const root = join(import.meta.dirname, "..");
const folder = join(root, "dist", "release");
const work = join(root, "dist", ".release");

const { values } = parseArgs({ options: { only: { type: "string" } } });
const names = values.only?.split(",");
const unknown = names?.filter((name) => TARGETS.every((target) => target.name !== name)) ?? [];
if (unknown.length > 0)
  throw new Error(`there is no target ${unknown.join(", ")}; they are ${TARGETS.map(({ name }) => name).join(", ")}`);
rmSync(folder, { recursive: true, force: true });
rmSync(work, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
mkdirSync(work, { recursive: true });
try {
  await release(TARGETS.filter(({ name }) => names?.includes(name) ?? true));
} finally {
  rmSync(work, { recursive: true, force: true });
}

async function release(targets: readonly Target[]): Promise<void> {
  const sources = join(work, "sources");
  const plain = join(work, "plain");
  await build(plain);
  // The order of first calls is that of the program, whatever the platform. It is recorded here.
  const orders = await recordOrders(plain, work);
  const files: string[] = [];
  let version = "";
  for (const target of targets) {
    const runtime = installRuntime(target);
    version = runtime.version;
    const flags = [...orders.map((order) => `--order=${order}`), `--sources=${sources}`];
    files.push(await buildFor(target, runtime, flags));
    echo(`built ${executableName(target)}`);
  }
  const sbom = makeSbom(root, readFileSync(sources, "utf8").split("\n"), { version });
  files.push(write("rampart.cdx.json", `${JSON.stringify(sbom, null, 2)}\n`));
  files.push(await pack());
  files.push(write("rampart.1", (await $({ quiet: true })`${plain} man`).stdout));
  writeFileSync(join(folder, "SHA256SUMS"), files.map(checksumLine).join(""));
  echo(`wrote dist/release: ${files.length} files and SHA256SUMS`);
}

async function buildFor(target: Target, runtime: TargetRuntime, flags: readonly string[]): Promise<string> {
  const built = join(work, `built${suffixOf(target)}`);
  const path = join(folder, executableName(target));
  await build(built, [`--target=${target.bun}`, `--runtime=${runtime.path}`, ...flags]);
  install(built, path);
  const { format, machine, loader } = readFormat(readFileSync(path));
  if (format !== target.format || machine !== target.machine || loader !== target.loader)
    throw new Error(`${path} is a ${format} file for ${machine} with the loader ${loader}`);
  if (format === "Mach-O") checkSignature(path, machine);
  return path;
}

/** Bun signs for Apple silicon. For Intel it leaves the signature of its own program, which no longer fits: none is needed there. */
function checkSignature(path: string, machine: Target["machine"]): void {
  const file = readFileSync(path);
  const state = checkCodeSignature(file);
  if (state === "valid") return;
  if (machine === "arm64") throw new Error(`${path} has no valid signature: it is ${state}`);
  removeCodeSignature(file);
  writeFileSync(path, file);
}

/** The npm package. */
async function pack(): Promise<string> {
  const { stdout } = await $({ cwd: root, quiet: true })`${process.execPath} compile/pack.ts`;
  const name = /packed dist\/(\S+)/.exec(stdout)?.[1] ?? "";
  const path = join(folder, name);
  copyFileSync(join(root, "dist", name), path);
  return path;
}

function write(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}
