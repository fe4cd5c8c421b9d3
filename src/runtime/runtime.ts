import { isMainThread } from "node:worker_threads";
/** The supported runtimes. */
export type RuntimeName = "bun" | "deno" | "node";

interface BunGlobal {
  readonly version: string;
  readonly main: string;
  readonly unsafe: { setJITPolicy?(policy: number): void };
}

interface DenoGlobal {
  readonly version: { readonly deno: string };
  readonly mainModule: string;
  readonly build: { readonly standalone?: boolean };
}

const globals = globalThis as { Bun?: BunGlobal; Deno?: DenoGlobal };

/** The runtime of this process. */
export const runtimeName: RuntimeName =
  globals.Bun !== undefined ? "bun" : globals.Deno !== undefined ? "deno" : "node";

/** Whether this is an executable made by `bun build --compile` or `deno compile`. */
export const isExecutable: boolean =
  globals.Bun !== undefined
    ? globals.Bun.main.startsWith("/$bunfs/") || globals.Bun.main.startsWith("B:\\~BUN\\")
    : globals.Deno?.build.standalone === true;

/** Returns the path or URL of the module with which this process was started; in an executable, its entry. Empty if there is none. */
export function entryModule(): string {
  if (!isMainThread) return "";
  return globals.Bun?.main ?? globals.Deno?.mainModule ?? process.argv[1] ?? "";
}

/**
 * Ends the start-up phase. Call once, when the actual work begins. Rampart's executable starts Bun in the interpreter
 * (`--compile-jit-policy`), so that compilation does not compete with the start-up. From this call on, code is
 * JIT-compiled as usual.
 */
export function endStartUp(): void {
  if (isExecutable) globals.Bun?.unsafe.setJITPolicy?.(1);
}
