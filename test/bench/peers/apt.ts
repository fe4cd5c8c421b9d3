import { execFile } from "node:child_process";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const execute = promisify(execFile);
const APT_TIMEOUT_MS = 120_000;
const keyring = "/usr/share/keyrings/debian-archive-keyring.gpg";

/** The code name of the machine's Debian, such as `bookworm`. Throws on any other system. */
export function debianCodename(): string {
  const facts = existsSync("/etc/os-release") ? readFileSync("/etc/os-release", "utf8") : "";
  const name = /^VERSION_CODENAME=(\w+)$/m.exec(facts)?.[1];
  if (!/^ID=debian$/m.test(facts) || name === undefined) throw new Error("packages can only be fetched on Debian");
  return name;
}

/**
 * Downloads Debian packages of one release (which need not be the machine's) and unpacks them into `folder`. Nothing is installed:
 * apt works in a folder of its own, with the mirror the machine already uses, so no root is needed and the system stays as it is.
 * @param options `withDependencies` fetches all that the packages need too, down to the C library
 */
export async function unpackDebs(
  codename: string,
  packages: string[],
  folder: string,
  { withDependencies = false } = {},
): Promise<void> {
  const work = `${folder}.apt`;
  const [state, archives, debs] = [join(work, "state"), join(work, "cache"), join(work, "debs")];
  for (const path of [folder, join(state, "lists", "partial"), join(archives, "archives", "partial"), debs]) {
    mkdirSync(path, { recursive: true });
  }
  try {
    const sources = join(work, "sources.list");
    writeFileSync(sources, `deb [signed-by=${keyring}] ${await findMirror()} ${codename} main\n`);
    const options = {
      "Dir::Etc::sourcelist": sources,
      "Dir::Etc::sourceparts": "/dev/null",
      "Dir::State": state,
      "Dir::State::status": "/dev/null",
      "Dir::Cache": archives,
      "Acquire::Languages": "none",
      "APT::Sandbox::User": "root",
    };
    const flags = ["-qq", ...Object.entries(options).flatMap(([name, value]) => ["-o", `${name}=${value}`])];
    await execute("apt-get", [...flags, "update"], { timeout: APT_TIMEOUT_MS });
    if (withDependencies) {
      // Nothing counts as installed there, so nothing is taken for granted.
      const install = ["install", "-y", "--no-install-recommends", "--download-only", ...packages];
      await execute("apt-get", [...flags, ...install], { timeout: APT_TIMEOUT_MS });
    } else await execute("apt-get", [...flags, "download", ...packages], { cwd: debs, timeout: APT_TIMEOUT_MS });
    const fetched = withDependencies ? join(archives, "archives") : debs;
    for (const name of readdirSync(fetched))
      if (name.endsWith(".deb")) await execute("dpkg-deb", ["-x", join(fetched, name), folder]);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The archive that apt on this machine takes the machine's own release from. */
async function findMirror(): Promise<string> {
  const codename = debianCodename();
  const { stdout } = await execute("apt-get", ["indextargets", "--format", "$(CODENAME) $(REPO_URI)"]);
  const mirror = stdout.split("\n").find((line) => line.startsWith(`${codename} `));
  if (mirror === undefined) throw new Error(`apt knows no archive of ${codename}: run apt-get update first`);
  return mirror.slice(codename.length + 1).trim();
}
