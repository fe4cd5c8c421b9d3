import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { runtimeName } from "../runtime.ts";
import { openLibrary } from "./ffi.ts";
import { NativeError, type RawFunction } from "./native.ts";

/** The part of `bun:ffi` that is used. */
interface BunCompiler {
  cc(options: { source: string; symbols: Record<string, object> }): { readonly symbols: Record<string, RawFunction> };
}

/** The system's C compiler, for runtimes without one. */
const COMPILER = "cc";
const COMPILER_ARGS = ["-shared", "-fPIC", "-O2"];
/** File name of the compiler's result. */
const COMPILED = "a.out";
const COMPILER_LIMIT_MS = 30_000;

/**
 * Compiles C: on Bun with its built-in compiler, also in an executable; on Node and Deno with the `cc` of the PATH. The source must declare
 * everything that it uses, because there may be no headers.
 * @param names functions without parameters that return an address
 * @returns the results of these functions
 * @throws NativeError if there is no compiler, or the source does not compile
 */
export async function compileC<const Name extends string>(
  source: string,
  names: readonly Name[],
): Promise<{ readonly [K in Name]: bigint }> {
  const folder = mkdtempSync(join(tmpdir(), "rampart-c-"));
  try {
    const path = join(folder, "source.c");
    writeFileSync(path, source);
    const compile = runtimeName === "bun" ? compileInBun : compileWithSystem;
    return (await compile(path, names)) as { readonly [K in Name]: bigint };
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code === "ENOENT" ? `${COMPILER} is not on the PATH` : message;
    throw new NativeError(`C code could not be compiled: ${reason}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function compileInBun(source: string, names: readonly string[]): Record<string, bigint> {
  // A dynamic name hides the module from bundlers, because other runtimes lack it.
  const { cc } = createRequire(import.meta.url)("bun:ffi") as BunCompiler;
  const { symbols } = cc({ source, symbols: describeAll(names, { args: [], returns: "u64" }) });
  return Object.fromEntries(names.map((name) => [name, BigInt(symbols[name]?.() ?? 0)]));
}

async function compileWithSystem(source: string, names: readonly string[]): Promise<Record<string, bigint>> {
  const folder = dirname(source);
  await promisify(execFile)(COMPILER, [...COMPILER_ARGS, source], { cwd: folder, timeout: COMPILER_LIMIT_MS });
  const { functions } = await openLibrary(
    [join(folder, COMPILED)],
    describeAll(names, { args: [], result: "pointer" } as const),
  );
  return Object.fromEntries(names.map((name) => [name, functions[name]?.() ?? 0n]));
}

function describeAll<Description>(names: readonly string[], description: Description): Record<string, Description> {
  return Object.fromEntries(names.map((name) => [name, description]));
}
