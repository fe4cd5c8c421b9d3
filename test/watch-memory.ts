import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Ends a process of a test run that takes too much memory, before the kernel ends others for it. */

/** The most memory of one process, GB. The largest group takes below 3. */
export const MAX_MEMORY_GB = 6;
const MAX_BYTES = MAX_MEMORY_GB * 1e9;
const CHECK_EVERY_MS = 2000;
const PAGE_BYTES = 4096;
/** Node writes a report of its heaps, its stack and its handles at this signal when it was started with {@link nodeReports}. */
const REPORT_SIGNAL = "SIGUSR2";
const REPORT_MS = 3000;
const REPORT_OPTION = "--report-on-signal";

/** Options with which Node writes a report into the folder when its process takes too much memory. */
export function nodeReports(folder: string): string[] {
  return [REPORT_OPTION, `--report-directory=${folder}`, "--report-exclude-env"];
}

/** A process, as Linux lists it. */
export interface ListedProcess {
  readonly pid: number;
  readonly parentPid: number;
  readonly residentBytes: number;
}

/** Reads the text of /proc/PID/stat. Undefined for another text, such as that of a process that has ended. */
export function readStat(text: string): ListedProcess | undefined {
  // The second field is the program's name in brackets, which may hold blanks and brackets.
  const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
  const [pid, parentPid, pages] = [Number.parseInt(text, 10), Number(fields[1]), Number(fields[21])];
  return [pid, parentPid, pages].every(Number.isFinite)
    ? { pid, parentPid, residentBytes: pages * PAGE_BYTES }
    : undefined;
}

/** The process and all below it that take more than this number of bytes. */
export function findLarge(processes: readonly ListedProcess[], rootPid: number, maxBytes = MAX_BYTES): ListedProcess[] {
  const parents = new Map(processes.map(({ pid, parentPid }) => [pid, parentPid]));
  const isBelow = (pid: number | undefined): boolean =>
    pid !== undefined && pid > 1 && (pid === rootPid || isBelow(parents.get(pid)));
  return processes.filter(({ pid, residentBytes }) => residentBytes > maxBytes && isBelow(pid));
}

/** Looks at the process and all that it started until the function that is returned is called. @param note is called with a line for each that was ended */
export function watchMemory(rootPid: number, note: (text: string) => void): () => void {
  const ending = new Set<number>();
  const timer = setInterval(() => {
    for (const large of findLarge(listProcesses(), rootPid)) {
      if (ending.has(large.pid)) continue;
      ending.add(large.pid);
      void end(large, note);
    }
  }, CHECK_EVERY_MS);
  return () => clearInterval(timer);
}

async function end({ pid, residentBytes }: ListedProcess, note: (text: string) => void): Promise<void> {
  const command = read(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 200);
  note(`process ${pid} was ended because it took ${(residentBytes / 1e9).toFixed(1)} GB: ${command}`);
  try {
    if (read(`/proc/${pid}/cmdline`).includes(REPORT_OPTION)) {
      process.kill(pid, REPORT_SIGNAL);
      await sleep(REPORT_MS);
    }
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended.
  }
}

/** What was listed last, which serves all groups. */
let listed: { readonly atMs: number; readonly processes: readonly ListedProcess[] } = { atMs: 0, processes: [] };

/** All processes; none where there is no /proc. */
function listProcesses(): readonly ListedProcess[] {
  if (Date.now() - listed.atMs < CHECK_EVERY_MS / 2) return listed.processes;
  const pids = existsSync("/proc") ? readdirSync("/proc").filter((name) => /^\d+$/.test(name)) : [];
  const processes = pids.map((pid) => readStat(read(`/proc/${pid}/stat`))).filter((one) => one !== undefined);
  listed = { atMs: Date.now(), processes };
  return processes;
}

/** The text of a file; empty for a missing one, because processes end while they are listed. */
function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
