import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { runtimeName } from "../../src/runtime/runtime.ts";
import { LIMIT } from "../time-limit.ts";

/** Rampart as a process of its own, under the runtime that runs the test, or as the executable that RAMPART_COMMAND names. */

export const ROOT = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const TIMEOUT_MS = LIMIT.timeout / 2;

/** What a process did. */
export interface ProcessResult {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

/** A process that was started. */
export interface RunningProcess {
  readonly result: Promise<ProcessResult>;
  /** Resolves once the process has printed it; rejects when it ends without. */
  waitFor(pattern: RegExp): Promise<RegExpExecArray>;
  /** Ctrl-C, or another signal. */
  interrupt(signal?: NodeJS.Signals): void;
}

/** Where a process runs. */
export interface ProcessOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What it reads; by default nothing, from a pipe that is closed at once. */
  readonly stdin?: "closed" | "open";
}

/** The command that runs a TypeScript file under the runtime of this process. */
export function scriptCommand(file: string): string[] {
  return runtimeName === "deno" ? [process.execPath, "run", "-A", file] : [process.execPath, file];
}

/** The command line that is `rampart`. */
export function rampartCommand(): string[] {
  const given = process.env["RAMPART_COMMAND"];
  return given === undefined || given === "" ? scriptCommand(join(ROOT, "src", "main.ts")) : given.split(" ");
}

/** Starts a process; one that does not end by itself is killed after {@link TIMEOUT_MS}. */
export function startProcess(command: readonly string[], options: ProcessOptions = {}): RunningProcess {
  const [program = "", ...args] = command;
  const child = spawn(program, args, {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, NO_COLOR: "1", ...options.env },
    stdio: ["pipe", "pipe", "pipe"],
  });
  if (options.stdin !== "open") child.stdin.end();
  const texts = { out: "", err: "" };
  const waiters = new Set<() => void>();
  const collect = (name: "out" | "err") => (chunk: Buffer) => {
    texts[name] += chunk.toString();
    for (const check of [...waiters]) check();
  };
  child.stdout.on("data", collect("out"));
  child.stderr.on("data", collect("err"));
  const result = new Promise<ProcessResult>((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), TIMEOUT_MS);
    child.once("error", reject);
    child.once("close", (code) => {
      clearTimeout(timer);
      child.stdin.destroy();
      resolve({ code, ...texts });
    });
  });
  const waitFor = (pattern: RegExp): Promise<RegExpExecArray> =>
    new Promise((resolve, reject) => {
      const check = (): void => {
        const match = pattern.exec(texts.out + texts.err);
        if (match === null) return;
        waiters.delete(check);
        resolve(match);
      };
      waiters.add(check);
      check();
      const fail = (): void => reject(new Error(`ended without printing ${pattern}:\n${texts.out}${texts.err}`));
      void result.then(fail, fail);
    });
  // Not child.kill: Deno then takes the exit code 130 for an end by the signal.
  const interrupt = (signal: NodeJS.Signals = "SIGINT"): void => {
    if (child.pid !== undefined) process.kill(child.pid, signal);
  };
  return { result, waitFor, interrupt };
}

/** Starts `rampart ARGS`. */
export function startRampart(args: readonly string[], options: ProcessOptions = {}): RunningProcess {
  return startProcess([...rampartCommand(), ...args], options);
}

/** Runs `rampart ARGS` to its end. */
export function runRampart(args: readonly string[], options: ProcessOptions = {}): Promise<ProcessResult> {
  return startRampart(args, options).result;
}

/** A folder outside the repository, removed at the end of its scope. */
export interface TestFolder extends Disposable {
  readonly path: string;
}

/** Creates a folder with these files. */
export function createFolder(files: Readonly<Record<string, string>>): TestFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), "rampart-test-")));
  for (const [name, text] of Object.entries(files)) {
    const file = join(path, name);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  }
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** Calls `use` with a folder of its own. */
export async function inFolder<T>(
  files: Readonly<Record<string, string>>,
  use: (folder: string) => Promise<T>,
): Promise<T> {
  using folder = createFolder(files);
  return await use(folder.path);
}
