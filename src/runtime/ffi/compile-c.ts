import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runtimeName } from "../runtime.ts";
import { NativeError, type RawFunction } from "./native.ts";

/** The part of `bun:ffi` that is used. */
interface BunCompiler {
  cc(options: { source: string; symbols: Record<string, object> }): { readonly symbols: Record<string, RawFunction> };
  JSCallback: new (
    callback: () => void,
    definition: { args: readonly string[]; returns: string; threadsafe: boolean },
  ) => { readonly ptr: number | bigint | null };
}

/**
 * Compiles C with the compiler inside Bun, also in an executable. The source declares what it uses, because there may be no headers.
 * @param names functions without parameters that return an address
 * @returns the results of these functions
 * @throws NativeError when this runtime has no compiler, or the source does not compile
 */
export function compileC<const Name extends string>(
  source: string,
  names: readonly Name[],
): { readonly [K in Name]: bigint } {
  if (runtimeName !== "bun") throw new NativeError(`${runtimeName} has no C compiler`);
  const folder = mkdtempSync(join(tmpdir(), "rampart-c-"));
  try {
    const path = join(folder, "source.c");
    writeFileSync(path, source);
    const symbols = Object.fromEntries(names.map((name) => [name, { args: [], returns: "u64" }]));
    const compiled = loadCompiler().cc({ source: path, symbols });
    return Object.fromEntries(names.map((name) => [name, BigInt(compiled.symbols[name]?.() ?? 0)])) as {
      readonly [K in Name]: bigint;
    };
  } catch (error) {
    throw new NativeError(`C code could not be compiled: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Callbacks live as long as the process. */
const kept: unknown[] = [];

/** Returns the address of a C function without parameters and result that any thread may call: this thread then calls `action` soon. */
export function createWake(action: () => void): bigint {
  const { JSCallback } = loadCompiler();
  const callback = new JSCallback(action, { args: [], returns: "void", threadsafe: true });
  kept.push(callback);
  return BigInt(callback.ptr ?? 0);
}

/** A dynamic name hides the module from bundlers: other runtimes do not have it. */
function loadCompiler(): BunCompiler {
  return createRequire(import.meta.url)("bun:ffi") as BunCompiler;
}
