/** POSIX shared memory of the system, or GPU memory. */
export type SharedMemoryKind = "system" | "cuda";

interface RegionCommon {
  /** Name on the server, unique in this process. */
  readonly name: string;
  /** Size in bytes, 1 or more. */
  readonly sizeBytes: number;
  /** Copies bytes into the region. @throws RunError if that fails */
  write(offset: number, bytes: Uint8Array): void;
  /** Returns a copy of bytes in the region. @throws RunError if that fails */
  read(offset: number, sizeBytes: number): Uint8Array;
}

/** A region of system memory. */
export interface SystemRegion extends RegionCommon {
  readonly kind: "system";
  /** Name for `shm_open`, with its slash. */
  readonly key: string;
}

/** A region of a GPU's memory. */
export interface CudaRegion extends RegionCommon {
  readonly kind: "cuda";
  /** The 64-byte handle from `cudaIpcGetMemHandle`. */
  readonly rawHandle: Uint8Array;
  readonly deviceId: number;
}

/** Memory that both this process and a server on the same machine access, so that tensors need not be sent. */
export type SharedRegion = SystemRegion | CudaRegion;

/** Creates and releases regions. */
export interface SharedMemory {
  /**
   * Creates a region filled with zeros. Returns undefined when the name belongs to memory of another process.
   * @throws RunError when there is not enough memory
   */
  create(name: string, sizeBytes: number): SharedRegion | undefined;
  /**
   * Gives more users of this machine access to a region and to later ones. Returns false if everybody already has access. Initially
   * only the user of this process has access.
   */
  widenAccess(region: SharedRegion): boolean;
  /** Releases all memory synchronously. May be called again. */
  release(): void;
}
