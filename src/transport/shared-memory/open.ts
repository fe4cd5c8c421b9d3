import { openCudaMemory } from "./cuda.ts";
import type { SharedMemory, SharedMemoryKind } from "./shared-memory.ts";
import { SystemMemory } from "./system.ts";

/** Opens shared memory of a kind. @throws RunError when the machine does not support it */
export async function openSharedMemory(kind: SharedMemoryKind): Promise<SharedMemory> {
  return kind === "system" ? new SystemMemory() : openCudaMemory();
}
