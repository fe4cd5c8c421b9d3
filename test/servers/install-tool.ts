import { spawnSync } from "node:child_process";

const TIMEOUT_MS = 120_000;

/** Installs a program where it is missing: from Debian's package of the same name, as root. Throws when that fails. */
export function installTool(name: string): void {
  if (spawnSync(name, ["--version"]).error === undefined) return;
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["-qq", "-o", "DPkg::Lock::Timeout=60", "install", "--yes", "--no-install-recommends", name];
  for (const args of [["-qq", "update"], install]) {
    const { status, stderr, error } = spawnSync("apt-get", args, { env, encoding: "utf8", timeout: TIMEOUT_MS });
    if (status !== 0) throw new Error(`${name} is missing and apt-get ${args.join(" ")} failed: ${error ?? stderr}`);
  }
}
