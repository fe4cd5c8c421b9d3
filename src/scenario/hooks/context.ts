import { durationHint } from "../../plan/nearest-name.ts";
import { messageOf, RunError, userError } from "../../plan/problem.ts";
import { showValue } from "../../plan/show-value.ts";
import { type Duration, formatDurationNs, nsToMs, parseDurationNs } from "../../plan/units.ts";
import { findFreePort, isAddress, waitForAddress } from "../../transport/wait-for-address.ts";
import type { HookContext, ReadyOptions, Shell, StartedProcess, StartOptions } from "./hook-types.ts";
import type { ProcessEnd, ProcessGroup, ProcessGroups } from "./process-group.ts";

/** Creates the arguments of hooks. */

const MAX_OUTPUT_CHARACTERS = 65_536;
/** Number of last lines of a failed process's output that errors contain. */
const MAX_SHOWN_LINES = 20;
const DEFAULT_TIMEOUT: Duration = "60 s";

/** A process started by `start`. */
export interface BackgroundProcess extends StartedProcess {
  readonly command: string;
  /** End of the process if it ended by itself; undefined while it runs, and after `stop`. */
  readonly end: ProcessEnd | undefined;
}

/** Environment of hooks. */
export interface HookSettings {
  readonly params: object;
  /** The command line of Rampart itself. */
  readonly rampart: readonly [string, ...string[]];
  /** The scenario's folder. */
  readonly folder: string;
  readonly groups: ProcessGroups;
  /** Receives the processes that `start` starts. */
  readonly processes: BackgroundProcess[];
  /** Aborted when the hook's result no longer matters. */
  readonly signal: AbortSignal;
}

/** Creates the argument of `setup`. */
export async function createContext(settings: HookSettings): Promise<HookContext<object>> {
  const { params, processes, rampart, signal } = settings;
  return {
    $: await createShell(settings),
    params,
    rampart,
    start: (given, options = {}) => start(given, options, settings),
    waitUntilReady: async (address, options = {}) => {
      checkAddress(address);
      await withTimeout(`${address} is not ready`, options, signal, (limit, note) =>
        Promise.race([waitForAddress(address, limit, note), ...processes.map((other) => failAtEnd(other))]),
      );
    },
    freePort: findFreePort,
  };
}

function checkAddress(address: unknown): void {
  if (typeof address === "string" && isAddress(address)) return;
  const hint = "Give an http:// or https:// URL, or host:port.";
  throw userError("invalid-value", "setup", "cannot wait for this address", hint, showValue(address));
}

/** zx searches for bash when it is loaded. Without bash, only `$` cannot be used. */
async function createShell({ folder, groups }: HookSettings): Promise<Shell> {
  const { $ } = await import("zx/core");
  const shell = $({ cwd: folder, spawn: groups.spawn, quiet: true, verbose: false });
  if ($.quote !== undefined) return shell as Shell;
  return () => {
    const hint = "Install bash, or start programs with start([program, …]).";
    throw userError("unsupported", "setup", "$ needs bash, and this host has none", hint);
  };
}

async function start(
  given: string | readonly [string, ...string[]],
  options: StartOptions,
  { folder, groups, processes, signal }: HookSettings,
): Promise<StartedProcess> {
  if (typeof options.ready === "string") checkAddress(options.ready);
  const isText = typeof given === "string";
  const [program, ...args] = isText ? [given] : given;
  const { cwd = folder, env = {}, ready } = options;
  const child = groups.spawn(program, args, {
    cwd,
    env: { ...process.env, ...env },
    shell: isText,
    stdio: ["ignore", "pipe", "pipe"],
  });
  const failed = new Promise<never>((_resolve, reject) => child.once("error", reject));
  const started = new Background(isText ? given : given.join(" "), groups.of(child));
  processes.push(started);
  const waiting = withTimeout(`${started.command} is not ready`, options, signal, async (limit, note) => {
    const isReady = waitFor(ready, started, limit, note);
    await Promise.race([isReady, failed, ...(ready === undefined ? [] : [failAtEnd(started)])]);
  });
  try {
    await waiting;
  } catch (error) {
    await started.stop();
    if (error instanceof RunError) throw error;
    throw new RunError("unreachable", `${started.command} cannot be started: ${messageOf(error)}`, "Correct setup.");
  }
  return started;
}

/** Waits for an address, or for a pattern in the output; without either, until the process has been started. */
async function waitFor(
  ready: string | RegExp | undefined,
  started: Background,
  limit: AbortSignal,
  note: (reason: string) => void,
): Promise<void> {
  if (typeof ready === "string") return waitForAddress(ready, limit, note);
  if (ready === undefined) {
    // A process that cannot be started reports its error soon.
    if (started.pid === 0) await new Promise<never>(() => {});
    return;
  }
  note(`it has not printed ${ready}`);
  await started.waitForOutput(ready);
}

/** Rejects when a process ends by itself. */
async function failAtEnd(started: BackgroundProcess): Promise<never> {
  const end = await (started as Background).group.ended;
  // Its last output may arrive after its end.
  await new Promise((resolve) => setImmediate(resolve));
  if ((started as Background).isStopped) return new Promise(() => {});
  throw new RunError(
    "unreachable",
    `${started.command} ended ${describeEnd(end)} before it was ready`,
    describe(started),
  );
}

/** Describes how a process ended: `with exit code 3`. */
export function describeEnd({ code, signal }: ProcessEnd): string {
  return code === null ? `by ${signal ?? "an error"}` : `with exit code ${code}`;
}

/** Describes the output of a process by its last lines. */
export function describe(started: StartedProcess): string {
  const lines = started.output().trimEnd().split("\n");
  const shown = lines.slice(-MAX_SHOWN_LINES);
  return shown.join("") === "" ? "It printed nothing." : `It printed:\n${shown.map((line) => `  ${line}`).join("\n")}`;
}

/** Rejects with the last note if the wait takes too long. */
async function withTimeout(
  what: string,
  { timeout = DEFAULT_TIMEOUT }: ReadyOptions,
  signal: AbortSignal,
  wait: (limit: AbortSignal, note: (reason: string) => void) => Promise<void>,
): Promise<void> {
  const limitNs = parseDurationNs(timeout);
  if (limitNs === undefined) {
    const hint = durationHint(timeout, 'Give a duration with its unit, such as "10 s".');
    throw userError("invalid-value", "setup", "a timeout is not a duration", hint, String(timeout));
  }
  let reason = "";
  const controller = new AbortController();
  const limit = AbortSignal.any([controller.signal, signal]);
  const late = new Promise<never>((_resolve, reject) => {
    limit.addEventListener("abort", () => {
      const why = reason === "" ? "" : `: ${reason}`;
      reject(
        new RunError("unreachable", `${what} after ${formatDurationNs(limitNs)}${why}`, "Look at what it waits for."),
      );
    });
  });
  const timer = setTimeout(() => controller.abort(), nsToMs(limitNs));
  try {
    await Promise.race([
      wait(limit, (text) => {
        reason = text;
      }),
      late,
    ]);
  } finally {
    clearTimeout(timer);
    late.catch(() => {});
    controller.abort();
  }
}

class Background implements BackgroundProcess {
  readonly command: string;
  readonly group: ProcessGroup;
  readonly pid: number;
  match: readonly string[] = [];
  isStopped = false;
  private text = "";
  /** Called with the kept end of the output, and the text that has just arrived. */
  private onOutput = (_text: string): void => {};

  constructor(command: string, group: ProcessGroup) {
    this.command = command;
    this.group = group;
    this.pid = group.child.pid ?? 0;
    for (const stream of [group.child.stdout, group.child.stderr]) {
      stream?.setEncoding("utf8").on("data", (text: string) => {
        const output = this.text + text;
        this.onOutput(output);
        this.text = output.slice(-MAX_OUTPUT_CHARACTERS);
      });
    }
  }

  get end(): ProcessEnd | undefined {
    return this.isStopped ? undefined : this.group.end;
  }

  output(): string {
    return this.text;
  }

  waitForOutput(pattern: RegExp): Promise<void> {
    return new Promise((resolve) => {
      this.onOutput = (text) => {
        const match = text.match(pattern);
        if (match === null) return;
        this.match = [...match];
        this.onOutput = () => {};
        resolve();
      };
      this.onOutput(this.text);
    });
  }

  async stop(): Promise<void> {
    this.isStopped ||= this.group.end === undefined;
    await this.group.stop();
  }
}
