import { type Clock, sleepMs, systemClock } from "../../runtime/clock.ts";
import type { MpiWorld } from "../../runtime/launch/mpi.ts";
import type { Peers, Stoppable } from "./peers.ts";

/** Messages between ranks. */
const MESSAGES = { level: 1, stable: 2, unstable: 3, ended: 4, missing: 5 } as const;

const POLL_MS = 1;

interface Peer {
  readonly rank: number;
  /** Number of levels that it has reached. */
  level: number;
  /** Stability of its windows at that level, as far as it is not yet compared with this rank's. */
  readonly verdicts: boolean[];
  hasEnded: boolean;
}

/**
 * The ranks of an MPI job. They exchange small messages instead of collective calls, which block, or wait forever for a failed rank. Here
 * load continues during a wait, and ranks that have ended are not awaited.
 */
export class MpiPeers implements Peers {
  readonly count: number;
  readonly rank: number;
  private readonly world: MpiWorld;
  private readonly print: (line: string) => void;
  private readonly clock: Clock;
  private readonly peers: Peer[] = [];
  private level = 0;
  private hasEnded = false;

  constructor(world: MpiWorld, print: (line: string) => void, clock = systemClock) {
    this.clock = clock;
    this.world = world;
    this.print = print;
    this.count = world.size;
    this.rank = world.rank;
    for (let rank = 0; rank < world.size; rank++)
      if (rank !== world.rank) this.peers.push({ rank, level: 0, verdicts: [], hasEnded: false });
  }

  waitForAll(signal: Stoppable): Promise<void> {
    this.level++;
    this.sendToAll(MESSAGES.level);
    return this.waitUntil((peer) => peer.level >= this.level, signal);
  }

  async areAllStable(isStable: boolean, signal: Stoppable): Promise<boolean> {
    this.sendToAll(isStable ? MESSAGES.stable : MESSAGES.unstable);
    // A rank at the next level, or one that has ended, has finished its last window and does not wait for this one.
    await this.waitUntil((peer) => peer.level > this.level || peer.verdicts.length > 0, signal);
    let areAll = isStable;
    for (const peer of this.peers)
      if (peer.level === this.level && peer.verdicts.shift() === false && !peer.hasEnded) areAll = false;
    return areAll;
  }

  waitForEnd(signal: Stoppable): Promise<void> {
    this.end(MESSAGES.ended);
    return this.waitUntil(() => false, signal);
  }

  async close(): Promise<void> {
    this.end(MESSAGES.missing);
    // MPI_Finalize blocks until all ranks call it, and signals are not handled while it blocks.
    await this.waitUntil(() => false, { isStopped: false });
    this.world.finalize();
  }

  private end(how: typeof MESSAGES.ended | typeof MESSAGES.missing): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.sendToAll(how);
  }

  private sendToAll(value: number): void {
    for (const { rank } of this.peers) this.world.send(rank, value);
  }

  /** Resolves when the condition holds for all ranks that have not ended. */
  private async waitUntil(isMet: (peer: Peer) => boolean, signal: Stoppable): Promise<void> {
    for (;;) {
      this.receiveAll();
      if (signal.isStopped || this.isMetByAll(isMet)) return;
      await sleepMs(POLL_MS, this.clock);
    }
  }

  private isMetByAll(isMet: (peer: Peer) => boolean): boolean {
    for (const peer of this.peers) if (!peer.hasEnded && !isMet(peer)) return false;
    return true;
  }

  private receiveAll(): void {
    for (let message = this.world.receive(); message !== undefined; message = this.world.receive()) {
      const { from } = message;
      this.handle(this.peers[from < this.world.rank ? from : from - 1] as Peer, message.value);
    }
  }

  private handle(peer: Peer, value: number): void {
    switch (value) {
      case MESSAGES.level:
        peer.level++;
        peer.verdicts.length = 0;
        return;
      case MESSAGES.stable:
      case MESSAGES.unstable:
        peer.verdicts.push(value === MESSAGES.stable);
        return;
      default:
        peer.hasEnded = true;
        if (value === MESSAGES.missing && !this.hasEnded)
          this.print(`rampart: rank ${peer.rank} ended early: its load is missing from now on.`);
    }
  }
}
