import type {
  CallbackSignature,
  NativeBackend,
  NativeResult,
  NativeSignature,
  NativeSymbols,
  NativeType,
  RawFunction,
} from "./native.ts";

/** The part of Deno's FFI that is used. */
interface DenoFfi {
  dlopen(name: string, symbols: Record<string, object>): { readonly symbols: Record<string, RawFunction> };
  readonly UnsafeFnPointer: new (pointer: object | null, signature: object) => { readonly call: RawFunction };
  readonly UnsafePointer: { create(address: bigint): object | null; value(pointer: object): bigint | number };
  readonly UnsafeCallback: {
    threadSafe(signature: object, action: RawFunction): { readonly pointer: object };
  };
  readonly UnsafePointerView: { copyInto(pointer: object | null, destination: Uint8Array): void };
}

/** Addresses are passed as 64-bit integers, because Deno's own pointers are objects. */
const TYPES: Readonly<Record<NativeType | NativeResult, string>> = {
  i32: "i32",
  u32: "u32",
  i64: "i64",
  f64: "f64",
  usize: "usize",
  pointer: "usize",
  buffer: "buffer",
  void: "void",
};

/** Callbacks that must not be garbage-collected. */
const kept: object[] = [];

/** Native calls through `Deno.dlopen`. */
export function openDenoBackend(): NativeBackend {
  const { Deno } = globalThis as typeof globalThis & { Deno: DenoFfi };
  return {
    openSystemLibrary: (name, symbols) => Deno.dlopen(name, describeAll(symbols)).symbols,
    functionAt: (address, signature) => {
      const native = new Deno.UnsafeFnPointer(Deno.UnsafePointer.create(address), describe(signature));
      return (...args) => native.call(...args);
    },
    readMemory: (address, sizeBytes) => {
      const bytes = new Uint8Array(sizeBytes);
      Deno.UnsafePointerView.copyInto(Deno.UnsafePointer.create(address), bytes);
      return bytes;
    },
    createCallback: (signature, action) => {
      const callback = Deno.UnsafeCallback.threadSafe(describe(signature), action);
      kept.push(callback);
      return BigInt(Deno.UnsafePointer.value(callback.pointer));
    },
  };
}

function describeAll(symbols: NativeSymbols): Record<string, object> {
  return Object.fromEntries(Object.entries(symbols).map(([name, signature]) => [name, describe(signature)]));
}

function describe({ args, result }: NativeSignature | CallbackSignature): object {
  return { parameters: args.map((type) => TYPES[type]), result: TYPES[result] };
}
