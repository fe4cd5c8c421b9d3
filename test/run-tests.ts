import { spawn } from "node:child_process";
import { createWriteStream, existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { longestFiles, readJunit, type TestCase } from "./junit.ts";

/** Runs checks and groups of tests as processes, each with its log in the folder {@link work}. */

/** The repository. */
export const root = join(import.meta.dirname, "..");
/** Where logs, JUnit files and what tests note for each other go. */
export const work = join(root, ".cache", "test");

/** The most lines that are shown of a failure or a log. */
export const MAX_FAILURE_LINES = 30;
/** Files of a group whose times are printed: the longest ones. */
const LONGEST_FILES = 8;
/** Far longer than a group takes on a busy machine: a group that is ended loses all its results. */
const MAX_GROUP_MS = 60 * 60_000;

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
  const code = await runCommand(command, {}, log);
  console.log(`${name}: ${code === 0 ? "passed" : "failed"} in ${((Date.now() - startMs) / 1000).toFixed(0)} s`);
  return { name, failure: code === 0 ? undefined : readFileSync(log, "utf8"), isSkipped: false };
}

/** Runs a group of tests, prints how many there were, how long they took and which files took longest, and gives what came of each. */
export async function runTests({ name, command, env, junit }: TestRun): Promise<TestCase[]> {
  const startMs = Date.now();
  const log = join(work, `${name.replaceAll(" ", "-")}.log`);
  const code = await runCommand(command, env, log);
  const cases = existsSync(junit) ? readJunit(junit) : [];
  console.log(`${name}: ${cases.length} tests in ${((Date.now() - startMs) / 1000).toFixed(0)} s`);
  for (const [file, timeSec] of longestFiles(cases, LONGEST_FILES))
    console.log(`  ${timeSec.toFixed(0).padStart(4)} s  ${file.slice(Math.max(0, file.lastIndexOf("/test/") + 1))}`);
  const hasFailure = cases.some(({ failure }) => failure !== undefined);
  if (code === 0 && cases.length > 0) return cases;
  if (hasFailure) return cases;
  // The runner failed without a failed test: that is one.
  return [...cases, { name: `${name} ends well`, failure: `exit code ${code}\n${tail(log)}`, isSkipped: false }];
}

/** Runs a command with its output in a log. Returns its exit code; it is ended when it takes too long. */
function runCommand(command: readonly string[], env: Readonly<Record<string, string>>, log: string): Promise<number> {
  const [program, ...args] = command as [string, ...string[]];
  const output = createWriteStream(log);
  const child = spawn(program, args, {
    cwd: root,
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pipe(output, { end: false });
  child.stderr.pipe(output, { end: false });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill("SIGKILL"), MAX_GROUP_MS);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      output.end(() => resolve(code ?? 1));
    });
  });
}

function tail(log: string): string {
  return readFileSync(log, "utf8").split("\n").slice(-MAX_FAILURE_LINES).join("\n");
}
