/** What calls into native libraries are made of, and what each runtime's way of making them offers. */

/**
 * What passes between JavaScript and C: `i32`, `u32` as number; `i64`, `usize` and `pointer` (an address, 0n for NULL) as bigint; `buffer`
 * as a Uint8Array, whose bytes C may read and write until the call returns.
 */
export type NativeType = "i32" | "u32" | "i64" | "usize" | "pointer" | "buffer";

/** What a C function returns; `void` gives undefined. */
export type NativeResult = Exclude<NativeType, "buffer"> | "void";

/** A C function's parameters, none variadic, and its result. */
export interface NativeSignature {
  readonly args: readonly NativeType[];
  readonly result: NativeResult;
}

/** The functions wanted of a library, by their symbol. */
export type NativeSymbols = Readonly<Record<string, NativeSignature>>;

/** What a runtime must bring; numbers may arrive as bigint and the other way round, `ffi.ts` puts that right. */
export interface NativeBackend {
  /** The dynamic loader's own functions, from one of the system's libraries of that name. @throws when it cannot be opened. */
  openSystemLibrary(name: string, symbols: NativeSymbols): Record<string, RawFunction>;
  /** The function at an address. */
  functionAt(address: bigint, signature: NativeSignature): RawFunction;
  /** A copy of memory; `sizeBytes` is 1 or more. */
  readMemory(address: bigint, sizeBytes: number): Uint8Array;
}

/** A C function as a runtime gives it. */
export type RawFunction = (...args: (number | bigint | Uint8Array)[]) => number | bigint | null | undefined;

/** A library or a symbol that is not there. */
export class NativeError extends Error {
  override readonly name = "NativeError";
}
