import { runtimeName } from "../runtime.ts";
import {
  type CallbackSignature,
  type NativeBackend,
  NativeError,
  type NativeSignature,
  type NativeSymbols,
  type NativeType,
  type RawFunction,
} from "./native.ts";

interface NativeValues {
  readonly i32: number;
  readonly u32: number;
  readonly i64: bigint;
  readonly f64: number;
  readonly usize: bigint;
  readonly pointer: bigint;
  readonly buffer: Uint8Array;
  readonly void: undefined;
}

type Arguments<Types extends readonly NativeType[]> = { -readonly [Index in keyof Types]: NativeValues[Types[Index]] };

/** A C function as a JavaScript function. */
export type NativeFunction<Signature extends NativeSignature> = (
  ...args: Arguments<Signature["args"]>
) => NativeValues[Signature["result"]];

/** An open library. It stays open until the process ends. */
export interface NativeLibrary<Symbols extends NativeSymbols> {
  /** The name, among those tried, with which the library was opened. */
  readonly name: string;
  readonly functions: { readonly [Name in keyof Symbols]: NativeFunction<Symbols[Name]> };
  /** Returns the address of a symbol, such as a variable. @throws NativeError if the library lacks it */
  addressOf(symbol: string): bigint;
  /** Returns the NUL-terminated UTF-8 text at an address. */
  readText(address: bigint): string;
  /** Returns a copy of `sizeBytes` (0 or more) at an address. Reading unmapped memory crashes the process. */
  readMemory(address: bigint, sizeBytes: number): Uint8Array;
  functionAt<const Signature extends NativeSignature>(address: bigint, signature: Signature): NativeFunction<Signature>;
}

/** Libraries with `dlopen`: libc of glibc 2.34 and musl, libdl of older glibc, libSystem of macOS. */
const LOADERS = ["libc.so.6", "libdl.so.2", "libc.so", "libSystem.B.dylib"];
const LOADER_SYMBOLS = {
  dlopen: { args: ["buffer", "i32"], result: "pointer" },
  dlsym: { args: ["pointer", "buffer"], result: "pointer" },
  dlerror: { args: [], result: "pointer" },
} as const satisfies NativeSymbols;
const RTLD_NOW = 2;
const RTLD_GLOBAL = process.platform === "darwin" ? 8 : 0x100;
const PAGE_BYTES = 4096; // the smallest page size

interface Loader {
  readonly backend: NativeBackend;
  readonly dlopen: NativeFunction<(typeof LOADER_SYMBOLS)["dlopen"]>;
  readonly dlsym: NativeFunction<(typeof LOADER_SYMBOLS)["dlsym"]>;
  readonly dlerror: NativeFunction<(typeof LOADER_SYMBOLS)["dlerror"]>;
}

let loader: Promise<Loader> | undefined;

/**
 * Opens the first of these libraries that can be opened, with its symbols visible to libraries opened later. Works on every runtime and in
 * an executable, on 64-bit Linux and macOS. Load this module with `await import()`, only where a feature needs it.
 * @param names for the dynamic loader's search, or paths
 * @throws NativeError with the loader's reason, or the missing symbol
 */
export async function openLibrary<const Symbols extends NativeSymbols>(
  names: readonly string[],
  symbols: Symbols,
): Promise<NativeLibrary<Symbols>> {
  loader ??= openLoader();
  const { backend, dlopen, dlsym, dlerror } = await loader;
  const takeError = (): string => {
    const text = dlerror();
    return text === 0n ? "no reason given" : readTextWith(backend, text);
  };
  const reasons = new Set<string>();
  for (const name of names) {
    const handle = dlopen(toCString(name), RTLD_NOW | RTLD_GLOBAL);
    if (handle === 0n) {
      reasons.add(takeError().replace(`${name}: `, ""));
      continue;
    }
    const addressOf = (symbol: string): bigint => {
      const address = dlsym(handle, toCString(symbol));
      if (address === 0n) throw new NativeError(`the library ${name} has no ${symbol}: ${takeError()}`);
      return address;
    };
    const functions: Record<string, unknown> = {};
    for (const symbol in symbols) {
      const signature = symbols[symbol] as NativeSignature;
      functions[symbol] = bind(backend.functionAt(addressOf(symbol), signature), signature);
    }
    return {
      name,
      addressOf,
      readText: (address) => readTextWith(backend, address),
      readMemory: (address, sizeBytes) =>
        sizeBytes === 0 ? new Uint8Array(0) : backend.readMemory(address, sizeBytes),
      functionAt: (address, signature) => bind(backend.functionAt(address, signature), signature),
      functions: functions as NativeLibrary<Symbols>["functions"],
    };
  }
  throw new NativeError(`could not open ${names.join(" or ")}: ${[...reasons].join("; ")}`);
}

/** A JavaScript function that C calls. */
export type NativeCallback<Signature extends CallbackSignature> = (
  ...args: Arguments<Signature["args"]>
) => Signature["result"] extends "void" ? void : NativeValues[Signature["result"]];

/**
 * Returns the address of a function for C, which lives as long as the process. When C calls it on another thread, `action` runs on this
 * thread as soon as its event loop is free. On Node and Deno, C waits for this; on Bun it does not, and the result is `void`.
 * @param action must not throw
 * @throws NativeError if this runtime cannot return such a result
 */
export async function createCallback<const Signature extends CallbackSignature>(
  signature: Signature,
  action: NativeCallback<Signature>,
): Promise<bigint> {
  loader ??= openLoader();
  const { backend } = await loader;
  const convert = signature.args.map((type) => CONVERSIONS[type]);
  const call = action as unknown as (...args: (number | bigint | undefined)[]) => number | bigint | undefined;
  return backend.createCallback(signature, (...args) =>
    call(...args.map((arg, index) => convert[index]?.(arg as number | bigint))),
  );
}

/** Converts the runtime's arguments of a callback. koffi passes the largest unsigned numbers as negative ones. */
const CONVERSIONS: Readonly<Record<CallbackSignature["args"][number], (value: number | bigint) => number | bigint>> = {
  i32: Number,
  u32: Number,
  f64: Number,
  i64: BigInt,
  usize: (value) => BigInt.asUintN(64, BigInt(value)),
  pointer: (value) => BigInt.asUintN(64, BigInt(value)),
};

/** Encodes a text as NUL-terminated UTF-8. */
export function toCString(text: string): Uint8Array {
  return new TextEncoder().encode(`${text}\0`);
}

async function openLoader(): Promise<Loader> {
  const backend = await loadBackend();
  const reasons: string[] = [];
  for (const name of LOADERS) {
    try {
      const raw = backend.openSystemLibrary(name, LOADER_SYMBOLS);
      const { dlopen, dlsym, dlerror } = raw as Record<keyof typeof LOADER_SYMBOLS, RawFunction>;
      return {
        backend,
        dlopen: bind(dlopen, LOADER_SYMBOLS.dlopen),
        dlsym: bind(dlsym, LOADER_SYMBOLS.dlsym),
        dlerror: bind(dlerror, LOADER_SYMBOLS.dlerror),
      };
    } catch (error) {
      reasons.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new NativeError(`native libraries cannot be opened on this system: ${reasons.join("; ")}`);
}

async function loadBackend(): Promise<NativeBackend> {
  switch (runtimeName) {
    case "bun":
      return (await import("./ffi-bun.ts")).openBunBackend();
    case "deno":
      return (await import("./ffi-deno.ts")).openDenoBackend();
    case "node":
      return (await import("./ffi-node.ts")).openNodeBackend();
  }
}

/** Converts a function's results to the types in its signature, and checks the number of arguments. */
function bind<Signature extends NativeSignature>(raw: RawFunction, signature: Signature): NativeFunction<Signature> {
  const { args: types, result } = signature;
  const call = (...args: (number | bigint | Uint8Array)[]): number | bigint | undefined => {
    if (args.length !== types.length) throw new TypeError(`${args.length} arguments instead of ${types.length}`);
    const value = raw(...args);
    if (result === "void") return undefined;
    return result === "i32" || result === "u32" ? Number(value) : BigInt(value ?? 0);
  };
  return call as unknown as NativeFunction<Signature>;
}

/** Reads page by page, because the next page may not be mapped. */
function readTextWith(backend: NativeBackend, address: bigint): string {
  const parts: Uint8Array[] = [];
  for (let at = address; ; ) {
    const sizeBytes = PAGE_BYTES - Number(at % BigInt(PAGE_BYTES));
    const bytes = backend.readMemory(at, sizeBytes);
    const end = bytes.indexOf(0);
    parts.push(end < 0 ? bytes : bytes.subarray(0, end));
    if (end >= 0) return Buffer.concat(parts).toString("utf8");
    at += BigInt(sizeBytes);
  }
}
