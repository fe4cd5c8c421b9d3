import type { Duration } from "../../plan/units.ts";

/** Arguments of `setup` and `teardown` of a scenario. */

/** Output of a finished command. Also thrown if a command fails. */
export interface ShellOutput {
  /** Standard output. */
  readonly stdout: string;
  /** Standard error output. */
  readonly stderr: string;
  /** Exit code; null if a signal ended the command. */
  readonly exitCode: number | null;
  /** All output, including standard error. */
  text(): string;
  /** All output, line by line. */
  lines(): string[];
}

/** A command that was started. Awaiting it returns its output, or throws it if the exit code is not 0. */
export interface ShellCommand extends PromiseLike<ShellOutput> {
  /** Prevents an error if the command fails. */
  nothrow(): ShellCommand;
  /** Fails the command if it takes longer: `"10s"`, without a blank. */
  timeout(duration: `${number}s` | `${number}ms`): ShellCommand;
  /** All output, including standard error. */
  text(): Promise<string>;
  /** All output, line by line. */
  lines(): Promise<string[]>;
}

/** Options of {@link Shell}. */
export interface ShellOptions {
  /** Working folder of the command. Default: the scenario's folder. */
  readonly cwd?: string;
  /** The whole environment of the command. Default: the environment of the run. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Text for its standard input. Default: none. */
  readonly input?: string;
  /** Prevents an error if the command fails. Default: false. */
  readonly nothrow?: boolean;
}

/**
 * zx's `$`: runs a command in bash, with each value in it quoted as one argument, and a list as several.
 * @example
 * await $`docker run --detach --name ${name} --publish 8000:8000 ${image}`;
 */
export interface Shell {
  (pieces: TemplateStringsArray, ...values: readonly unknown[]): ShellCommand;
  (options: ShellOptions): Shell;
}

/** Options of {@link HookContext.waitUntilReady}. */
export interface ReadyOptions {
  /** Longest wait, after which an error is thrown. Default: `"60 s"`. */
  readonly timeout?: Duration;
}

/** Options of {@link HookContext.start}. */
export interface StartOptions extends ReadyOptions {
  /** Condition to wait for: an address as in `waitUntilReady`, or a pattern in the process's output. Default: none. */
  readonly ready?: string | RegExp;
  /** Working folder of the process. Default: the scenario's folder. */
  readonly cwd?: string;
  /** Variables in addition to the run's environment. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A process in the background. */
export interface StartedProcess {
  /** Process id. */
  readonly pid: number;
  /** The match of the pattern `ready`, with its groups; empty without a pattern. */
  readonly match: readonly string[];
  /** Returns the end of its output, up to 64 KiB. */
  output(): string;
  /** Stops it and its children, with SIGTERM and after 10 s with SIGKILL. Otherwise this happens after `teardown`. */
  stop(): Promise<void>;
}

/** The argument of `setup`. `V` are the values of `params`. */
export interface HookContext<V> {
  /** zx's `$`, which needs bash. Its commands run in the scenario's folder and print nothing. */
  readonly $: Shell;
  /** The values of the scenario's parameters. */
  readonly params: V;
  /** The command line of Rampart itself, for `rampart mock`: `` $`${rampart} mock` `` or `start([...rampart, "mock"])`. */
  readonly rampart: readonly [string, ...string[]];
  /**
   * Starts a process in the background, which is stopped at the end in any case. Resolves when it is ready. Rejects if it ends before
   * that, with an error that contains its output.
   * @param command a command line for the shell, or a program and its arguments
   */
  start(command: string | readonly [string, ...string[]], options?: StartOptions): Promise<StartedProcess>;
  /**
   * Waits until an address is ready: an `http://` or `https://` URL that responds with a status from 200 to 299, or `host:port` that
   * accepts a connection.
   */
  waitUntilReady(address: string, options?: ReadyOptions): Promise<void>;
  /** Returns a port of this machine that is currently free. */
  freePort(): Promise<number>;
}

/** The argument of `teardown`. */
export interface TeardownContext<V, R> extends HookContext<V> {
  /** The result of `setup`; undefined if it failed or does not exist. */
  readonly started: R | undefined;
}
