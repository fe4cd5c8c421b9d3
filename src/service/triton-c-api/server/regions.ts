import type { NativeMemory } from "./memory.ts";

interface Region {
  readonly address: bigint;
  readonly sizeBytes: number;
}

/** Regions of system memory that the run has registered, by name. */
export class Regions {
  private readonly memory: NativeMemory;
  private readonly regions = new Map<string, Region>();

  constructor(memory: NativeMemory) {
    this.memory = memory;
  }

  /** @throws Error if it cannot be mapped */
  register(name: string, key: string, offset: number, sizeBytes: number): void {
    this.unregister(name);
    this.regions.set(name, { address: this.memory.map(key, offset, sizeBytes), sizeBytes });
  }

  unregister(name: string): void {
    const region = this.regions.get(name);
    if (region === undefined) return;
    this.regions.delete(name);
    this.memory.unmap(region.address, region.sizeBytes);
  }

  /** @throws Error if the region is not registered or too small */
  addressOf(name: string, offset: number, sizeBytes: number): bigint {
    const region = this.regions.get(name);
    if (region === undefined) throw new Error(`shared memory region '${name}' is not registered`);
    if (offset + sizeBytes > region.sizeBytes)
      throw new Error(`shared memory region '${name}' has ${region.sizeBytes} bytes, not ${offset + sizeBytes}`);
    return region.address + BigInt(offset);
  }
}
