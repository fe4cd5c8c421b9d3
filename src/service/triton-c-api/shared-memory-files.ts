import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Folder of POSIX shared memory on Linux. */
const FOLDER = "/dev/shm";
const PREFIX = "rampart_";

let lastRun = 0;

/** Returns a name prefix for the memory that Triton shares with its Python models. It differs for each run of this process. */
export function newMemoryPrefix(): string {
  return `${PREFIX}${process.pid}_${++lastRun}_`;
}

/** Removes a run's shared memory, which Triton leaves behind when its process is killed. */
export function removeSharedMemory(prefix: string): void {
  for (const name of names()) if (name.startsWith(prefix)) rmSync(join(FOLDER, name), { force: true });
}

/** Removes the shared memory of runs that ended without removing it. */
export function removeAbandonedMemory(): void {
  for (const name of names()) {
    const pid = /^rampart_(\d+)_/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(FOLDER, name), { force: true });
  }
}

function names(): string[] {
  return existsSync(FOLDER) ? readdirSync(FOLDER) : [];
}
