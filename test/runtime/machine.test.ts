import assert from "node:assert/strict";
import { test } from "node:test";
import { readHostResources } from "../../src/runtime/machine.ts";

/** The memory and files that a host leaves to this process, read from files of a made-up host. */

const GIB = 1024 ** 3;
const HOST = {
  "/proc/meminfo": "MemTotal:       16777216 kB\nMemFree:         1000000 kB\nMemAvailable:    8388608 kB\n",
  "/proc/self/limits":
    "Limit                     Soft Limit           Hard Limit           Units     \n" +
    "Max data size             unlimited            unlimited            bytes     \n" +
    "Max open files            4096                 1048576              files     \n" +
    "Max address space         unlimited            unlimited            bytes     \n",
  "/proc/self/status": "Name:\trampart\nVmSize:\t 1048576 kB\nVmData:\t  524288 kB\n",
  "/proc/self/cgroup": "0::/\n",
  "/proc/sys/net/ipv4/ip_local_port_range": "32768\t60999\n",
};

const read =
  (files: Readonly<Record<string, string>>) =>
  (path: string): string | undefined =>
    ({ ...HOST, ...files })[path];

const limited = (line: string, bytes: number): Record<string, string> => ({
  "/proc/self/limits": HOST["/proc/self/limits"].replace(
    new RegExp(`(${line} +)unlimited`),
    (_all, start: string) => `${start}${bytes}   `,
  ),
});

const MEMORY: readonly (readonly [name: string, files: Readonly<Record<string, string>>, gib: number])[] = [
  ["what is available, not what is free", {}, 8],
  [
    "what a container of version 2 leaves, where its cache counts as free",
    {
      "/sys/fs/cgroup/memory.max": `${2 * GIB}\n`,
      "/sys/fs/cgroup/memory.current": `${1.5 * GIB}\n`,
      "/sys/fs/cgroup/memory.stat": `anon 5\ninactive_file ${0.5 * GIB}\n`,
    },
    1,
  ],
  ["all of it, in a container without a limit", { "/sys/fs/cgroup/memory.max": "max\n" }, 8],
  [
    "what the group around that of the process leaves",
    {
      "/proc/self/cgroup": "0::/pods/one\n",
      "/sys/fs/cgroup/pods/one/memory.max": "max\n",
      "/sys/fs/cgroup/pods/memory.max": `${3 * GIB}\n`,
      "/sys/fs/cgroup/pods/memory.current": `${GIB}\n`,
    },
    2,
  ],
  [
    "what a container of version 1 leaves",
    {
      "/proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/docker/abc\n0::/x\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": `${4 * GIB}\n`,
      "/sys/fs/cgroup/memory/memory.usage_in_bytes": `${GIB}\n`,
    },
    3,
  ],
  ["what ulimit -v leaves", limited("Max address space", 5 * GIB), 4],
  ["what ulimit -d leaves", limited("Max data size", GIB), 0.5],
  ["nothing below 0", limited("Max data size", 1), 0],
];
for (const [name, files, gib] of MEMORY)
  test(`the free memory is ${name}`, () => {
    assert.equal(readHostResources(read(files)).memoryBytes / GIB, gib);
  });

test("files and ports are the limits of this process and its host", () => {
  const { fileLimit, localPorts } = readHostResources(read({}));
  assert.deepEqual([fileLimit, localPorts], [4096, 28_232]);
});

test("a system that reports nothing limits nothing but memory", () => {
  const { memoryBytes, fileLimit, localPorts } = readHostResources(() => undefined);
  assert.ok(memoryBytes > 0 && Number.isFinite(memoryBytes));
  assert.deepEqual([fileLimit, localPorts], [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY]);
});
