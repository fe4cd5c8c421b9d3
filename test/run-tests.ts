import { spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import type { Readable } from "node:stream";
import { longestFiles, readJunit, type TestCase } from "./junit.ts";
import { watchMemory } from "./watch-memory.ts";

/** Runs checks and groups of tests as processes, each with its log in the folder {@link work}. */

/** The repository. */
export const root = join(import.meta.dirname, "..");
/** Where logs, JUnit files and what tests note for each other go. */
export const work = join(root, ".cache", "test");

/** The seed of the properties that have none of their own, see `seed.ts`. */
export const SEED_VARIABLE = "RAMPART_TEST_SEED";
/** The most lines that are shown of a failure or a log. */
export const MAX_FAILURE_LINES = 30;
/** Lines of a group's log that name the tests that ran when it took too much memory. */
const RUNNING_LINES = 8;
/** Files of a group whose times are printed: the longest ones. */
const LONGEST_FILES = 8;
/** Far longer than a group takes on a busy machine: a group that is ended loses all its results. */
const MAX_GROUP_SEC = 3600;

/** A group of tests for one test runner. */
export interface TestRun {
  readonly name: string;
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The JUnit file that the command writes. */
  readonly junit: string;
}

/** Empties the folder {@link work}. */
export function clearWork(): void {
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
}

/** Runs a command that is a test itself: it passes when it exits with 0. */
export async function runCheck(name: string, command: readonly string[]): Promise<TestCase> {
  const log = join(work, `${name.replaceAll(/\W+/g, "-")}.log`);
  const startMs = Date.now();
  console.log(`${name}: begins`);
  const { code, cpuSec } = await runCommand(command, {}, log);
  console.log(`${name}: ${code === 0 ? "passed" : "failed"} in ${formatTime(startMs, cpuSec)}`);
  return { name, failure: code === 0 ? undefined : readFileSync(log, "utf8"), isSkipped: false };
}

/** Runs a group of tests, prints how many there were, how long they took and which files took longest, and gives what came of each. */
export async function runTests({ name, command, env, junit }: TestRun): Promise<TestCase[]> {
  const startMs = Date.now();
  const log = join(work, `${name.replaceAll(" ", "-")}.log`);
  const { code, cpuSec } = await runCommand(command, env, log);
  const cases = existsSync(junit) ? readJunit(junit) : [];
  // A process that was ended leaves no report, whatever it ran before.
  const what =
    code === 0 || cases.length > 0 ? `${cases.length} tests` : `${describeEnd(code)}, and its tests are lost,`;
  console.log(`${name}: ${what} in ${formatTime(startMs, cpuSec)}`);
  for (const [file, timeSec] of longestFiles(cases, LONGEST_FILES))
    console.log(`  ${timeSec.toFixed(0).padStart(4)} s  ${file.slice(Math.max(0, file.lastIndexOf("/test/") + 1))}`);
  const hasFailure = cases.some(({ failure }) => failure !== undefined);
  if (code === 0 && cases.length > 0) return cases;
  if (hasFailure) return cases;
  // The runner failed without a failed test: that is one.
  return [...cases, { name: `${name} ends well`, failure: `${describeEnd(code)}\n${tail(log)}`, isSkipped: false }];
}

/** How a command ended. */
interface Ended {
  readonly code: number;
  /** CPU time of it and of all processes that it waited for: unlike the wall time, it does not depend on what else the machine does. */
  readonly cpuSec: number;
}

/** Runs the command after it, and ends it when it takes too long; then prints its CPU time to the file descriptor 3. */
const TIMED = `timeout --foreground -s KILL ${MAX_GROUP_SEC} "$@"; code=$?; times >&3; exit $code`;

/** Runs a command with its output in a log. */
function runCommand(command: readonly string[], env: Readonly<Record<string, string>>, log: string): Promise<Ended> {
  const output = createWriteStream(log);
  const child = spawn("sh", ["-c", TIMED, "sh", ...command], {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  child.stdout?.pipe(output, { end: false });
  child.stderr?.pipe(output, { end: false });
  const stopWatching = watchMemory(child.pid ?? 0, (text) => {
    console.log(`${basename(log)}: ${text}\n${tail(log, RUNNING_LINES)}`);
    output.write(`${text}\n`);
  });
  let times = "";
  (child.stdio[3] as Readable).setEncoding("utf8").on("data", (text: string) => {
    times += text;
  });
  return new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code) => {
      stopWatching();
      output.end(() => resolve({ code: code ?? 1, cpuSec: readCpuSec(times) }));
    });
  });
}

/** Reads what the shell's `times` prints: user and system time of the shell, then of its children, such as 1m2.5s. */
function readCpuSec(times: string): number {
  const parts = [...times.matchAll(/(\d+)m([\d.]+)s/g)];
  return parts.reduce((sum, [, minutes, seconds]) => sum + 60 * Number(minutes) + Number(seconds), 0);
}

/** Describes how a shell's command ended: above 128 its exit code is the number of a signal. */
function describeEnd(code: number): string {
  return code > 128 ? `ended by signal ${code - 128}` : `ended with exit code ${code}`;
}

function formatTime(startMs: number, cpuSec: number): string {
  return `${((Date.now() - startMs) / 1000).toFixed(0)} s, ${cpuSec.toFixed(0)} s of CPU`;
}

/** The last lines of a log. */
function tail(log: string, lines = MAX_FAILURE_LINES): string {
  return readFileSync(log, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
}
