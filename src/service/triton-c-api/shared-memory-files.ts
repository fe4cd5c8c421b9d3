import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";

/** Where Linux keeps POSIX shared memory. */
const FOLDER = "/dev/shm";
const PREFIX = "rampart_";

/** Returns the beginning of the names of what Triton shares with its Python models, for a run's process. */
export function memoryPrefixOf(pid: number): string {
  return `${PREFIX}${pid}_`;
}

/** Removes a run's shared memory, which Triton leaves when its process is ended. */
export function removeSharedMemory(prefix: string): void {
  for (const name of names()) if (name.startsWith(prefix)) rmSync(join(FOLDER, name), { force: true });
}

/** Removes the shared memory of runs that have ended without removing it. */
export function removeAbandonedMemory(): void {
  for (const name of names()) {
    const pid = /^rampart_(\d+)_/.exec(name)?.[1];
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) rmSync(join(FOLDER, name), { force: true });
  }
}

function names(): string[] {
  return existsSync(FOLDER) ? readdirSync(FOLDER) : [];
}
