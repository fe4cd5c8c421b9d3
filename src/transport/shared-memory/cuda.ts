import { messageOf, RunError } from "../../plan/problem.ts";
import { type NativeFunction, type NativeLibrary, openLibrary } from "../../runtime/ffi/ffi.ts";
import type { CudaRegion, SharedMemory } from "./shared-memory.ts";

/** The name from the toolkit, then the versioned names from packages. */
const LIBRARIES = [
  "libcudart.so",
  "libcudart.so.13",
  "libcudart.so.12",
  "libcudart.so.11.0",
  "/usr/local/cuda/lib64/libcudart.so",
];
const DEVICE_ID = 0;
const HANDLE_BYTES = 64;
const HOST_TO_DEVICE = 1;
const DEVICE_TO_HOST = 2;

const SYMBOLS = {
  cudaSetDevice: { args: ["i32"], result: "i32" },
  cudaMalloc: { args: ["buffer", "usize"], result: "i32" },
  cudaMemset: { args: ["pointer", "i32", "usize"], result: "i32" },
  cudaMemcpy: { args: ["pointer", "buffer", "usize", "i32"], result: "i32" },
  cudaIpcGetMemHandle: { args: ["buffer", "pointer"], result: "i32" },
  cudaFree: { args: ["pointer"], result: "i32" },
  cudaGetErrorString: { args: ["i32"], result: "pointer" },
} as const;
/** The same function with the buffer as destination. */
const FETCH = { cudaMemcpy: { args: ["buffer", "pointer", "usize", "i32"], result: "i32" } } as const;

/** Opens CUDA's runtime library on the first GPU. @throws RunError if there is no library or no GPU */
export async function openCudaMemory(): Promise<SharedMemory> {
  let library: NativeLibrary<typeof SYMBOLS>;
  let fetch: NativeFunction<(typeof FETCH)["cudaMemcpy"]>;
  try {
    library = await openLibrary(LIBRARIES, SYMBOLS);
    fetch = (await openLibrary([library.name], FETCH)).functions.cudaMemcpy;
  } catch (error) {
    throw new RunError(
      "unsupported",
      `Cannot open CUDA runtime library: ${messageOf(error)}`,
      "Install CUDA's runtime and name its folder in LD_LIBRARY_PATH, or use system shared memory.",
    );
  }
  return new CudaMemory(library, fetch);
}

class CudaMemory implements SharedMemory {
  private readonly library: NativeLibrary<typeof SYMBOLS>;
  private readonly fetch: NativeFunction<(typeof FETCH)["cudaMemcpy"]>;
  private readonly addresses: bigint[] = [];

  constructor(library: NativeLibrary<typeof SYMBOLS>, fetch: NativeFunction<(typeof FETCH)["cudaMemcpy"]>) {
    this.library = library;
    this.fetch = fetch;
  }

  create(name: string, sizeBytes: number): CudaRegion {
    const { cudaSetDevice, cudaMalloc, cudaMemset, cudaIpcGetMemHandle, cudaMemcpy } = this.library.functions;
    this.check(cudaSetDevice(DEVICE_ID), `unable to use GPU ${DEVICE_ID}`);
    const size = BigInt(sizeBytes);
    const place = new BigUint64Array(1);
    // perf_analyzer uses this message for inputs too.
    this.check(
      cudaMalloc(new Uint8Array(place.buffer), size),
      `unable to allocate memory of ${sizeBytes} bytes on gpu for output`,
    );
    const address = place[0] as bigint;
    this.addresses.push(address);
    this.check(cudaMemset(address, 0, size), `unable to clear the memory of ${name}`);
    const rawHandle = new Uint8Array(HANDLE_BYTES);
    this.check(cudaIpcGetMemHandle(rawHandle, address), `unable to share the memory of ${name}`);
    return {
      kind: "cuda",
      name,
      sizeBytes,
      rawHandle,
      deviceId: DEVICE_ID,
      write: (offset, bytes) =>
        this.check(
          cudaMemcpy(address + BigInt(offset), bytes, BigInt(bytes.length), HOST_TO_DEVICE),
          `Failed to copy data to cuda shared memory for ${name}`,
        ),
      read: (offset, readBytes) => {
        const bytes = new Uint8Array(readBytes);
        this.check(
          this.fetch(bytes, address + BigInt(offset), BigInt(readBytes), DEVICE_TO_HOST),
          `Failed to copy data from cuda shared memory for ${name}`,
        );
        return bytes;
      },
    };
  }

  /** CUDA handles work for every process on the machine. */
  widenAccess(): boolean {
    return false;
  }

  release(): void {
    for (const address of this.addresses.splice(0)) this.library.functions.cudaFree(address);
  }

  /** CUDA functions return 0 or an error code. */
  private check(code: number, message: string): void {
    if (code === 0) return;
    const reason = this.library.readText(this.library.functions.cudaGetErrorString(code));
    throw new RunError(
      "unsupported",
      `${message}: ${reason}`,
      "Look at the GPU with nvidia-smi, or use system shared memory.",
    );
  }
}
