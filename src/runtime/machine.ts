import { availableParallelism, cpus, freemem, release, totalmem, type } from "node:os";
import { fileSystem } from "./files.ts";
import { runtimeName } from "./runtime.ts";

/** The machine that this process runs on. */
export interface Machine {
  /** The processor's name, as the system reports it; empty if it reports none. */
  readonly cpu: string;
  /** Number of cores that this process may use. */
  readonly cores: number;
  readonly memoryBytes: number;
  /** The system with its release: `Linux 6.1.0`. */
  readonly os: string;
  /** For example `x64` or `arm64`. */
  readonly architecture: string;
  /** The runtime with its version: `bun 1.4.5`. */
  readonly runtime: string;
}

/** Describes the machine, without identifying it. */
export function describeMachine(): Machine {
  return {
    cpu: readCpuName(),
    cores: availableParallelism(),
    memoryBytes: totalmem(),
    os: `${type()} ${release()}`,
    architecture: process.arch,
    runtime: `${runtimeName} ${process.versions[runtimeName] ?? ""}`.trim(),
  };
}

function readCpuName(): string {
  try {
    return cpus()[0]?.model.trim() ?? "";
  } catch {
    // Bun on Windows throws if the registry does not name the processor.
    return "";
  }
}

/** Reads a file of the system as text; undefined if it cannot be read. */
export type ReadSystemFile = (path: string) => string | undefined;

/** Resources that this process may still use. Infinity: no limit, or the system does not report it. */
export interface HostResources {
  /** Memory that can be used without swapping, within the limits of containers and of this process. */
  readonly memoryBytes: number;
  /** Maximum number of open files and sockets of this process. */
  readonly fileLimit: number;
  readonly openFiles: number;
  /** Number of ports for outgoing connections to one address. */
  readonly localPorts: number;
}

const CGROUP_ROOT = "/sys/fs/cgroup";

/** Reads the current resources. @param read default: reads the system's files */
export function readHostResources(read: ReadSystemFile = readSystemFile): HostResources {
  const [firstPort, lastPort] = readPortRange(read);
  return {
    memoryBytes: Math.max(0, Math.min(availableBytes(read), groupBytes(read), addressSpaceBytes(read))),
    fileLimit: limitOf(read, "Max open files"),
    openFiles: countOpenFiles(),
    localPorts: lastPort - firstPort + 1,
  };
}

/** Returns the first and last port of outgoing connections; 0 and Infinity if the system does not report them. */
export function readPortRange(read: ReadSystemFile = readSystemFile): readonly [first: number, last: number] {
  const [first = 0, last = Number.POSITIVE_INFINITY] = (read("/proc/sys/net/ipv4/ip_local_port_range") ?? "")
    .split(/\s+/)
    .filter((text) => text !== "")
    .map(Number);
  return [first, last];
}

function readSystemFile(path: string): string | undefined {
  try {
    return fileSystem().readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function countOpenFiles(): number {
  try {
    return fileSystem().readdirSync("/proc/self/fd").length;
  } catch {
    return 0;
  }
}

function availableBytes(read: ReadSystemFile): number {
  const kib = /^MemAvailable:\s+(\d+) kB/m.exec(read("/proc/meminfo") ?? "")?.[1];
  // Other systems count the file cache as used memory.
  return kib === undefined ? Math.max(freemem(), totalmem() / 4) : Number(kib) * 1024;
}

/** Returns the memory that the control groups of this process leave: groups of version 2 and 1, and their parent groups. */
function groupBytes(read: ReadSystemFile): number {
  let least = Number.POSITIVE_INFINITY;
  for (const line of (read("/proc/self/cgroup") ?? "0::/").split("\n")) {
    const [, controllers, path = ""] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    const version = controllers === "" ? 2 : controllers?.split(",").includes("memory") === true ? 1 : undefined;
    if (version === undefined) continue;
    const root = version === 2 ? CGROUP_ROOT : `${CGROUP_ROOT}/memory`;
    // Inside a container the path may be that of the host, which does not exist here.
    for (let group = path.replace(/\/$/, ""); ; group = group.slice(0, group.lastIndexOf("/"))) {
      least = Math.min(least, leftInGroup(read, `${root}${group}`, version));
      if (group === "") break;
    }
  }
  return least;
}

function leftInGroup(read: ReadSystemFile, folder: string, version: 1 | 2): number {
  const [most, used, cache] =
    version === 2
      ? (["memory.max", "memory.current", "inactive_file"] as const)
      : (["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"] as const);
  const limit = Number(read(`${folder}/${most}`) ?? Number.NaN);
  // "max" is not a number.
  if (Number.isNaN(limit)) return Number.POSITIVE_INFINITY;
  // The kernel frees the file cache before it refuses memory.
  const cached = new RegExp(`^${cache} (\\d+)`, "m").exec(read(`${folder}/memory.stat`) ?? "")?.[1] ?? "0";
  return limit - Math.max(0, Number(read(`${folder}/${used}`) ?? "0") - Number(cached));
}

/** Returns the memory that `ulimit -v` and `ulimit -d` leave. */
function addressSpaceBytes(read: ReadSystemFile): number {
  const status = read("/proc/self/status") ?? "";
  const used = (name: string): number =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status)?.[1] ?? "0") * 1024;
  return Math.min(limitOf(read, "Max address space") - used("VmSize"), limitOf(read, "Max data size") - used("VmData"));
}

function limitOf(read: ReadSystemFile, name: string): number {
  return readLimit(name, read)?.limit ?? Number.POSITIVE_INFINITY;
}

/**
 * Reads a limit of this process, such as `Max open files`, and the maximum to which its user can raise it. Infinity: no limit. Undefined
 * if the system does not report it. @param read default: reads the system's files
 */
export function readLimit(
  name: string,
  read: ReadSystemFile = readSystemFile,
): { readonly limit: number; readonly hardLimit: number } | undefined {
  const [, limit, hardLimit] =
    new RegExp(`^${name}\\s+(\\S+)\\s+(\\S+)`, "m").exec(read("/proc/self/limits") ?? "") ?? [];
  const toNumber = (text: string): number => (text === "unlimited" ? Number.POSITIVE_INFINITY : Number(text));
  return limit === undefined || hardLimit === undefined
    ? undefined
    : { limit: toNumber(limit), hardLimit: toNumber(hardLimit) };
}

/**
 * Frees unused memory on Bun, whose garbage collector lets the memory of a loop that never waits grow by gigabytes. On Node and Deno it
 * does nothing. Takes some milliseconds.
 */
export function collectGarbage(): void {
  const { Bun } = globalThis as { readonly Bun?: { gc(isSync: boolean): unknown } };
  Bun?.gc(true);
}
