/** The processes that measure together. */
export interface Peers {
  /** Number of processes, including this one. */
  readonly count: number;
  /** Number of this process, 0 to `count` - 1. */
  readonly rank: number;
  /** Resolves when every process is about to begin the next level or has ended, or when `signal` is stopped. */
  waitForAll(signal: Stoppable): Promise<void>;
  /**
   * Reports whether a window was stable, and returns whether all processes were stable after the same number of windows. Does not
   * wait when `signal` is stopped.
   */
  areAllStable(isStable: boolean, signal: Stoppable): Promise<boolean>;
  /** Reports that this process has finished measuring. Resolves when all processes have, or when `signal` is stopped. */
  waitForEnd(signal: Stoppable): Promise<void>;
  /** Leaves. Call when all reports are written. Without an earlier `waitForEnd`, the others see this process as missing. */
  close(): Promise<void>;
}

/** Something that can be stopped. */
export interface Stoppable {
  readonly isStopped: boolean;
}

/** A process that measures alone. */
export const ALONE: Peers = {
  count: 1,
  rank: 0,
  waitForAll: () => Promise.resolve(),
  areAllStable: (isStable) => Promise.resolve(isStable),
  waitForEnd: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
