import { spawnSync } from "node:child_process";

/** Open MPI from Debian's packages. */

const ATTEMPTS = 3;
const APT_TIMEOUT_MS = 180_000;

/** Installs `mpirun` where it is missing, as root, and gives how it starts ranks on any machine, whatever its cores. Throws when that fails. */
export function ensureOpenMpi(): string[] {
  for (let attempt = 1; spawnSync("mpirun", ["--version"]).status !== 0; attempt++) {
    const problem = install();
    // Another test may be installing something else just now.
    if (problem !== undefined && attempt === ATTEMPTS) throw new Error(`mpirun is missing: ${problem}`);
  }
  return ["mpirun", "--allow-run-as-root", "--oversubscribe", "--bind-to", "none", "--tag-output"];
}

function install(): string | undefined {
  for (const args of [
    ["-qq", "update"],
    ["-qq", "install", "--yes", "--no-install-recommends", "openmpi-bin"],
  ]) {
    const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    const patient = ["-o", "DPkg::Lock::Timeout=120", ...args];
    const { status, stderr, error } = spawnSync("apt-get", patient, { env, encoding: "utf8", timeout: APT_TIMEOUT_MS });
    if (status !== 0) return `apt-get ${args.join(" ")} failed: ${error ?? stderr}`;
  }
  return undefined;
}
