/** The processes that measure together. */
export interface Peers {
  /** How many there are, this one included. */
  readonly count: number;
  /** Resolves when all are about to begin the next level, or no longer take part; or when `signal` says stop. */
  waitForAll(signal: Stoppable): Promise<void>;
  /** Tells the others how a window ended, and whether all are stable after as many. When `signal` says stop it does not wait. */
  areAllStable(isStable: boolean, signal: Stoppable): Promise<boolean>;
  /** Tells the others that there is nothing more to measure here, and resolves when that is so everywhere; or when `signal` says stop. */
  waitForEnd(signal: Stoppable): Promise<void>;
  /** Takes no further part; to be called when all reports are written. Whoever has not waited for the end is told to be missing. */
  close(): Promise<void>;
}

/** Something that may be told to stop. */
export interface Stoppable {
  readonly isStopped: boolean;
}

/** A process that measures by itself. */
export const ALONE: Peers = {
  count: 1,
  waitForAll: () => Promise.resolve(),
  areAllStable: (isStable) => Promise.resolve(isStable),
  waitForEnd: () => Promise.resolve(),
  close: () => Promise.resolve(),
};
