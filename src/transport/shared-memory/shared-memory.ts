/** Memory that a server on the same machine reads and writes as well as this process: instead of sending tensors, one tells where they lie. */

/** Where the memory comes from: POSIX shared memory of the system, or a GPU's own. */
export type SharedMemoryKind = "system" | "cuda";

interface RegionCommon {
  /** What the server calls it; the same for no other region of this process. */
  readonly name: string;
  /** 1 or more. */
  readonly sizeBytes: number;
  /** Copies bytes into the region. @throws RunError when the memory refuses */
  write(offset: number, bytes: Uint8Array): void;
  /** A copy of what lies there. @throws RunError when the memory refuses */
  read(offset: number, sizeBytes: number): Uint8Array;
}

/** A region of system memory. */
export interface SystemRegion extends RegionCommon {
  readonly kind: "system";
  /** The name for `shm_open`, with its slash. */
  readonly key: string;
}

/** A region of a GPU's memory. */
export interface CudaRegion extends RegionCommon {
  readonly kind: "cuda";
  /** What `cudaIpcGetMemHandle` gives: 64 bytes. */
  readonly rawHandle: Uint8Array;
  readonly deviceId: number;
}

/** Memory shared with a server. */
export type SharedRegion = SystemRegion | CudaRegion;

/** Makes regions and gives their memory back. */
export interface SharedMemory {
  /**
   * Makes a region filled with zeros, or `undefined` when the name belongs to memory of another process.
   * @throws RunError when there is no such memory
   */
  create(name: string, sizeBytes: number): SharedRegion | undefined;
  /**
   * Lets more users of this machine open a region, and those made after it; false where everybody may already. At first only the user of
   * this process may.
   */
  widen(region: SharedRegion): boolean;
  /** Gives all memory back, at once and whatever happened before. May be called again. */
  release(): void;
}
