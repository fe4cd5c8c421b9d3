import type { Failure } from "../../transport/failure.ts";

/** Without one answer for this long, while connections fail, the target counts as unreachable. */
const UNREACHABLE_NS = 5e9; // 5 s
/** This many connections lost without an answer between them are no accident; one lane alone loses them in 5 s. */
const MANY_LOST = 8;
/** This many silent requests without an answer between them are no accident, of a target that answered before. */
const MANY_STALLED = 8;
/** The same of a target that has answered nothing yet. */
const FEW_STALLED = 2;

/** What a failure says about the target, with those before it. */
export type Reach =
  | "reachable"
  /** No connection can be made, or none survives. */
  | "unreachable"
  /** Connections are made, and nothing that was asked is answered. */
  | "stalled";

/** The state of the run at a failure. */
export interface ReachContext {
  /** Now. */
  readonly failedNs: number;
  /** When a request last succeeded; the start at first. */
  readonly lastSuccessNs: number;
  /** Requests that have succeeded so far. */
  readonly completedCount: number;
  /** Requests sent and not answered, without the one that failed. */
  readonly outstanding: number;
}

/**
 * Distinguishes a target that is gone from one that loses a connection or a request now and then. It is gone when nothing that was asked
 * is answered. Of several servers all must be gone.
 */
export class Reachability {
  private readonly serverCount: number;
  private sinceNs = 0;
  private lostInARow = 0;
  private stalledInARow = 0;
  private lastSuccessNs = 0;
  private hasAnswered = false;
  /** Servers that lost connections or requests since the last answer. */
  private readonly lost = new Set<string>();

  constructor(serverCount: number) {
    this.serverCount = serverCount;
  }

  /** Takes a failure that is no doing of this client's. */
  judge(failure: Failure, context: ReachContext): Reach {
    const { kind } = failure;
    if (context.completedCount > 0) this.hasAnswered = true;
    if (context.lastSuccessNs > this.lastSuccessNs) this.answered();
    this.lastSuccessNs = context.lastSuccessNs;
    // One that took too long says nothing: a server with more to do than it can is there all the same.
    if (kind === "timeout") return "reachable";
    if (kind === "stalled") return this.stalled(failure, context);
    if (kind === "connect" || kind === "tls" || kind === "closed" || kind === "protocol")
      return this.disconnected(failure, context);
    this.hasAnswered = true;
    this.answered();
    return "reachable";
  }

  private answered(): void {
    this.sinceNs = 0;
    this.lostInARow = 0;
    this.stalledInARow = 0;
    this.lost.clear();
  }

  private disconnected({ kind, server = "" }: Failure, { failedNs }: ReachContext): Reach {
    if (this.sinceNs === 0) this.sinceNs = failedNs;
    this.lostInARow++;
    this.lost.add(server);
    // A slow server may lose a connection now and then while others wait for its answers; one that cannot be connected to is away.
    const isAway = kind === "connect" || kind === "tls" || this.lostInARow >= MANY_LOST;
    return isAway && this.areAllLost && failedNs - this.sinceNs >= UNREACHABLE_NS ? "unreachable" : "reachable";
  }

  /** While others are still waited for, one silent request is one failure: all that were in flight must have been silent. */
  private stalled({ server = "" }: Failure, { outstanding }: ReachContext): Reach {
    this.stalledInARow++;
    this.lost.add(server);
    const needed = Math.max(this.hasAnswered ? MANY_STALLED : FEW_STALLED, outstanding);
    return this.areAllLost && this.stalledInARow >= needed ? "stalled" : "reachable";
  }

  private get areAllLost(): boolean {
    return this.lost.size >= this.serverCount;
  }
}
