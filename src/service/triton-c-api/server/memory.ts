import { openLibrary, toCString } from "../../../runtime/ffi/ffi.ts";
import type { NativeSymbols } from "../../../runtime/ffi/native.ts";

const SYMBOLS = {
  malloc: { args: ["usize"], result: "pointer" },
  free: { args: ["pointer"], result: "void" },
  memcpy: { args: ["pointer", "buffer", "usize"], result: "pointer" },
  shm_open: { args: ["buffer", "i32", "u32"], result: "i32" },
  mmap: { args: ["pointer", "usize", "i32", "i32", "i32", "i64"], result: "pointer" },
  munmap: { args: ["pointer", "usize"], result: "i32" },
  close: { args: ["i32"], result: "i32" },
} as const satisfies NativeSymbols;

/** Memory outside of JavaScript, which does not move. */
export interface NativeMemory {
  copy(bytes: Uint8Array): bigint;
  free(address: bigint): void;
  /** Maps a region of POSIX shared memory. @throws Error if it cannot be opened */
  map(key: string, offset: number, sizeBytes: number): bigint;
  unmap(address: bigint, sizeBytes: number): void;
}

const READ_WRITE = 2;
const PROTECT_READ_WRITE = 3;
const MAP_SHARED = 1;

/** Opens the system's memory functions. @throws NativeError */
export async function openMemory(): Promise<NativeMemory> {
  const { functions: c } = await openLibrary(["libc.so.6", "libc.so"], SYMBOLS);
  return {
    copy: (bytes) => {
      const address = c.malloc(BigInt(Math.max(1, bytes.length)));
      if (address === 0n) throw new Error(`no memory for ${bytes.length} bytes`);
      if (bytes.length > 0) c.memcpy(address, bytes, BigInt(bytes.length));
      return address;
    },
    free: (address) => c.free(address),
    map: (key, offset, sizeBytes) => {
      const file = c.shm_open(toCString(key), READ_WRITE, 0);
      if (file < 0) throw new Error(`shared memory '${key}' cannot be opened`);
      const address = c.mmap(0n, BigInt(sizeBytes), PROTECT_READ_WRITE, MAP_SHARED, file, BigInt(offset));
      c.close(file);
      if (address === 0xffff_ffff_ffff_ffffn) throw new Error(`shared memory '${key}' cannot be mapped`);
      return address;
    },
    unmap: (address, sizeBytes) => {
      c.munmap(address, BigInt(sizeBytes));
    },
  };
}
