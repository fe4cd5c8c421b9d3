import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Packages of Debian for any processor, without installing them: the system's packages stay as they are. */

/** The system's own release is too old: its musl lacks relative relocations, and its qemu needs minutes for what takes seconds. */
const SUITE = "trixie";

/** Names of processors, as in {@link "../../compile/release/targets.ts"}, in Debian's words. */
const ARCHITECTURES = { x64: "amd64", arm64: "arm64" } as const;

/**
 * Unpacks packages, without what they depend on, into a folder with `usr`.
 * @param machine the processor that they are for
 * @throws with the output of apt-get
 */
export function unpackDebian(packages: readonly string[], machine: "x64" | "arm64", folder: string): void {
  const work = join(folder, "packages");
  const architecture = ARCHITECTURES[machine];
  const keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
  for (const name of ["lists", "cache/archives"]) mkdirSync(join(work, name, "partial"), { recursive: true });
  const source = `deb [arch=${architecture} signed-by=${keys}] ${findDebian()} ${SUITE} main\n`;
  writeFileSync(join(work, "sources.list"), source);
  const settings = [
    `Dir::Etc::sourcelist=${join(work, "sources.list")}`,
    "Dir::Etc::sourceparts=-",
    `Dir::State::lists=${join(work, "lists")}`,
    `Dir::Cache=${join(work, "cache")}`,
    `APT::Architecture=${architecture}`,
    "APT::Sandbox::User=root",
    "Acquire::Languages=none",
  ].flatMap((setting) => ["-o", setting]);
  execFileSync("apt-get", ["-qq", ...settings, "update"], { cwd: work, stdio: "pipe" });
  execFileSync("apt-get", ["-qq", ...settings, "download", ...packages], { cwd: work, stdio: "pipe" });
  const files = readdirSync(work).filter((name) => name.endsWith(".deb"));
  if (files.length !== packages.length) throw new Error(`apt-get downloaded ${files.join(", ")}, not all packages`);
  for (const file of files) execFileSync("dpkg", ["-x", file, folder], { cwd: work });
  rmSync(work, { recursive: true });
}

/** Returns the address of Debian's packages that this system uses. */
function findDebian(): string {
  const args = ["indextargets", "--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"];
  const lines = execFileSync("apt-get", args, { encoding: "utf8" }).split("\n");
  const address = lines.find((line) => line.endsWith(" Debian"))?.split(" ")[0];
  if (address === undefined) throw new Error("this system has no Debian packages");
  return address;
}
