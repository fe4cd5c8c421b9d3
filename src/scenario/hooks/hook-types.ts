import type { Duration } from "../../plan/units.ts";

/** What `setup` and `teardown` of a scenario get. */

/** What a finished command printed. It is also thrown when a command fails. */
export interface ShellOutput {
  /** What it printed on standard output. */
  readonly stdout: string;
  /** What it printed on standard error. */
  readonly stderr: string;
  /** Null when a signal ended it. */
  readonly exitCode: number | null;
  /** All that it printed, standard error included. */
  text(): string;
  /** The same line by line. */
  lines(): string[];
}

/** A command that was started. Awaiting it gives its output, or throws it when the exit code is not 0. */
export interface ShellCommand extends PromiseLike<ShellOutput> {
  /** Does not throw when the command fails. */
  nothrow(): ShellCommand;
  /** Fails the command when it takes longer: `"10s"`, without a blank. */
  timeout(duration: `${number}s` | `${number}ms`): ShellCommand;
  /** All that it printed, standard error included. */
  text(): Promise<string>;
  /** The same line by line. */
  lines(): Promise<string[]>;
}

/** Options of {@link Shell}. */
export interface ShellOptions {
  /** Its working folder. Default: the scenario's folder. */
  readonly cwd?: string;
  /** The whole environment of the command. Default: that of the run. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Text for its standard input. Default: none. */
  readonly input?: string;
  /** Do not throw when the command fails. Default: false. */
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
  /** It is an error when this takes longer. Default: `"60 s"`. */
  readonly timeout?: Duration;
}

/** Options of {@link HookContext.start}. */
export interface StartOptions extends ReadyOptions {
  /**
   * What to wait for: an address as in `waitUntilReady`, or a pattern in what the process prints. Default: nothing.
   */
  readonly ready?: string | RegExp;
  /** Its working folder. Default: the scenario's folder. */
  readonly cwd?: string;
  /** Variables besides those of the run's environment. Default: none. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A process in the background. */
export interface StartedProcess {
  /** Its number. */
  readonly pid: number;
  /** The match of the pattern `ready`, with its groups; empty without one. */
  readonly match: readonly string[];
  /** The end of what it has printed, up to 64 KiB. */
  output(): string;
  /** Stops it and its children, by SIGTERM and after 10 s by SIGKILL. Otherwise that happens after `teardown`. */
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
   * Starts a process in the background, which is stopped at the end whatever happens. Resolves when it is ready; it is an error when it
   * ends before, and the error has what it printed.
   * @param command a command line for the shell, or a program and its arguments
   */
  start(command: string | readonly [string, ...string[]], options?: StartOptions): Promise<StartedProcess>;
  /**
   * Waits until an address is ready: an `http://` or `https://` URL that answers with a status from 200 to 299, or `host:port` that accepts
   * a connection.
   */
  waitUntilReady(address: string, options?: ReadyOptions): Promise<void>;
  /** Returns a port of this machine that is free now. */
  freePort(): Promise<number>;
}

/** The argument of `teardown`. */
export interface TeardownContext<V, R> extends HookContext<V> {
  /** What `setup` returned; undefined when it failed or there is none. */
  readonly started: R | undefined;
}
