import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import type { Target } from "../../compile/release/targets.ts";
import { cacheFolder, installOnce } from "../servers/install-once.ts";
import { unpackDebian } from "./debian.ts";

/**
 * Empty root directories with an executable and nothing but the libraries that it names. The kernel's /proc is there: Bun reads it. For
 * another processor qemu is there too, and for Windows there is Wine, which has the libraries of Windows.
 */

/** A wheel for Alpine that carries a libstdc++. */
const STDLIB_WHEEL = "contourpy==1.3.1";

/** A root directory. */
export interface Root {
  readonly folder: string;
  /** Starts the executable inside. */
  start(args: readonly string[]): ChildProcess;
  remove(): void;
}

/** What is in a root directory besides the executable. */
interface Contents {
  /** Fills the directory. */
  fill(folder: string, executable: string): Promise<void>;
  /** What runs the executable, as a path inside. Default: the kernel. */
  readonly runner?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the runner starts processes of its own, which must end with the executable. Then no two executables see each other. */
  readonly hasServants?: boolean;
}

/** Whether a target's executable can run here: on Linux for x64, everything but macOS can. */
export function isRunnable({ format }: Target): boolean {
  return process.platform === "linux" && process.arch === "x64" && format !== "Mach-O";
}

/** Makes a root directory for an executable that {@link isRunnable}. */
export async function makeRoot(executable: string, target: Target): Promise<Root> {
  const contents = contentsFor(target);
  mkdirSync(cacheFolder, { recursive: true });
  const folder = mkdtempSync(join(cacheFolder, "root-"));
  await contents.fill(folder, executable);
  for (const name of ["proc", "tmp"]) mkdirSync(join(folder, name), { recursive: true });
  const inside = `/${basename(executable)}`;
  cpSync(executable, join(folder, inside));
  return {
    folder,
    start: (args) => startInside(folder, contents, [inside, ...args]),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

function contentsFor({ format, machine, loader = "" }: Target): Contents {
  if (format === "PE") return WINE;
  const isMusl = loader.startsWith("ld-musl");
  const fill = async (folder: string, executable: string): Promise<void> => {
    if (isMusl) link(await installMusl(machine, loader), folder);
    else if (machine === "arm64") link(await installGlibc(), folder);
    else copyLibraries(executable, folder);
    if (machine === "arm64") cpSync(await installQemu(), join(folder, "qemu"));
  };
  return machine === "arm64" ? { fill, runner: ["/qemu"] } : { fill };
}

/** A user who is root in a namespace of its own may mount and change the root there. Without TMPDIR and the rest of the environment. */
function startInside(
  folder: string,
  { runner = [], env = {}, hasServants }: Contents,
  command: string[],
): ChildProcess {
  // The kernel ends every process of a namespace of processes with the first.
  const [flags, mount] = hasServants
    ? ["-rmpf", 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev"']
    : ["-rm", 'mount --rbind /proc "$0/proc"'];
  const script = `${mount} && exec chroot "$0" "$@"`;
  const kill = hasServants ? ["--kill-child"] : [];
  return spawn("unshare", [flags, ...kill, "sh", "-c", script, folder, ...runner, ...command], {
    env: { PATH: process.env["PATH"] ?? "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

/** Copies the libraries that an executable names into a root directory. */
export function copyLibraries(executable: string, folder: string): void {
  const named = execFileSync("ldd", [executable], { encoding: "utf8" }).match(/\/\S+(?= \()/g) ?? [];
  for (const path of named) {
    mkdirSync(join(folder, dirname(path)), { recursive: true });
    cpSync(realpathSync(path), join(folder, path));
  }
}

/** Puts the files of a folder of the cache into a root directory, without copying them. */
function link(from: string, folder: string): void {
  execFileSync("cp", ["-al", `${from}/.`, folder]);
}

/** Installs musl and its libstdc++ once. Returns the folder with `lib` and `usr/lib`. */
function installMusl(machine: Target["machine"], loader: string): Promise<string> {
  return installOnce(`release-musl-${machine}`, join("usr", "lib", "libstdc++.so.6"), async (folder) => {
    const work = join(folder, "work");
    mkdirSync(work);
    unpackDebian(["musl"], machine, work);
    const platform = loader.replace(/^ld-musl-(.*)\.so\.1$/, "$1");
    downloadStdlib(work, platform);
    mkdirSync(join(folder, "lib"));
    mkdirSync(join(folder, "usr", "lib"), { recursive: true });
    cpSync(join(work, "usr", "lib", `${platform}-linux-musl`, "libc.so"), join(folder, "lib", loader));
    const libraries = join(work, "contourpy.libs");
    for (const name of readdirSync(libraries)) {
      const installed = name.startsWith("libstdc++") ? "libstdc++.so.6" : name;
      cpSync(join(libraries, name), join(folder, "usr", "lib", installed));
    }
    rmSync(work, { recursive: true });
  });
}

function downloadStdlib(work: string, platform: string): void {
  const wanted = ["--platform", `musllinux_1_2_${platform}`, "--python-version", "3.11", "--only-binary=:all:"];
  const args = ["-m", "pip", "download", "-q", "--no-deps", ...wanted, STDLIB_WHEEL];
  execFileSync("python3", args, { cwd: work, stdio: "pipe" });
  const wheel = readdirSync(work).find((name) => name.endsWith(".whl"));
  if (wheel === undefined) throw new Error(`pip downloaded no ${STDLIB_WHEEL}`);
  execFileSync("python3", ["-m", "zipfile", "-e", wheel, "."], { cwd: work });
}

/** Installs the C library of Linux on arm64 once. Returns the folder with `lib`. */
function installGlibc(): Promise<string> {
  return installOnce("release-glibc-arm64", join("lib", "ld-linux-aarch64.so.1"), async (folder) => {
    const work = join(folder, "work");
    mkdirSync(work);
    unpackDebian(["libc6"], "arm64", work);
    const libraries = join(work, "usr", "lib", "aarch64-linux-gnu");
    mkdirSync(join(folder, "lib"));
    for (const name of readdirSync(libraries))
      if (/\.so\.\d+$/.test(name)) cpSync(join(libraries, name), join(folder, "lib", name));
    rmSync(work, { recursive: true });
  });
}

/** Installs the emulator of arm64 for single programs once. Returns its path. It needs no library. */
async function installQemu(): Promise<string> {
  const folder = await installOnce("release-qemu", "qemu-aarch64", async (draft) => {
    const work = join(draft, "work");
    mkdirSync(work);
    unpackDebian(["qemu-user"], "x64", work);
    cpSync(join(work, "usr", "bin", "qemu-aarch64"), join(draft, "qemu-aarch64"));
    rmSync(work, { recursive: true });
  });
  return join(folder, "qemu-aarch64");
}

/** Wine, and the libraries without which no program of Windows starts in it. */
const WINE_PACKAGES = "wine64 libwine libz-mingw-w64 libc6 libgcc-s1 libunwind8 liblzma5".split(" ");
const WINE_FOLDER = "/usr/lib/x86_64-linux-gnu/wine";
const WINE: Contents = {
  fill: async (folder) => link(await installWine(), folder),
  runner: ["/usr/lib/wine/wine64"],
  env: {
    HOME: "/home",
    WINEDEBUG: "-all",
    // Without a display the desktop would be started again and again.
    WINEDLLOVERRIDES: "explorer.exe,winemenubuilder.exe,mscoree,mshtml=d",
    WINEDLLPATH: WINE_FOLDER,
    WINESERVER: "/usr/lib/wine/wineserver64",
  },
  hasServants: true,
};

/** Installs Wine with its drive C once. */
function installWine(): Promise<string> {
  return installOnce("release-wine", "installed", async (folder) => {
    unpackDebian(WINE_PACKAGES, "x64", folder);
    for (const name of ["lib", "lib64"]) symlinkSync(join("usr", name), join(folder, name));
    const libraries = join(folder, WINE_FOLDER);
    cpSync(join(folder, "usr/x86_64-w64-mingw32/lib/zlib1.dll"), join(libraries, "x86_64-windows", "zlib1.dll"));
    for (const name of ["proc", "dev", "tmp", "home"]) mkdirSync(join(folder, name));
    const boot = startInside(folder, WINE, ["wineboot", "--init"]);
    // Its exit code is that of the programs of 32 bits, which are not there.
    await new Promise((resolve) => boot.once("exit", resolve));
    const written = join(folder, "home", ".wine", "drive_c", "windows", "system32", "kernel32.dll");
    if (!existsSync(written)) throw new Error(`wineboot wrote no ${written}`);
    mkdirSync(join(folder, "installed"));
  });
}
