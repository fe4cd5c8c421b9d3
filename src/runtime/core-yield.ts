import { openLibrary } from "./ffi/ffi.ts";
import { NativeError } from "./ffi/native.ts";

const LIBRARIES = ["libc.so.6", "libc.so", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1", "libSystem.B.dylib"];
const SYMBOLS = { sched_yield: { args: [], result: "i32" } } as const;

/** Lets other threads that wait for this core run first; returns at once if there are none. */
export type CoreYield = () => void;

/** Opens the C library's `sched_yield`. Returns undefined if native calls are not possible. */
export async function openCoreYield(): Promise<CoreYield | undefined> {
  try {
    return (await openLibrary(LIBRARIES, SYMBOLS)).functions.sched_yield;
  } catch (error) {
    if (error instanceof NativeError) return undefined;
    throw error;
  }
}
