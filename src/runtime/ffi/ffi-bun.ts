import { createRequire } from "node:module";
import {
  type CallbackSignature,
  type NativeBackend,
  NativeError,
  type NativeResult,
  type NativeSignature,
  type NativeSymbols,
  type NativeType,
  type RawFunction,
} from "./native.ts";

/** The part of `bun:ffi` that is used. */
interface BunFfi {
  dlopen(name: string, symbols: Record<string, object>): { readonly symbols: Record<string, RawFunction> };
  linkSymbols(symbols: Record<string, object>): { readonly symbols: Record<string, RawFunction> };
  readonly JSCallback: new (action: RawFunction, definition: object) => { readonly ptr: number | bigint | null };
  toArrayBuffer(address: number, byteOffset: number, byteLength: number): ArrayBuffer;
}

/** Addresses are passed as 64-bit integers, because Bun's own `ptr` results are floats. */
const TYPES: Readonly<Record<NativeType | NativeResult, string>> = {
  i32: "i32",
  u32: "u32",
  i64: "i64",
  f64: "f64",
  usize: "u64",
  pointer: "u64",
  buffer: "ptr",
  void: "void",
};

/** Callbacks that must not be garbage-collected. */
const kept: object[] = [];

/** Native calls through `bun:ffi`, also in an executable. */
export function openBunBackend(): NativeBackend {
  // A dynamic name hides the module from bundlers, because other runtimes lack it.
  const ffi = createRequire(import.meta.url)("bun:ffi") as BunFfi;
  return {
    openSystemLibrary: (name, symbols) => ffi.dlopen(name, describeAll(symbols)).symbols,
    functionAt: (address, signature) => {
      const { symbols } = ffi.linkSymbols({ call: { ...describe(signature), ptr: Number(address) } });
      return symbols["call"] as RawFunction;
    },
    readMemory: (address, sizeBytes) => new Uint8Array(ffi.toArrayBuffer(Number(address), 0, sizeBytes)).slice(),
    createCallback: (signature, action) => {
      if (signature.result !== "void")
        throw new NativeError("on Bun, C does not wait for a callback, so the callback cannot return anything");
      const callback = new ffi.JSCallback(action, { ...describe(signature), threadsafe: true });
      kept.push(callback);
      return BigInt(callback.ptr ?? 0);
    },
  };
}

function describeAll(symbols: NativeSymbols): Record<string, object> {
  return Object.fromEntries(Object.entries(symbols).map(([name, signature]) => [name, describe(signature)]));
}

function describe({ args, result }: NativeSignature | CallbackSignature): object {
  return { args: args.map((type) => TYPES[type]), returns: TYPES[result] };
}
