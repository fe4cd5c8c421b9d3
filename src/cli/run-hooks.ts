import { dirname } from "node:path";
import { formatProblem, formatRunError, RunError, UserError } from "../plan/problem.ts";
import { msToSec } from "../plan/units.ts";
import { EXIT } from "../result/exit-codes.ts";
import { thisProgram } from "../runtime/this-program.ts";
import { type BackgroundProcess, createContext, describe, describeEnd } from "../scenario/hooks/context.ts";
import type { HookContext, TeardownContext } from "../scenario/hooks/hook-types.ts";
import { ProcessGroups } from "../scenario/hooks/process-group.ts";
import type { FieldContext } from "../scenario/resolve.ts";
import { toHookError } from "../scenario/scenario-error.ts";
import type { CommandIo, EndSignal } from "./execute.ts";
import { changedIo } from "./guarded-io.ts";
import { withoutErrorsOf } from "./scenario-errors.ts";

/** Runs a scenario between its hooks. `teardown` is called in any case, and no process of a hook is left running. */

/** The hooks of a scenario. */
export interface Hooks {
  readonly setup?: (context: HookContext<object>) => unknown;
  readonly teardown?: (context: TeardownContext<object, unknown>) => unknown;
}

/** Location of the scenario, for its hooks. */
export interface HookPlace extends Pick<FieldContext, "file" | "path"> {
  readonly params: object;
}

/** Time limit of `setup`. The timer also keeps the process alive: Node exits when a hook waits for something that never happens. */
const SETUP_LIMIT_MS = 1_800_000; // 30 min
const TEARDOWN_LIMIT_MS = 60_000;

/**
 * Calls `setup`, `run` with its result, and `teardown`.
 * @param run receives an io whose Ctrl-C leaves time for `teardown`. Returns the exit code
 * @throws UserError or RunError of `setup` and `run`
 */
export async function runWithHooks(
  hooks: Hooks,
  place: HookPlace,
  io: CommandIo,
  run: (started: unknown, io: CommandIo) => Promise<number>,
): Promise<number> {
  const session = new HookSession(hooks, place, io);
  try {
    const started = await session.setUp();
    const code = await session.untilAborted(run(started, session.io));
    const isDone = await session.close();
    session.throwIfAborted();
    return isDone || code !== EXIT.passed ? code : EXIT.usage;
  } finally {
    await session.close();
    session.dispose();
  }
}

class HookSession {
  readonly io: CommandIo;
  private readonly outerIo: CommandIo;
  private readonly hooks: Hooks;
  private readonly place: HookPlace;
  private readonly groups = new ProcessGroups();
  private readonly processes: BackgroundProcess[] = [];
  /** Signal listeners of the run. */
  private readonly listeners = new Set<Parameters<CommandIo["onInterrupt"]>>();
  private readonly aborted = new AbortController();
  /** Aborted when the command must not wait for `teardown` any longer. */
  private readonly hurry = new AbortController();
  private readonly stopListening: () => void;
  private readonly killAll = (): void => this.groups.killAll();
  private started: unknown;
  private closing: Promise<boolean> | undefined;

  constructor(hooks: Hooks, place: HookPlace, io: CommandIo) {
    this.hooks = hooks;
    this.place = place;
    this.outerIo = io;
    this.io = changedIo(io, {
      onInterrupt: (...listener: Parameters<CommandIo["onInterrupt"]>) => {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
      },
    });
    process.on("exit", this.killAll);
    this.stopListening = io.onInterrupt(
      (signal) => this.onSignal(signal),
      () => this.onSecondSignal(),
    );
  }

  /** Calls `setup`. Returns its result. */
  async setUp(): Promise<unknown> {
    const { setup } = this.hooks;
    if (setup === undefined) return undefined;
    this.started = await this.untilAborted(
      this.call("setup", SETUP_LIMIT_MS, async () => setup(await this.createContext(this.aborted.signal))),
    );
    return this.started;
  }

  /** Calls `teardown` and stops the processes, once. Resolves with true if `teardown` succeeded. */
  close(): Promise<boolean> {
    this.closing ??= this.tearDown();
    return this.closing;
  }

  /** Throws if the user did not wait for the end. */
  throwIfAborted(): void {
    this.aborted.signal.throwIfAborted();
  }

  dispose(): void {
    this.stopListening();
    process.off("exit", this.killAll);
  }

  /** Rejects as soon as the user ends the run. */
  async untilAborted<T>(running: Promise<T>): Promise<T> {
    running.catch(() => {});
    const { signal } = this.aborted;
    let onAbort = (): void => {};
    const end = new Promise<never>((_resolve, reject) => {
      onAbort = () => reject(signal.reason);
      signal.addEventListener("abort", onAbort);
      if (signal.aborted) onAbort();
    });
    try {
      return await Promise.race([running, end]);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  private async tearDown(): Promise<boolean> {
    const { teardown } = this.hooks;
    this.reportEnded();
    let isDone = true;
    if (teardown !== undefined) {
      try {
        await this.call("teardown", TEARDOWN_LIMIT_MS, async () =>
          teardown({ ...(await this.createContext(this.hurry.signal)), started: this.started }),
        );
      } catch (error) {
        isDone = false;
        if (!(error instanceof UserError || error instanceof RunError)) throw error;
        const texts = error instanceof UserError ? error.problems.map(formatProblem) : [formatRunError(error)];
        for (const text of texts) this.outerIo.err(`rampart: ${text}\n`);
      }
    }
    await this.groups.stopAll();
    return isDone;
  }

  /** Reports processes that ended by themselves, because the server may have ended during the measurement. */
  private reportEnded(): void {
    if (this.aborted.signal.aborted) return;
    for (const background of this.processes) {
      const { command, end } = background;
      if (end === undefined || end.code === 0) continue;
      this.outerIo.err(
        `rampart: ${command}, which setup started, ended ${describeEnd(end)}. ${describe(background)}\n`,
      );
    }
  }

  private createContext(signal: AbortSignal): Promise<HookContext<object>> {
    const { groups, processes, place } = this;
    const { command, args } = thisProgram();
    return createContext({
      params: place.params,
      rampart: [command, ...args],
      folder: dirname(place.path),
      groups,
      processes,
      signal,
    });
  }

  /** Calls a hook. @throws UserError, or RunError of its helpers */
  private async call(name: keyof Hooks, limitMs: number, hook: () => Promise<unknown>): Promise<unknown> {
    const { file, path } = this.place;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(new Error(`it has not ended after ${msToSec(limitMs)} s`)), limitMs);
      this.hurry.signal.addEventListener("abort", () => reject(new Error("it was not waited for")));
    });
    try {
      return await withoutErrorsOf(file, Promise.race([hook(), late]));
    } catch (error) {
      throw error instanceof RunError || error instanceof UserError ? error : toHookError(error, name, file, path);
    } finally {
      clearTimeout(timer);
    }
  }

  private onSignal(signal: EndSignal): void {
    for (const [onInterrupt] of this.listeners) onInterrupt(signal);
    if (this.listeners.size > 0) return;
    if (this.closing !== undefined) {
      this.outerIo.err(
        `rampart: interrupted by ${signal}, waiting for teardown (press Ctrl-C again to stop at once)\n`,
      );
      return;
    }
    this.abort(`interrupted by ${signal}`);
  }

  /** Stops waiting for the run. A `teardown` that began earlier is not awaited. */
  private onSecondSignal(): Promise<void> {
    for (const [, leave] of this.listeners) void leave?.();
    if (this.closing !== undefined) this.hurry.abort();
    this.abort("interrupted");
    return this.close().then(() => {});
  }

  private abort(message: string): void {
    this.aborted.abort(new RunError("interrupted", message, "What setup started is stopped."));
  }
}
