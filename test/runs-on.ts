import { readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * Where a test file runs. Unit tests run on Bun, and end-to-end tests on the executable, unless their first line says otherwise:
 *
 *     // Runs on: bun, deno, node.
 *     // Runs on: executable, deno, node.
 *     // Runs on: bun, deno, node; alone: it uses names of shared memory.
 *     // Runs only on: executable: other programs start it.
 *
 * `alone` keeps it apart from other tests with names of shared memory. `only` holds with `npm test -- --all` too. Tests of the folders
 * {@link EVERYWHERE} need no such line: they run on every runtime.
 */

export const RUNTIMES = ["bun", "deno", "node"] as const;
export type Runtime = (typeof RUNTIMES)[number];
export type Runner = Runtime | "executable";
const RUNNERS: readonly Runner[] = [...RUNTIMES, "executable"];

/** Folders of what differs between runtimes: sockets, threads, processes, and regular expressions with their alphabets. */
export const EVERYWHERE = ["mock", "runtime", "runtime-entry", "tokenize", "transport"];

/** Where a file runs. */
export interface RunsOn {
  readonly runners: readonly Runner[];
  /** Not at the same time as another such file. */
  readonly isAlone: boolean;
  /** Nowhere else, whatever is asked for. */
  readonly isOnly: boolean;
  /** Whether it names servers that a whole run shares. It may count their requests, so it is the only one that uses them. */
  readonly sharesServers: boolean;
}

const SHARED_SERVERS = /\bopenTriton\b|RAMPART_TEST_(TRITON|LLAMA|STUB)/;

/** Whether tests run the command as users do. */
export function isEndToEnd(path: string): boolean {
  return path.startsWith("./test/e2e/");
}

/** Where a file runs by default. @param path from the repository, with `./` */
function runsByDefault(path: string): readonly Runner[] {
  if (isEndToEnd(path)) return ["executable"];
  return EVERYWHERE.some((folder) => path.startsWith(`./test/${folder}/`)) ? RUNTIMES : ["bun"];
}

/** Where a file with this text runs. Throws when its line says nothing new, or what nothing is. */
export function readRunsOn(path: string, text: string): RunsOn {
  const [line = ""] = text.split("\n", 1);
  const usual = runsByDefault(path);
  const sharesServers = SHARED_SERVERS.test(text);
  if (!/^\/\/ runs\b/i.test(line)) return { runners: usual, isAlone: false, isOnly: false, sharesServers };
  const match = /^\/\/ Runs (only )?on: ([a-z, ]+?)(; alone)?(?:: .+)?\.$/.exec(line);
  const names = match?.[2]?.split(", ") ?? [];
  const runners = RUNNERS.filter((name) => names.includes(name));
  if (names.length === 0 || runners.length < names.length) throw new Error(`${path}: not understood: ${line}`);
  const [isOnly, isAlone] = [match?.[1] !== undefined, match?.[3] !== undefined];
  if (!isOnly && !isAlone && runners.join() === usual.join()) throw new Error(`${path}: it runs there anyway: ${line}`);
  return { runners, isAlone, isOnly, sharesServers };
}

/** Where a file runs. */
export function runsOn(root: string, path: string): RunsOn {
  return readRunsOn(path, readFileSync(join(root, path), "utf8"));
}
