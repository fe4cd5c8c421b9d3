import { createRequire } from "node:module";
import {
  type CallbackSignature,
  type NativeBackend,
  NativeError,
  type NativeResult,
  type NativeSignature,
  type NativeType,
  type RawFunction,
} from "./native.ts";

/** The part of koffi that is used. */
interface Koffi {
  load(name: string): { func(name: string, result: string, args: readonly string[]): RawFunction };
  proto(name: null, result: string, args: readonly string[]): object;
  decode(address: bigint, type: object): RawFunction;
  view(address: bigint, sizeBytes: number): ArrayBuffer;
  pointer(type: object): object;
  register(action: RawFunction, type: object): bigint;
}

/** Addresses are passed as 64-bit integers, because koffi's own pointers are typed. */
const TYPES: Readonly<Record<NativeType | NativeResult, string>> = {
  i32: "int32_t",
  u32: "uint32_t",
  i64: "int64_t",
  f64: "double",
  usize: "uint64_t",
  pointer: "uint64_t",
  buffer: "void *",
  void: "void",
};

/** Native calls through koffi, because Node has no FFI. @throws NativeError if koffi is not installed */
export function openNodeBackend(): NativeBackend {
  const koffi = loadKoffi();
  return {
    openSystemLibrary: (name, symbols) => {
      const library = koffi.load(name);
      return Object.fromEntries(
        Object.entries(symbols).map(([symbol, signature]) => [symbol, library.func(symbol, ...describe(signature))]),
      );
    },
    functionAt: (address, signature) => koffi.decode(address, koffi.proto(null, ...describe(signature))),
    readMemory: (address, sizeBytes) => new Uint8Array(koffi.view(address, sizeBytes)).slice(),
    createCallback: (signature, action) =>
      koffi.register(action, koffi.pointer(koffi.proto(null, ...describe(signature)))),
  };
}

/** A dynamic name hides koffi's native part from bundlers. */
function loadKoffi(): Koffi {
  try {
    return createRequire(import.meta.url)("koffi") as Koffi;
  } catch (error) {
    const reason = error instanceof Error ? error.message.split("\n")[0] : String(error);
    throw new NativeError(
      `Node calls native libraries through the package koffi (npm install koffi), which cannot be loaded: ${reason}`,
    );
  }
}

function describe({ args, result }: NativeSignature | CallbackSignature): [result: string, args: string[]] {
  return [TYPES[result], args.map((type) => TYPES[type])];
}
