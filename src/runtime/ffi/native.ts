/**
 * Types passed to C: `i32`, `u32` and `f64` as number; `i64`, `usize` and `pointer` (an address, 0n for NULL) as bigint; `buffer` as a Uint8Array
 * that C may read and write until the call returns.
 */
export type NativeType = "i32" | "u32" | "i64" | "f64" | "usize" | "pointer" | "buffer";

/** Result types of C functions; `void` returns undefined. */
export type NativeResult = Exclude<NativeType, "buffer" | "f64"> | "void";

/** Parameters and result of a C function. Variadic functions are not supported. */
export interface NativeSignature {
  readonly args: readonly NativeType[];
  readonly result: NativeResult;
}

/** Parameters and result of a JavaScript function that C calls. */
export interface CallbackSignature {
  readonly args: readonly Exclude<NativeType, "buffer">[];
  readonly result: "i32" | "pointer" | "void";
}

/** The functions of a library, by symbol. */
export type NativeSymbols = Readonly<Record<string, NativeSignature>>;

/** The native calls of a runtime. It may return numbers as bigint and vice versa; `ffi.ts` converts them. */
export interface NativeBackend {
  /** Opens functions of one of the system's libraries. @throws if it cannot be opened */
  openSystemLibrary(name: string, symbols: NativeSymbols): Record<string, RawFunction>;
  functionAt(address: bigint, signature: NativeSignature): RawFunction;
  /** Returns a copy of memory. `sizeBytes` is 1 or more. */
  readMemory(address: bigint, sizeBytes: number): Uint8Array;
  /** Returns the address of a function for C, which lives as long as the process. It keeps the process alive only on Deno. */
  createCallback(signature: CallbackSignature, action: RawFunction): bigint;
}

/** A C function as a runtime returns it. */
export type RawFunction = (...args: (number | bigint | Uint8Array)[]) => number | bigint | null | undefined;

/** Error for a missing library or symbol. */
export class NativeError extends Error {
  override readonly name = "NativeError";
}
