import { execFile } from "node:child_process";
import { mkdir, readdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { cacheFolder } from "./install-once.ts";

/** Long enough for a new machine, where Go compiles gRPC for the first time beside other work. */
const BUILD_TIMEOUT_MS = 900_000;

/** Held while something is built, so that processes do so one after the other: what programs have in common is then compiled once. */
export const GO_LOCK = join(cacheFolder, "go.lock");

/** Kubernetes's packages take most of the time to compile, and nothing here needs them to be fast: they are not optimized. */
const BUILD_FLAGS = ["-buildvcs=false", "-gcflags=k8s.io/...=-N -l"];
/** The compiler collects garbage less often than by default, which takes less CPU time. */
export const GO_COMPILER = { GOGC: "400" };

/** The builds of this process, by name. */
const building = new Map<string, Promise<string>>();

/**
 * Builds the Go program in the folder of that name beside this file, when its sources or those of ./arrival are newer, and gives its path. A process builds each
 * program once. Needs `go`.
 */
export function buildGo(name: string): Promise<string> {
  const built = building.get(name) ?? build(name).finally(() => building.delete(name));
  building.set(name, built);
  return built;
}

async function build(name: string): Promise<string> {
  const sources = fileURLToPath(new URL(`./${name}/`, import.meta.url));
  const folder = join(cacheFolder, name);
  const executable = join(folder, name);
  const builtMs = await stat(executable).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
  const folders = [sources, fileURLToPath(new URL("./arrival/", import.meta.url))];
  const files = (
    await Promise.all(folders.map(async (from) => (await readdir(from)).map((file) => join(from, file))))
  ).flat();
  const times = await Promise.all(files.map(async (path) => (await stat(path)).mtimeMs));
  if (builtMs > Math.max(...times)) return executable;
  await mkdir(folder, { recursive: true });
  const fresh = `${executable}.${process.pid}.${Date.now()}`;
  const options = { cwd: sources, timeout: BUILD_TIMEOUT_MS, env: { ...process.env, ...GO_COMPILER } };
  await promisify(execFile)("flock", [GO_LOCK, "go", "build", ...BUILD_FLAGS, "-o", fresh, "."], options);
  await rename(fresh, executable);
  return executable;
}
