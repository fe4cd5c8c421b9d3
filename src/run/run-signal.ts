import type { RunError } from "../plan/problem.ts";

/** Tells the parts of a run to stop, and why. */
export class RunSignal {
  /** Resolves when the run is to stop. */
  readonly stopped: Promise<void>;
  /** Resolves when the run cannot go on, also after it was told to stop. */
  readonly failed: Promise<void>;
  error: RunError | undefined;
  isInterrupted = false;
  private readonly settle: () => void;
  private readonly settleFailed: () => void;
  private hasStopped = false;

  constructor() {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.stopped = promise;
    this.settle = resolve;
    const failing = Promise.withResolvers<void>();
    this.failed = failing.promise;
    this.settleFailed = failing.resolve;
  }

  get isStopped(): boolean {
    return this.hasStopped;
  }

  /** The user wants the run to end; what was measured so far is reported. */
  interrupt(): void {
    this.isInterrupted = true;
    this.stop();
  }

  /** The run cannot go on. Only the first reason counts. */
  fail(error: RunError): void {
    this.settleFailed();
    if (this.hasStopped) return;
    this.error = error;
    this.stop();
  }

  private stop(): void {
    this.hasStopped = true;
    this.settle();
  }
}
