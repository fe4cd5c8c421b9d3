import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";
import { startsCold } from "./cold-start.ts";

/** Names of background threads: the JIT compilers of JavaScriptCore and of V8 (Node, Deno), and Bun's memory scavenger. */
const BACKGROUND: ReadonlySet<string> = new Set([
  "JITWorker",
  "JSCWarmUp",
  "V8Worker",
  "V8 DefaultWorke",
  "mi-scavenger",
]);
/**
 * About a sixth of the weight of a normal thread. A much lower weight would be harmful when all cores are busy: the garbage
 * collector waits for a compiling thread to reach a safe point, which delayed the sending thread by 100 to 600 ms at 19.
 */
const NICENESS = 8;
const TASKS = "/proc/self/task";
/** Runtimes start such threads when there is more to compile. */
const CHECK_INTERVAL_MS = 100;
/** After this number of checks, all hot code has been compiled. */
const MAX_CHECKS = 100;

let known: ReadonlySet<string> = new Set();
let timer: ReturnType<typeof setInterval> | undefined;
let checks = 0;

/**
 * Lowers the priority of this process's background threads, and of those that start within the next 10 seconds, so that they do not
 * delay the sending thread on a shared core. Call it before every run, because idle threads end and new ones start. Linux only; does
 * nothing elsewhere, or if the system does not allow it.
 */
export function yieldBackgroundThreads(): void {
  if (process.platform !== "linux" || startsCold()) return;
  checks = 0;
  timer ??= setInterval(check, CHECK_INTERVAL_MS);
  timer.unref?.();
  check();
}

function check(): void {
  if (++checks < MAX_CHECKS && lowerNewThreads()) return;
  clearInterval(timer);
  timer = undefined;
}

/** Lowers new background threads. Returns false if threads cannot be listed. */
function lowerNewThreads(): boolean {
  let threads: string[];
  try {
    threads = readdirSync(TASKS);
  } catch {
    return false;
  }
  // Forget ended threads, because a new thread may get the same id.
  known = new Set(threads.filter((thread) => known.has(thread) || lower(thread)));
  return true;
}

/** Lowers a background thread. Returns false if the thread may not have its final name yet. */
function lower(thread: string): boolean {
  try {
    const name = readFileSync(`${TASKS}/${thread}/comm`, "utf8");
    if (BACKGROUND.has(name.trim())) setPriority(Number(thread), NICENESS);
    // A new thread starts with its creator's name.
    return name !== readFileSync("/proc/self/comm", "utf8");
  } catch {
    // The thread has just ended, or the system does not allow it.
    return true;
  }
}
