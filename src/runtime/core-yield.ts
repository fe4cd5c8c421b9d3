import { openLibrary } from "./ffi/ffi.ts";
import { NativeError } from "./ffi/native.ts";

const LIBRARIES = ["libc.so.6", "libc.so", "libc.musl-x86_64.so.1", "libc.musl-aarch64.so.1", "libSystem.B.dylib"];
const SYMBOLS = { sched_yield: { args: [], result: "i32" } } as const;

/** Lets the threads that wait for this core run before the caller goes on; returns at once where none does. */
export type CoreYield = () => void;

/** `sched_yield` of the C library; undefined where native libraries cannot be called. */
export async function openCoreYield(): Promise<CoreYield | undefined> {
  try {
    return (await openLibrary(LIBRARIES, SYMBOLS)).functions.sched_yield;
  } catch (error) {
    if (error instanceof NativeError) return undefined;
    throw error;
  }
}
