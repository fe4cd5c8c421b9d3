import { readFileSync } from "node:fs";
import { runCommandLine } from "../../../src/cli/commands.ts";
import { captureIo } from "../captured-io.ts";

/** Command lines of perf_analyzer mode within the test's process. */

/** What a command line did. */
export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A command line that is running. */
export interface RunningCommand {
  readonly result: Promise<CommandResult>;
  /** Ctrl-C. */
  interrupt(): void;
  /** What it printed so far. */
  printed(): string;
}

/** Starts `rampart perf_analyzer ARGS`. @param errColumns width of the terminal at stderr. Default: stderr is no terminal */
export function startCommand(args: readonly string[], errColumns?: number): RunningCommand {
  const listeners = new Set<() => void>();
  const captured = captureIo((callback) => {
    const listener = (): void => callback("SIGINT");
    listeners.add(listener);
    return () => {
      listeners.delete(listener);
    };
  }, errColumns);
  return {
    result: runCommandLine("rampart", ["perf_analyzer", ...args], captured.io).then((code) => {
      const { out, err } = captured;
      return { code, out, err };
    }),
    interrupt: () => {
      for (const listener of [...listeners]) listener();
    },
    printed: () => captured.out + captured.err,
  };
}

/** Runs `rampart perf_analyzer ARGS` to its end. */
export function runCommand(args: readonly string[]): Promise<CommandResult> {
  return startCommand(args).result;
}

/** Three short windows that always agree: the quickest measurement there is in windows. */
export const QUICK_WINDOWS: readonly string[] = ["-p", "50", "-s", "1000000", "-r", "100"];

/** A profile export, as far as tests read it. Times are nanoseconds since the epoch, rounded to a double's precision. */
export interface ProfileExport {
  readonly experiments: {
    readonly experiment: { readonly mode: string; readonly value: number };
    readonly requests: {
      readonly timestamp: number;
      readonly request_inputs: Record<string, unknown>;
      readonly response_timestamps: number[];
      readonly response_outputs: Record<string, unknown>[];
    }[];
    readonly window_boundaries: number[];
  }[];
  readonly version: string;
  readonly service_kind: string;
  readonly endpoint: string;
}

/** Reads a profile export. */
export function readProfile(path: string): ProfileExport {
  return JSON.parse(readFileSync(path, "utf8")) as ProfileExport;
}
