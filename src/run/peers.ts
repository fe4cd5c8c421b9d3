import type { Plan } from "../plan/plan.ts";
import { messageOf } from "../plan/problem.ts";

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

/**
 * Finds those that a plan is to be run with: the other ranks of an MPI job, where the plan says so and there is one.
 * @param tell is told what the user should know, in lines
 */
export async function joinPeers(plan: Plan, tell: (line: string) => void): Promise<Peers> {
  if (!plan.client.isMpi) return ALONE;
  const { isMpiRank, openMpi } = await import("../runtime/mpi.ts");
  if (!isMpiRank()) {
    tell("rampart: --enable-mpi has no effect: this process was not started by mpirun.");
    return ALONE;
  }
  try {
    const { MpiPeers } = await import("./mpi-peers.ts");
    return new MpiPeers(await openMpi(), tell);
  } catch (error) {
    tell(`rampart: --enable-mpi has no effect, and this rank measures by itself: ${messageOf(error)}`);
    return ALONE;
  }
}
