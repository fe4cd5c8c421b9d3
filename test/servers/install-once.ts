import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The folder for what tests install, below the repository's root and ignored by git. */
export const cacheFolder = fileURLToPath(new URL("../../.cache/", import.meta.url));

const pythons = ["python3", "python3.11", "python3.12", "python3.10", "python3.13"];
const pipTimeoutMs = 900_000;

/** The facts of a Python that Triton's backend can embed. */
export interface Python {
  command: string;
  version: string;
  home: string;
  libraryFolder: string;
}

const describePython = `
import json, pathlib, pip, sys, sysconfig
folder = sysconfig.get_config_var("LIBDIR")
version = ".".join(map(str, sys.version_info[:2]))
if not list(pathlib.Path(folder).glob(f"libpython{version}.so*")) or not (3, 8) <= sys.version_info[:2] <= (3, 13):
    sys.exit("no shared library, or no backend for this version")
print(json.dumps({"version": version, "home": sys.base_prefix, "libraryFolder": folder}))
`;

/** What this process is installing, by name. */
const installing = new Map<string, Promise<string>>();

/**
 * Fills a folder of the cache once and gives its path; `doneFile` in it says that it is complete. Two processes may call it at the same
 * time, because each fills a draft of its own and the first to finish renames it into place.
 * @throws what `fill` throws
 */
export function installOnce(
  name: string,
  doneFile: string,
  fill: (draft: string, folder: string) => Promise<void>,
): Promise<string> {
  const installed = installing.get(name) ?? install(name, doneFile, fill).finally(() => installing.delete(name));
  installing.set(name, installed);
  return installed;
}

async function install(
  name: string,
  doneFile: string,
  fill: (draft: string, folder: string) => Promise<void>,
): Promise<string> {
  const folder = join(cacheFolder, name);
  if (existsSync(join(folder, doneFile))) return folder;
  mkdirSync(cacheFolder, { recursive: true });
  removeAbandoned(name);
  const draft = join(cacheFolder, `${name}.installing-${process.pid}`);
  try {
    rmSync(draft, { recursive: true, force: true });
    mkdirSync(draft);
    await fill(draft, folder);
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(join(folder, doneFile))) throw error; // Another process was faster.
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
}

/** Gives a Python with pip that Triton can embed. Throws when there is none. */
export async function findPython(): Promise<Python> {
  const reasons: string[] = [];
  for (const command of pythons) {
    try {
      const { stdout } = await run(command, ["-c", describePython], { timeout: 120_000 });
      return { ...(JSON.parse(stdout) as Omit<Python, "command">), command };
    } catch (error) {
      reasons.push(`${command}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`Triton needs a Python 3.8 to 3.13 with pip and a shared libpython:\n${reasons.join("\n")}`);
}

/** Installs exactly these packages, without what they depend on, into a folder for `PYTHONPATH`. Throws with pip's output. */
export async function installPackages(python: Python, packages: readonly string[], target: string): Promise<void> {
  const quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--root-user-action=ignore"];
  const exact = ["--no-deps", "--only-binary=:all:", "--no-compile", "--target", target];
  await run(python.command, ["-m", "pip", "install", ...quiet, ...exact, ...packages], { timeout: pipTimeoutMs });
}

/** Removes what processes left behind that were killed while they installed. */
function removeAbandoned(name: string): void {
  const start = `${name}.installing-`;
  for (const entry of readdirSync(cacheFolder)) {
    const pid = entry.startsWith(start) ? Number(entry.slice(start.length)) : 0;
    if (pid > 0 && !isAlive(pid)) rmSync(join(cacheFolder, entry), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
