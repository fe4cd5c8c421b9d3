import type { Failure } from "../../transport/failure.ts";

/** The target is unreachable when connections fail and no request is answered for this time. */
const UNREACHABLE_NS = 5e9; // 5 s
/** Number of consecutive lost connections that rules out an accident. A single lane reaches it within 5 s. */
const MANY_LOST = 8;
/** Number of stalled requests since the last response that rules out an accident, for a target that has responded before. */
const MANY_STALLED = 8;
/** The same for a target that has not responded yet. */
const FEW_STALLED = 2;

/** The state of the target after a failure. */
export type Reach =
  | "reachable"
  /** No connection can be opened, or none survives. */
  | "unreachable"
  /** Connections can be opened, but no request is answered. */
  | "stalled";

/** State of the run at a failure. */
export interface ReachContext {
  /** Time of the failure. */
  readonly failedNs: number;
  /** Time of the last success; initially the start. */
  readonly lastSuccessNs: number;
  /** Number of successful requests. */
  readonly completedCount: number;
  /** Number of other outstanding requests. */
  readonly outstanding: number;
  /** Start of sending the failed request. */
  readonly sentNs: number;
  /** Whether requests are still being sent. At the end of a load, no later requests show that the server still responds. */
  readonly isSending: boolean;
}

/**
 * Distinguishes an unreachable target from one that occasionally loses a connection or a request. With several servers, all must be
 * unreachable.
 */
export class Reachability {
  private readonly serverCount: number;
  private readonly waitsForServer: boolean;
  private sinceNs = 0;
  private lostInARow = 0;
  private stalledInARow = 0;
  private lastSuccessNs = 0;
  /** Time of the last success, or of the last response with an error. */
  private answeredNs = 0;
  private hasAnswered = false;
  private first: Failure | undefined;
  /** Servers that lost connections or requests since the last response. */
  private readonly lost = new Set<string>();

  /** @param waitsForServer whether to allow some seconds for a server that has not responded yet */
  constructor(serverCount: number, waitsForServer: boolean) {
    this.serverCount = serverCount;
    this.waitsForServer = waitsForServer;
  }

  /** Judges a failure that this client did not cause itself. */
  judge(failure: Failure, context: ReachContext): Reach {
    const { kind } = failure;
    if (context.completedCount > 0) this.hasAnswered = true;
    this.first ??= failure;
    if (context.lastSuccessNs > this.lastSuccessNs) this.answered();
    this.lastSuccessNs = context.lastSuccessNs;
    this.answeredNs = Math.max(this.answeredNs, context.lastSuccessNs);
    if (failure.isServerGone === true) return "unreachable";
    // A timeout proves nothing: an overloaded server is still reachable.
    if (kind === "timeout") return "reachable";
    if (kind === "stalled") return this.stalled(failure, context);
    if (kind === "connect" || kind === "tls" || kind === "closed" || kind === "protocol")
      return this.disconnected(failure, context);
    this.hasAnswered = true;
    this.answeredNs = context.failedNs;
    this.answered();
    return "reachable";
  }

  /** The first failure, if the target has answered no request; undefined otherwise, and before any failure. */
  get unanswered(): Failure | undefined {
    return this.hasAnswered ? undefined : this.first;
  }

  private answered(): void {
    this.sinceNs = 0;
    this.lostInARow = 0;
    this.stalledInARow = 0;
    this.lost.clear();
  }

  private disconnected({ kind, server = "" }: Failure, { failedNs, outstanding }: ReachContext): Reach {
    if (this.sinceNs === 0) this.sinceNs = failedNs;
    this.lostInARow++;
    this.lost.add(server);
    if (!this.hasAnswered && !this.waitsForServer) {
      const needed = kind === "protocol" ? 1 : Math.max(MANY_LOST, kind === "closed" ? outstanding : 0);
      if (this.areAllLost && this.lostInARow >= needed) return "unreachable";
    }
    // A slow server may lose some connections while other requests are pending. A server that refuses connections is unreachable.
    const isAway = kind === "connect" || kind === "tls" || this.lostInARow >= MANY_LOST;
    return isAway && this.areAllLost && failedNs - this.sinceNs >= UNREACHABLE_NS ? "unreachable" : "reachable";
  }

  /**
   * A target that has responded before has stalled only if nothing sent since is answered, while requests are being sent. A request that
   * stalled while others were answered, or at the end of the load, is a single failure. All requests in flight must have stalled.
   */
  private stalled({ server = "" }: Failure, { outstanding, sentNs, isSending }: ReachContext): Reach {
    if (this.hasAnswered && (!isSending || sentNs < this.answeredNs)) return "reachable";
    this.stalledInARow++;
    this.lost.add(server);
    const needed = Math.max(this.hasAnswered ? MANY_STALLED : FEW_STALLED, outstanding);
    return this.areAllLost && this.stalledInARow >= needed ? "stalled" : "reachable";
  }

  private get areAllLost(): boolean {
    return this.lost.size >= this.serverCount;
  }
}
