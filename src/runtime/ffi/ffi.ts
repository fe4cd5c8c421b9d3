import { runtimeName } from "../runtime.ts";
import {
  type NativeBackend,
  NativeError,
  type NativeSignature,
  type NativeSymbols,
  type NativeType,
  type RawFunction,
} from "./native.ts";

/**
 * Calls into native libraries, the same on every runtime and in an executable: Linux and macOS, 64 bits. Load this module with `await
 * import()`, only where a feature needs it.
 */

interface NativeValues {
  readonly i32: number;
  readonly u32: number;
  readonly i64: bigint;
  readonly usize: bigint;
  readonly pointer: bigint;
  readonly buffer: Uint8Array;
  readonly void: undefined;
}

type Arguments<Types extends readonly NativeType[]> = { -readonly [Index in keyof Types]: NativeValues[Types[Index]] };

/** A function of C as a function of JavaScript. */
export type NativeFunction<Signature extends NativeSignature> = (
  ...args: Arguments<Signature["args"]>
) => NativeValues[Signature["result"]];

/** An open library. It stays open until the process ends. */
export interface NativeLibrary<Symbols extends NativeSymbols> {
  /** The name, of those tried, that it was opened under. */
  readonly name: string;
  readonly functions: { readonly [Name in keyof Symbols]: NativeFunction<Symbols[Name]> };
  /** The address of any symbol of the library, for example of a variable. @throws NativeError when it has none of that name. */
  addressOf(symbol: string): bigint;
  /** As {@link readText}, at once. */
  readText(address: bigint): string;
}

/** Where dlopen is: libc of glibc 2.34 and musl, libdl of older glibc, libSystem of macOS. */
const LOADERS = ["libc.so.6", "libdl.so.2", "libc.so", "libSystem.B.dylib"];
const LOADER_SYMBOLS = {
  dlopen: { args: ["buffer", "i32"], result: "pointer" },
  dlsym: { args: ["pointer", "buffer"], result: "pointer" },
  dlerror: { args: [], result: "pointer" },
} as const satisfies NativeSymbols;
const RTLD_NOW = 2;
const RTLD_GLOBAL = process.platform === "darwin" ? 8 : 0x100;
const PAGE_BYTES = 4096; // no page of either system is smaller

interface Loader {
  readonly backend: NativeBackend;
  readonly dlopen: NativeFunction<(typeof LOADER_SYMBOLS)["dlopen"]>;
  readonly dlsym: NativeFunction<(typeof LOADER_SYMBOLS)["dlsym"]>;
  readonly dlerror: NativeFunction<(typeof LOADER_SYMBOLS)["dlerror"]>;
}

let loader: Promise<Loader> | undefined;

/**
 * Opens the first of these libraries that can be opened (names for the dynamic loader's search, or paths), its symbols visible to
 * libraries that are opened later.
 * @throws NativeError naming the libraries and the loader's reason, or the symbol that is missing.
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
      functions: functions as NativeLibrary<Symbols>["functions"],
    };
  }
  throw new NativeError(`could not open ${names.join(" or ")}: ${[...reasons].join("; ")}`);
}

/** A copy of `sizeBytes` (0 or more) of memory at an address. What is not mapped there ends the process. */
export async function readMemory(address: bigint, sizeBytes: number): Promise<Uint8Array> {
  loader ??= openLoader();
  const { backend } = await loader;
  return sizeBytes === 0 ? new Uint8Array(0) : backend.readMemory(address, sizeBytes);
}

/** The text at an address, UTF-8 up to its NUL. */
export async function readText(address: bigint): Promise<string> {
  loader ??= openLoader();
  return readTextWith((await loader).backend, address);
}

/** A text as C takes it: UTF-8 and a NUL. */
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

/** Gives a function the values its signature promises, whatever the runtime makes of 64 bits, and refuses what would be read as another. */
function bind<Signature extends NativeSignature>(raw: RawFunction, signature: Signature): NativeFunction<Signature> {
  const { args: types, result } = signature;
  const call = (...args: (number | bigint | Uint8Array)[]): number | bigint | undefined => {
    if (args.length !== types.length) throw new TypeError(`${args.length} arguments instead of ${types.length}`);
    const value = raw(...args);
    if (result === "void") return undefined;
    if (result === "i32" || result === "u32") return Number(value);
    return BigInt(value ?? 0);
  };
  return call as unknown as NativeFunction<Signature>;
}

/** Reads up to the end of a page at a time: beyond it nothing may be mapped. */
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
