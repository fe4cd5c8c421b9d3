import { execFile } from "node:child_process";
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { findPython, installOnce, installPackages, type Python } from "./install-once.ts";

const run = promisify(execFile);

/** The Python packages of the installation. numpy 2 corrupts BYTES tensors in this server's Python backend. */
const packages = ["nvidia-pytriton==0.7.0", "numpy<2"];

/**
 * Installs a real Triton (CPU, Python backend) and gives its folder. A second call returns at once.
 * @throws with pip's output when no Python fits or the packages cannot be installed
 */
export function installTriton(): Promise<string> {
  return installOnce("triton", "python.json", async (draft, folder) => fill(draft, folder, await findPython()));
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

async function fill(draft: string, folder: string, python: Python): Promise<void> {
  await installPackages(python, packages, join(draft, "site"));
  const server = join(draft, "site/pytriton/tritonserver");
  const stub = join(server, "backends/python/triton_python_backend_stub");
  copyFileSync(join(server, "python_backend_stubs", python.version, "triton_python_backend_stub"), stub);
  chmodSync(stub, 0o755);
  chmodSync(join(server, "bin/tritonserver"), 0o755);
  // The models' processes take their packages from the first python3 on PATH and from nowhere else. Bytecode is kept apart: the models'
  // folder is part of the source tree.
  await run(python.command, ["-m", "venv", "--without-pip", join(draft, "venv")], { timeout: 240_000 });
  const bytecode = `sys.dont_write_bytecode = False; sys.pycache_prefix = ${JSON.stringify(join(folder, "bytecode"))}`;
  const paths = `${join(folder, "site")}\nimport sys; ${bytecode}\n`;
  writeFileSync(join(draft, `venv/lib/python${python.version}/site-packages/triton.pth`), paths);
  writeFileSync(join(draft, "python.json"), JSON.stringify(python));
}
