import { spawn } from "node:child_process";
import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { MetricsJson } from "../../src/report/schema/metrics.ts";
import { makeFolder } from "../make-folder.ts";
import { LIMIT } from "../time-limit.ts";

/** The command under test, as child processes: `RAMPART_COMMAND` (the source on this Node when it is not set). */

const repository = join(import.meta.dirname, "..", "..");

/** Program and first arguments. */
export const commandUnderTest: readonly string[] = process.env["RAMPART_COMMAND"]?.split(" ") ?? [
  process.execPath,
  join(repository, "src", "main.ts"),
];

/** What came of a run. */
export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** How a run is made. */
export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Program and first arguments that start it, such as those of a host. Default: none. */
  readonly enter?: readonly string[];
  /** Called once the process runs; may signal it. */
  readonly onStart?: (kill: (signal: NodeJS.Signals) => void) => void;
  /** Called with all of stdout so far; may signal the process. */
  readonly onStdout?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
  /** The same for standard error. */
  readonly onStderr?: (text: string, kill: (signal: NodeJS.Signals) => void) => void;
}

/** Before the test ends, so that the message has what was printed. */
const MOST_MS = LIMIT.timeout / 2;

/** Runs the command under test to its end. Rejects when it does not end in time. */
export function runRampart(args: readonly string[], options: RunOptions = {}): Promise<Outcome> {
  const [program, ...first] = [...(options.enter ?? []), ...commandUnderTest] as [string, ...string[]];
  const child = spawn(program, [...first, ...args], {
    cwd: options.cwd ?? repository,
    env: { ...process.env, ...options.env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let stdout = "";
  let stderr = "";
  options.onStart?.((signal) => child.kill(signal));
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
    options.onStdout?.(stdout, (signal) => child.kill(signal));
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
    options.onStderr?.(stderr, (signal) => child.kill(signal));
  });
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`${args.join(" ")} did not end within ${MOST_MS} ms; it printed:\n${stdout}\n${stderr}`));
    }, MOST_MS);
    child.on("error", reject);
    child.on("close", (code) => {
      clearTimeout(timer);
      resolve({ code, stdout, stderr });
    });
  });
}

/** What the JSON report says of all requests of a run. */
export interface RequestTotals {
  readonly sent: number;
  readonly completed: number;
  readonly failed: number;
}

/** The part of the JSON report that the suite looks at. */
export interface JsonReport {
  readonly requests: RequestTotals;
  readonly connections: number;
  readonly isPartial: boolean;
  readonly error?: { readonly code: string; readonly message: string };
  readonly notes: readonly { readonly code: string; readonly text: string }[];
  readonly server?: { readonly successCount: number; readonly failCount: number };
  readonly failures: readonly { readonly kind: string; readonly count: number; readonly example: string }[];
  readonly levels: readonly {
    readonly level: number;
    readonly completed: number;
    readonly outcome: string;
    readonly metrics: MetricsJson;
    readonly load: { readonly delivered: number };
  }[];
  /** Of a load of sessions. */
  readonly sessions?: { readonly sessionCount: number; readonly isChain?: true };
  readonly assertions: readonly { readonly isMet: boolean }[];
}

/** Runs the command with `--json` and reads the report. */
export async function runWithReport(
  args: readonly string[],
  options: RunOptions = {},
): Promise<Outcome & { report: JsonReport }> {
  const folder = makeFolder();
  const file = join(folder, "report.json");
  const outcome = await runRampart([...args, "--json", file], options);
  let text: string;
  try {
    text = readFileSync(file, "utf8");
  } catch {
    throw new Error(`no report was written; exit code ${outcome.code}\n${outcome.stdout}\n${outcome.stderr}`);
  }
  return { ...outcome, report: JSON.parse(text) as JsonReport };
}

/** Notes numbers that must be the same whatever runs the command: `RAMPART_E2E_RECORD` names the file. */
export function recordNumbers(test: string, numbers: object): void {
  const file = process.env["RAMPART_E2E_RECORD"];
  if (file !== undefined) appendFileSync(file, `${JSON.stringify({ test, numbers })}\n`);
}
