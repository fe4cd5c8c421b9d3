import type { SharedMemory, SharedMemoryKind } from "./shared-memory.ts";

/** Opens shared memory of a kind and loads its implementation. @throws RunError when the machine does not support it */
export async function openSharedMemory(kind: SharedMemoryKind): Promise<SharedMemory> {
  if (kind === "system") return new (await import("./system.ts")).SystemMemory();
  return (await import("./cuda.ts")).openCudaMemory();
}
