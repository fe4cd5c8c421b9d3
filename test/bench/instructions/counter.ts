import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { promisify } from "node:util";

/** Counts the instructions that a program executes outside of the kernel: with the processor's counters, or with a simulated processor. */

const run = promisify(execFile);
const EVENT = "instructions:u";
const ASK_LIMIT_MS = 60_000;
/** perf opens its counters. */
const PERF_START_MS = 200;
/** Code is translated again for counting. */
const TRANSLATE_MS = 5000;

/** A way to count instructions. */
export interface InstructionCounter {
  readonly name: string;
  /** What stands before the command of a program. */
  readonly prefix: readonly string[];
  /** Counts the instructions of a program that is running, of all its threads, from the call of `during` until it has resolved. */
  count(pid: number, during: () => Promise<unknown>): Promise<number>;
  close(): void;
}

/** Programs that count. */
export interface CountingPrograms {
  readonly perf?: string;
  readonly valgrind?: string;
}

/** Returns the best way that works here, or why none does. */
export async function findCounter({
  perf = "perf",
  valgrind = "valgrind",
}: CountingPrograms = {}): Promise<InstructionCounter | { readonly reason: string }> {
  const perfReason = await whyNotPerf(perf);
  if (perfReason === undefined) return perfCounter(perf);
  const valgrindReason = await run(valgrind, ["--version"]).then(
    () => undefined,
    (error: Error) => error.message,
  );
  if (valgrindReason === undefined) return callgrindCounter(valgrind);
  return { reason: `perf stat: ${perfReason}; callgrind: ${valgrindReason}` };
}

async function whyNotPerf(perf: string): Promise<string | undefined> {
  try {
    const { stderr } = await run(perf, ["stat", "-x", ",", "-e", EVENT, "--", "true"]);
    readPerfCount(stderr);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** Reads the number of instructions from what `perf stat -x ,` prints. @throws Error with perf's words where it has none */
export function readPerfCount(output: string): number {
  const line = output.split("\n").find((text) => text.includes(`,${EVENT}`)) ?? "";
  const [value = ""] = line.split(",");
  if (!/^\d+$/.test(value)) throw new Error(value === "" ? `no ${EVENT} in: ${output.trim()}` : value);
  return Number(value);
}

function perfCounter(perf: string): InstructionCounter {
  return {
    name: "perf stat",
    prefix: [],
    count: async (pid, during) => {
      const child = spawn(perf, ["stat", "-x", ",", "-e", EVENT, "-p", String(pid)], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      let output = "";
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        output += text;
      });
      const ended = once(child, "close");
      await wait(PERF_START_MS);
      await during();
      child.kill("SIGINT");
      await ended;
      return readPerfCount(output);
    },
    close: () => {},
  };
}

function callgrindCounter(valgrind: string): InstructionCounter {
  const folder = mkdtempSync(join(tmpdir(), "rampart-callgrind-"));
  // Compiled code changes, but not that of files.
  const options = ["--tool=callgrind", "--instr-atstart=no", "--smc-check=all-non-file"];
  const ask = async (pid: number, ...words: string[]): Promise<void> => {
    await run("vgdb", [`--pid=${pid}`, ...words], { timeout: ASK_LIMIT_MS });
  };
  return {
    name: "callgrind",
    prefix: [valgrind, ...options, `--callgrind-out-file=${join(folder, "%p")}`],
    count: async (pid, during) => {
      await ask(pid, "instrumentation", "on");
      await wait(TRANSLATE_MS);
      await ask(pid, "zero");
      await during();
      await ask(pid, "dump");
      return readCallgrindCount(readFileSync(join(folder, `${pid}.1`), "utf8"));
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Reads the number of instructions from a file of callgrind. */
export function readCallgrindCount(profile: string): number {
  const [, count] = /^(?:summary|totals): (\d+)/m.exec(profile) ?? [];
  if (count === undefined) throw new Error("callgrind has written no sum");
  return Number(count);
}
