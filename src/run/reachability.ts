import type { Failure } from "../transport/failure.ts";

/** Without one success for so long, while connections fail, the target counts as gone. */
const UNREACHABLE_NS = 5e9; // 5 s
/** So many connections lost without a success between them are no accident; one lane alone loses them in 5 s. */
const MANY_LOST = 8;

/** Tells a target that is gone from one that loses a connection now and then. Of several servers all must be gone. */
export class Reachability {
  private readonly serverCount: number;
  private sinceNs = 0;
  private lostInARow = 0;
  /** Servers that lost connections since the last success. */
  private readonly lost = new Set<string>();

  constructor(serverCount: number) {
    this.serverCount = serverCount;
  }

  /**
   * Takes a failure; returns whether the target is gone.
   * @param failedNs now
   * @param lastSuccessNs when a request last succeeded
   */
  isGone({ kind, server = "" }: Failure, failedNs: number, lastSuccessNs: number): boolean {
    if (kind !== "connect" && kind !== "tls" && kind !== "closed" && kind !== "protocol") {
      this.sinceNs = 0;
      return false;
    }
    if (this.sinceNs < lastSuccessNs || this.sinceNs === 0) {
      this.sinceNs = failedNs;
      this.lostInARow = 0;
      this.lost.clear();
    }
    this.lostInARow++;
    this.lost.add(server);
    // A slow server may lose a connection now and then while others wait for its answers; one that cannot be connected to is away.
    const isAway = kind === "connect" || kind === "tls" || this.lostInARow >= MANY_LOST;
    return isAway && this.lost.size >= this.serverCount && failedNs - this.sinceNs >= UNREACHABLE_NS;
  }
}
