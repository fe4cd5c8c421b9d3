import { RunError } from "../plan/problem.ts";
import { type Clock, sleepMs, systemClock } from "../runtime/clock.ts";

/**
 * After Ctrl-C or SIGTERM, a run ends within 2 s with its report, unless the machine is overloaded. The first of these limits is for
 * requests in flight, the second for a step of the setup, and the third for each query to the server (counters, settings to restore,
 * metrics).
 */
const INTERRUPTED_GRACE_MS = 500;
const INTERRUPTED_STEP_MS = 1000;
export const INTERRUPTED_LIMIT_NS = 0.5e9; // 0.5 s

const NO_REPORT = "Nothing was measured, so there is no report.";

/** Signals the parts of a run to stop. */
export class RunSignal {
  /** Resolves when the run must stop. */
  readonly stopped: Promise<void>;
  /** Resolves on an error, even after a stop. */
  readonly failed: Promise<void>;
  /** Resolves when the user interrupts the run, even while it is ending. Waits are short from then on. */
  readonly interrupted: Promise<void>;
  /** Resolves when the grace period of requests in flight is over. It begins at the interrupt. */
  readonly graceOver: Promise<void>;
  error: RunError | undefined;
  isInterrupted = false;
  /** Whether an assertion ended the run. The target works, so its counters are still queried. */
  isAborted = false;
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
    this.graceOver = this.interrupted.then(() => sleepMs(INTERRUPTED_GRACE_MS, clock));
  }

  get isStopped(): boolean {
    return this.hasStopped;
  }

  /** Ends the run on the user's request; its partial result is reported. */
  interrupt(): void {
    this.isInterrupted = true;
    this.settleInterrupted();
    this.stop();
  }

  /** Ends the run because an assertion failed. Waits are short from then on. */
  abort(error: RunError): void {
    if (this.hasStopped) return;
    this.error = error;
    this.isAborted = true;
    this.settleInterrupted();
    this.stop();
  }

  /** Ends the run with an error. Only the first error counts. */
  fail(error: RunError): void {
    this.settleFailed();
    if (this.hasStopped) return;
    this.error = error;
    this.stop();
  }

  /** Waits for a step of the setup. Rejects with `RunError` when the user interrupts first, because there is nothing to report. */
  async unlessInterrupted<T>(step: Promise<T>): Promise<T> {
    // Give the step time to finish, so that its changes on the server can be undone, but do not wait for one that hangs.
    const waited = this.interrupted.then(() => sleepMs(INTERRUPTED_STEP_MS, this.clock));
    const given = await Promise.race([step, waited]).catch((error: unknown) => {
      if (!this.isInterrupted) throw error;
    });
    this.checkBefore();
    return given as T;
  }

  /** @throws RunError when the user has interrupted before the first request, because there is nothing to report */
  checkBefore(): void {
    if (this.isInterrupted) throw new RunError("interrupted", "interrupted before the first request", NO_REPORT);
  }

  private stop(): void {
    this.hasStopped = true;
    this.settle();
  }
}
