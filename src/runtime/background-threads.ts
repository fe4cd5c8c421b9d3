import { readdirSync, readFileSync } from "node:fs";
import { setPriority } from "node:os";

/** What threads that work ahead are called: the compilers of JavaScriptCore and of V8 in Node and Deno, and Bun's tidier of memory. */
const BACKGROUND: ReadonlySet<string> = new Set(["JITWorker", "V8Worker", "V8 DefaultWorke", "mi-scavenger"]);
/**
 * A sixth of the time of a thread that wants the core as well. Much less would be worse than nothing where all cores are busy: the collector
 * waits for a compiling thread to come to a point where it may stop, and so the thread that sends waited 100 to 600 ms at 19.
 */
const NICENESS = 8;
const TASKS = "/proc/self/task";
/** Runtimes start such threads when there is more to compile. */
const LOOK_AGAIN_MS = 100;
/** By then all code that matters has been compiled. */
const LOOKS = 100;

let known: ReadonlySet<string> = new Set();
let timer: ReturnType<typeof setInterval> | undefined;
let looks = 0;

/**
 * Lets the threads that compile this program's hot code or give memory back run after others, those included that are started within the
 * next seconds, and from then on until they end: on a core that they share with the thread that sends, they would make it late. Called again (a thread that had nothing to do ends, and a later run starts another), it looks again for as long. Linux only;
 * elsewhere, and where the system does not allow it, nothing changes.
 */
export function yieldBackgroundThreads(): void {
  if (process.platform !== "linux") return;
  looks = 0;
  timer ??= setInterval(look, LOOK_AGAIN_MS);
  timer.unref?.();
  look();
}

function look(): void {
  if (++looks < LOOKS && lowerNewThreads()) return;
  clearInterval(timer);
  timer = undefined;
}

/** Lowers such threads that were not there before; false where threads cannot be listed. */
function lowerNewThreads(): boolean {
  let threads: string[];
  try {
    threads = readdirSync(TASKS);
  } catch {
    return false;
  }
  // Those that have ended are forgotten: another thread may get the id.
  known = new Set(threads.filter((thread) => known.has(thread) || lower(thread)));
  return true;
}

/** Lowers a thread that works ahead; false while it may not have its name yet. */
function lower(thread: string): boolean {
  try {
    const name = readFileSync(`${TASKS}/${thread}/comm`, "utf8");
    if (BACKGROUND.has(name.trim())) setPriority(Number(thread), NICENESS);
    // A new thread has its creator's name at first.
    return name !== readFileSync("/proc/self/comm", "utf8");
  } catch {
    // It has just ended, or the system does not allow it.
    return true;
  }
}
