import { spawnSync } from "node:child_process";

const TIMEOUT_MS = 180_000;
const ATTEMPTS = 3;

/**
 * Installs a program where it is missing, as root. Throws when that fails.
 * @param packages Debian's packages with it. Default: the one of the same name
 */
export function installTool(name: string, packages: readonly string[] = [name]): void {
  for (let attempt = 1; spawnSync(name, ["--version"]).error !== undefined; attempt++) {
    const problem = install(packages);
    // Another test may be installing something else just now.
    if (problem !== undefined && attempt === ATTEMPTS) throw new Error(`${name} is missing: ${problem}`);
  }
}

function install(packages: readonly string[]): string | undefined {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", ...packages]]) {
    const patient = ["-qq", "-o", "DPkg::Lock::Timeout=120", ...args];
    const { status, stderr, error } = spawnSync("apt-get", patient, { env, encoding: "utf8", timeout: TIMEOUT_MS });
    if (status !== 0) return `apt-get ${args.join(" ")} failed: ${error ?? stderr}`;
  }
  return undefined;
}
