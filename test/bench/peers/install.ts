import { execFile } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { debianCodename, unpackDebs } from "./apt.ts";

const execute = promisify(execFile);
const INSTALL_TIMEOUT_MS = 300_000;
const PERF_ANALYZER_VERSION = "2.60.0";
/** NVIDIA's library, which perf_analyzer opens for shared memory of any kind; it needs no GPU for `system`. */
const CUDA_RUNTIME_VERSION = "12.9.79";
const GHZ_VERSION = "v0.121.0";
const OHA_VERSION = "1.16.0";

/** Where peers are kept between runs; ignored by git. */
const peersFolder = fileURLToPath(new URL("../../../.cache/peers/", import.meta.url));

/** A load generator to compare with: what to start (program and leading arguments) and its version. */
export type Peer = { command: string[]; version: string; env?: Record<string, string> };

/**
 * The real perf_analyzer from its wheel. It wants glibc 2.38; on an older Debian it gets the libraries of the next one beside it.
 * @param place called with the folder it is installed in; returns the one it is to be started from
 */
export async function installPerfAnalyzer(place: (folder: string) => string): Promise<Peer> {
  const installed = await installOnce(`perf-analyzer-${PERF_ANALYZER_VERSION}-cudart`, async (draft) => {
    await installWheel("manylinux_2_38_x86_64", `perf-analyzer==${PERF_ANALYZER_VERSION}`, join(draft, "wheel"));
    const cuda = join(draft, "cuda-wheel");
    await installWheel("manylinux_2_17_x86_64", `nvidia-cuda-runtime-cu12==${CUDA_RUNTIME_VERSION}`, cuda);
    mkdirSync(join(draft, "cuda"));
    const library = join(cuda, "nvidia", "cuda_runtime", "lib", "libcudart.so.12");
    cpSync(library, join(draft, "cuda", "libcudart.so"));
    rmSync(cuda, { recursive: true });
    if (!isGlibcNewEnough()) await addLibraries(draft);
  });
  const folder = place(installed);
  const program = join(folder, "wheel", "perf_analyzer", "bin", "perf_analyzer");
  chmodSync(program, 0o755);
  const libraries = join(folder, "lib");
  const cuda = join(folder, "cuda");
  const loader = join(libraries, "ld-linux-x86-64.so.2");
  const version = PERF_ANALYZER_VERSION;
  if (!existsSync(loader)) return { command: [program], version, env: { LD_LIBRARY_PATH: cuda } };
  return {
    command: [loader, "--library-path", `${libraries}:${cuda}`, "--argv0", "perf_analyzer", program],
    version,
  };
}

async function installWheel(platform: string, requirement: string, target: string): Promise<void> {
  // Without the platform pip would settle for an empty placeholder.
  const only = ["--no-deps", "--only-binary=:all:", "--python-version", "3.12", "--platform", platform];
  const quiet = ["--quiet", "--disable-pip-version-check", "--no-cache-dir", "--root-user-action=ignore"];
  const args = ["-m", "pip", "install", ...quiet, ...only, "--target", target, requirement];
  await execute("python3", args, { timeout: INSTALL_TIMEOUT_MS });
}

/** wrk: the one on the PATH, else Debian's. */
export async function installWrk(): Promise<Peer> {
  const present = await readVersion("wrk", ["-v"], {});
  if (present !== "") return { command: ["wrk"], version: present };
  const folder = await installOnce("wrk", (draft) =>
    unpackDebs(debianCodename(), ["wrk", "libluajit-5.1-2", "libluajit-5.1-common"], draft),
  );
  const env = { LD_LIBRARY_PATH: join(folder, "usr", "lib", "x86_64-linux-gnu") };
  const program = join(folder, "usr", "bin", "wrk");
  return { command: [program], env, version: await readVersion(program, ["-v"], env) };
}

/** ghz, built from its published module with the machine's Go. */
export async function installGhz(): Promise<Peer> {
  const folder = await installOnce(`ghz-${GHZ_VERSION}`, async (draft) => {
    const env = { ...process.env, GOBIN: draft };
    await execute("go", ["install", `github.com/bojand/ghz/cmd/ghz@${GHZ_VERSION}`], {
      env,
      timeout: INSTALL_TIMEOUT_MS,
    });
  });
  return { command: [join(folder, "ghz")], version: GHZ_VERSION.slice(1) };
}

/** oha, built from its published crate with the machine's Rust. */
export async function installOha(): Promise<Peer> {
  const folder = await installOnce(`oha-${OHA_VERSION}`, async (draft) => {
    const args = ["install", "oha", "--version", OHA_VERSION, "--locked", "--quiet", "--root", draft];
    await execute("cargo", args, { timeout: 2 * INSTALL_TIMEOUT_MS });
  });
  return { command: [join(folder, "bin", "oha")], version: OHA_VERSION };
}

/** Fills a folder under another name and renames it when complete, so that a broken download is never taken for an installation. */
async function installOnce(name: string, fill: (draft: string) => Promise<void>): Promise<string> {
  const folder = join(peersFolder, name);
  if (existsSync(folder)) return folder;
  console.error(`bench: installing ${name} …`);
  const draft = `${folder}.draft-${process.pid}`;
  mkdirSync(draft, { recursive: true });
  try {
    await fill(draft);
    if (!existsSync(folder)) renameSync(draft, folder);
    return folder;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function isGlibcNewEnough(): boolean {
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
  const [major = 0, minor = 0] = (report.header?.glibcVersionRuntime ?? "0.0").split(".").map(Number);
  return major > 2 || (major === 2 && minor >= 38);
}

async function addLibraries(draft: string): Promise<void> {
  const unpacked = join(draft, "debian");
  await unpackDebs("trixie", ["libc6", "libgcc-s1", "libstdc++6", "libssl3t64", "zlib1g", "libzstd1"], unpacked);
  const libraries = join(unpacked, "usr", "lib", "x86_64-linux-gnu");
  mkdirSync(join(draft, "lib"));
  for (const name of readdirSync(libraries)) {
    if (/\.so(\.|$)/.test(name))
      cpSync(join(libraries, name), join(draft, "lib", name), { dereference: true, recursive: true });
  }
  rmSync(unpacked, { recursive: true, force: true });
}

async function readVersion(program: string, flags: string[], env: Record<string, string>): Promise<string> {
  const read = (out: { stdout?: string }) => /\d+\.\d+(\.\d+)?/.exec(out.stdout ?? "")?.[0] ?? "";
  // wrk prints its version and then fails.
  return execute(program, flags, { env: { ...process.env, ...env } }).then(read, read);
}
