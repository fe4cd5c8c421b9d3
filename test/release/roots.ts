import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { installOnce } from "../servers/install-once.ts";

/** Empty root directories with an executable and nothing but the libraries that it names. The kernel's /proc is there: Bun reads it. */

/** The newest musl, and a wheel for Alpine that carries a libstdc++. The distribution's own musl lacks relative relocations. */
const MUSL_SUITE = "trixie";
const STDLIB_WHEEL = "contourpy==1.3.1";

/** A root directory. */
export interface Root {
  readonly folder: string;
  /** Starts the executable inside. */
  start(args: readonly string[]): ChildProcess;
  remove(): void;
}

/** Makes a root directory for an executable of Linux on x64. @param loader file name of its dynamic loader */
export async function makeRoot(executable: string, loader: string): Promise<Root> {
  const folder = mkdtempSync(join(tmpdir(), "rampart-root-"));
  for (const name of ["proc", "tmp"]) mkdirSync(join(folder, name));
  cpSync(executable, join(folder, "rampart"));
  if (loader.startsWith("ld-musl")) cpSync(await installMusl(loader), folder, { recursive: true });
  else copyLibraries(executable, folder);
  return {
    folder,
    start: (args) => startInside(folder, args),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A user who is root in a namespace of its own may mount and change the root there. Without TMPDIR, HOME and the rest of the environment. */
function startInside(folder: string, args: readonly string[]): ChildProcess {
  const script = 'mount --rbind /proc "$0/proc" && exec chroot "$0" /rampart "$@"';
  return spawn("unshare", ["-rm", "sh", "-c", script, folder, ...args], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

function copyLibraries(executable: string, folder: string): void {
  const named = execFileSync("ldd", [executable], { encoding: "utf8" }).match(/\/\S+(?= \()/g) ?? [];
  for (const path of named) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(realpathSync(path), join(folder, path));
  }
}

/** Installs musl and its libstdc++ once. Returns the folder with `lib` and `usr/lib`. */
function installMusl(loader: string): Promise<string> {
  return installOnce(`musl-${MUSL_SUITE}`, join("usr", "lib", "libstdc++.so.6"), async (folder) => {
    const work = join(folder, "packages");
    mkdirSync(work);
    downloadMusl(work);
    downloadStdlib(work);
    mkdirSync(join(folder, "lib"));
    mkdirSync(join(folder, "usr", "lib"), { recursive: true });
    cpSync(join(work, "usr", "lib", "x86_64-linux-musl", "libc.so"), join(folder, "lib", loader));
    const libraries = join(work, "contourpy.libs");
    for (const name of readdirSync(libraries)) {
      const installed = name.startsWith("libstdc++") ? "libstdc++.so.6" : name;
      cpSync(join(libraries, name), join(folder, "usr", "lib", installed));
    }
    rmSync(work, { recursive: true });
  });
}

/** apt with a list of sources and folders of its own: the system's packages stay as they are. */
function downloadMusl(work: string): void {
  const keys = "/usr/share/keyrings/debian-archive-keyring.gpg";
  writeFileSync(join(work, "sources.list"), `deb [arch=amd64 signed-by=${keys}] ${findDebian()} ${MUSL_SUITE} main\n`);
  for (const name of ["lists", "cache"]) mkdirSync(join(work, name, "partial"), { recursive: true });
  mkdirSync(join(work, "cache", "archives", "partial"), { recursive: true });
  const settings = [
    `Dir::Etc::sourcelist=${join(work, "sources.list")}`,
    "Dir::Etc::sourceparts=-",
    `Dir::State::lists=${join(work, "lists")}`,
    `Dir::Cache=${join(work, "cache")}`,
    "APT::Sandbox::User=root",
    "Acquire::Languages=none",
  ].flatMap((setting) => ["-o", setting]);
  execFileSync("apt-get", ["-qq", ...settings, "update"], { cwd: work, stdio: "pipe" });
  execFileSync("apt-get", ["-qq", ...settings, "download", "musl"], { cwd: work, stdio: "pipe" });
  const file = readdirSync(work).find((name) => name.startsWith("musl_"));
  if (file === undefined) throw new Error("apt-get downloaded no musl");
  execFileSync("dpkg", ["-x", file, work], { cwd: work });
}

/** Returns the address of Debian's packages that this system uses. */
function findDebian(): string {
  const args = ["indextargets", "--format", "$(REPO_URI) $(LABEL)", "Created-By: Packages"];
  const lines = execFileSync("apt-get", args, { encoding: "utf8" }).split("\n");
  const address = lines.find((line) => line.endsWith(" Debian"))?.split(" ")[0];
  if (address === undefined) throw new Error("this system has no Debian packages");
  return address;
}

function downloadStdlib(work: string): void {
  const platform = ["--platform", "musllinux_1_2_x86_64", "--python-version", "3.11", "--only-binary=:all:"];
  const args = ["-m", "pip", "download", "-q", "--no-deps", ...platform, STDLIB_WHEEL];
  execFileSync("python3", args, { cwd: work, stdio: "pipe" });
  const wheel = readdirSync(work).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) throw new Error(`pip downloaded no ${STDLIB_WHEEL}`);
  execFileSync("python3", ["-m", "zipfile", "-e", wheel, "."], { cwd: work });
}
