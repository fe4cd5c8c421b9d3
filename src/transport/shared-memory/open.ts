import type { SharedMemory, SharedMemoryKind } from "./shared-memory.ts";

/** Opens the memory of a kind; what it needs is loaded now. @throws RunError when this machine has none */
export async function openSharedMemory(kind: SharedMemoryKind): Promise<SharedMemory> {
  if (kind === "system") return new (await import("./system.ts")).SystemMemory();
  return (await import("./cuda.ts")).openCudaMemory();
}
