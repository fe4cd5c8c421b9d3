import { RunError } from "../plan/problem.ts";
import { type Clock, sleepMs, systemClock } from "../runtime/clock.ts";

/**
 * After Ctrl-C or SIGTERM a run ends within 5 s with its report. What is in flight has the first time to end well, and each question to
 * the server (counters, settings to restore, metrics) the second.
 */
export const INTERRUPTED_GRACE_MS = 1500;
export const INTERRUPTED_LIMIT_NS = 0.5e9; // 0.5 s

const NO_REPORT = "Nothing was measured, so there is no report.";

/** Tells the parts of a run to stop, and why. */
export class RunSignal {
  /** Resolves when the run is to stop. */
  readonly stopped: Promise<void>;
  /** Resolves when the run cannot go on, also after it was told to stop. */
  readonly failed: Promise<void>;
  /** Resolves when the user wants the run to end, also while it ends already: from then on nothing is waited for long. */
  readonly interrupted: Promise<void>;
  error: RunError | undefined;
  isInterrupted = false;
  private readonly settle: () => void;
  private readonly settleFailed: () => void;
  private readonly settleInterrupted: () => void;
  private readonly clock: Clock;
  private hasStopped = false;

  constructor(clock = systemClock) {
    this.clock = clock;
    const stopping = Promise.withResolvers<void>();
    this.stopped = stopping.promise;
    this.settle = stopping.resolve;
    const failing = Promise.withResolvers<void>();
    this.failed = failing.promise;
    this.settleFailed = failing.resolve;
    const interrupting = Promise.withResolvers<void>();
    this.interrupted = interrupting.promise;
    this.settleInterrupted = interrupting.resolve;
  }

  get isStopped(): boolean {
    return this.hasStopped;
  }

  /** The user wants the run to end; what was measured so far is reported. */
  interrupt(): void {
    this.isInterrupted = true;
    this.settleInterrupted();
    this.stop();
  }

  /** The run cannot go on. Only the first reason counts. */
  fail(error: RunError): void {
    this.settleFailed();
    if (this.hasStopped) return;
    this.error = error;
    this.stop();
  }

  /** Waits for a step of the set-up. Rejects with `RunError` when the user ends the run first: there is nothing to report yet. */
  async unlessInterrupted<T>(step: Promise<T>): Promise<T> {
    // What the step has set on the server can be undone if it ends in order, but one that hangs is not waited for.
    const waited = this.interrupted.then(() => sleepMs(INTERRUPTED_GRACE_MS, this.clock));
    const given = await Promise.race([step, waited]).catch((error: unknown) => {
      if (!this.isInterrupted) throw error;
    });
    if (this.isInterrupted) throw new RunError("interrupted", "interrupted before the first request", NO_REPORT);
    return given as T;
  }

  private stop(): void {
    this.hasStopped = true;
    this.settle();
  }
}
