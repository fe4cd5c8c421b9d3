import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Long enough to wait for what other tests install. */
const TIMEOUT_MS = 600_000;
const ATTEMPTS = 3;
/** One apt-get at a time: a second one would fail at the lock of the lists, for which it does not wait. */
const LOCK = join(tmpdir(), "rampart-test-apt.lock");

/**
 * Installs a program where it is missing, as root. Throws when that fails.
 * @param packages Debian's packages with it. Default: the one of the same name
 */
export function installTool(name: string, packages: readonly string[] = [name]): void {
  for (let attempt = 1; spawnSync(name, ["--version"]).error !== undefined; attempt++) {
    if (attempt > ATTEMPTS) throw new Error(`${name} is not in ${packages.join(", ")}`);
    const problem = install(packages);
    // Another program may be installing something else just now.
    if (problem !== undefined && attempt === ATTEMPTS) throw new Error(`${name} is missing: ${problem}`);
  }
}

function install(packages: readonly string[]): string | undefined {
  // Nothing is to be started by the packages themselves.
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive", RUNLEVEL: "1" };
  for (const args of [["update"], ["install", "--yes", "--no-install-recommends", ...packages]]) {
    const patient = [LOCK, "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=120", ...args];
    const { status, stderr, error } = spawnSync("flock", patient, { env, encoding: "utf8", timeout: TIMEOUT_MS });
    if (status !== 0) return `apt-get ${args.join(" ")} failed: ${error ?? stderr}`;
  }
  return undefined;
}
