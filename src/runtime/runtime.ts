/** Which of the three supported JavaScript runtimes runs this process, and how it was packed. */

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

/** The runtime's own version, for example `1.4.5`. */
export const runtimeVersion: string = globals.Bun?.version ?? globals.Deno?.version.deno ?? process.versions.node;

/** True inside an executable made by `bun build --compile` or `deno compile`. */
export const isExecutable: boolean =
  globals.Bun !== undefined
    ? globals.Bun.main.startsWith("/$bunfs/") || globals.Bun.main.startsWith("B:\\~BUN\\")
    : globals.Deno?.build.standalone === true;

/**
 * The module this process was started with, as a path or URL; empty when there is none.
 * In an executable it is the executable's own entry.
 */
export function entryModule(): string {
  return globals.Bun?.main ?? globals.Deno?.mainModule ?? process.argv[1] ?? "";
}

/**
 * To be called once when the work proper begins. Bun's executable is built to start in the interpreter (`--compile-jit-policy`), which
 * leaves both cores to what a start needs; from now on code is compiled as usual.
 */
export function endStartUp(): void {
  if (isExecutable) globals.Bun?.unsafe.setJITPolicy?.(1);
}
