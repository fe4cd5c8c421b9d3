import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);

/** The folder for what tests install, below the repository's root and ignored by git. */
export const cacheFolder = fileURLToPath(new URL("../../.cache/", import.meta.url));

/** The Python packages of the installation. numpy 2 corrupts BYTES tensors in this server's Python backend. */
const packages = ["nvidia-pytriton==0.7.0", "numpy<2"];
const pythons = ["python3", "python3.11", "python3.12", "python3.10", "python3.13"];
const pipTimeoutMs = 300_000;

/** The facts of a Python that the server's backend can embed. */
interface Python {
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

/**
 * Installs a real Triton (CPU, Python backend) and gives its folder. A second call returns at once; two processes may call it at the
 * same time, because each fills a folder of its own and the first to finish renames it into place.
 * @throws with pip's output when no Python fits or the packages cannot be installed
 */
export async function installTriton(): Promise<string> {
  const folder = join(cacheFolder, "triton");
  if (existsSync(join(folder, "python.json"))) return folder;
  mkdirSync(cacheFolder, { recursive: true });
  removeAbandoned();
  const python = await findPython();
  const draft = join(cacheFolder, `triton.installing-${process.pid}`);
  try {
    await fill(draft, folder, python);
    renameSync(draft, folder);
  } catch (error) {
    if (!existsSync(join(folder, "python.json"))) throw error; // Another process was faster.
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return folder;
}

/** The environment and the paths to start the server in `folder` with. */
export function readInstallation(folder: string): {
  executable: string;
  backends: string;
  caches: string;
  env: Record<string, string>;
} {
  const python = JSON.parse(readFileSync(join(folder, "python.json"), "utf8")) as Python;
  const server = join(folder, "site/pytriton/tritonserver");
  const env: Record<string, string> = {
    PATH: `${join(folder, "venv/bin")}:${process.env.PATH ?? "/usr/bin:/bin"}`,
    PYTHONHOME: python.home,
    LD_LIBRARY_PATH: `${python.libraryFolder}:${join(folder, "site/nvidia_pytriton.libs")}`,
  };
  return {
    executable: join(server, "bin/tritonserver"),
    backends: join(server, "backends"),
    caches: join(server, "caches"),
    env,
  };
}

async function findPython(): Promise<Python> {
  const reasons: string[] = [];
  for (const command of pythons) {
    try {
      const { stdout } = await run(command, ["-c", describePython], { timeout: 30_000 });
      return { ...(JSON.parse(stdout) as Omit<Python, "command">), command };
    } catch (error) {
      reasons.push(`${command}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  throw new Error(`Triton needs a Python 3.8 to 3.13 with pip and a shared libpython:\n${reasons.join("\n")}`);
}

async function fill(draft: string, folder: string, python: Python): Promise<void> {
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft);
  const quiet = ["--quiet", "--no-input", "--disable-pip-version-check", "--root-user-action=ignore"];
  const exact = ["--no-deps", "--only-binary=:all:", "--no-compile", "--target", join(draft, "site")];
  await run(python.command, ["-m", "pip", "install", ...quiet, ...exact, ...packages], { timeout: pipTimeoutMs });
  const server = join(draft, "site/pytriton/tritonserver");
  const stub = join(server, "backends/python/triton_python_backend_stub");
  copyFileSync(join(server, "python_backend_stubs", python.version, "triton_python_backend_stub"), stub);
  chmodSync(stub, 0o755);
  chmodSync(join(server, "bin/tritonserver"), 0o755);
  // The models' processes take their packages from the first python3 on PATH and from nowhere else. No bytecode: the models' folder
  // is part of the source tree.
  await run(python.command, ["-m", "venv", "--without-pip", join(draft, "venv")], { timeout: 60_000 });
  const paths = `${join(folder, "site")}\nimport sys; sys.dont_write_bytecode = True\n`;
  writeFileSync(join(draft, `venv/lib/python${python.version}/site-packages/triton.pth`), paths);
  writeFileSync(join(draft, "python.json"), JSON.stringify(python));
}

/** Removes what processes left behind that were killed while they installed. */
function removeAbandoned(): void {
  for (const name of readdirSync(cacheFolder)) {
    const pid = Number(name.match(/^triton\.installing-(\d+)$/)?.[1]);
    if (pid > 0 && !isAlive(pid)) rmSync(join(cacheFolder, name), { recursive: true, force: true });
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
