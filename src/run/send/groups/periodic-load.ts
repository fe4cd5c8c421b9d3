import type { DriveOf } from "../../../load/drive.ts";
import { RunError } from "../../../plan/problem.ts";
import type { ActiveLoad, Sender } from "../active-load.ts";

/**
 * Sends requests in groups. The next group starts when every request of the previous one has received the required number of responses.
 * Each slot sends one request. Needs a protocol that reports responses as they arrive.
 */
export class PeriodicLoad implements ActiveLoad {
  private readonly sender: Sender;
  private readonly drive: DriveOf<"periodic">;
  private sentCount = 0;
  /** Number of requests of the last group whose period has not ended. */
  private pending = 0;
  /** Whether each slot's period has ended. */
  private readonly isOver: boolean[] = [];
  private isStopped = false;

  constructor(sender: Sender, drive: DriveOf<"periodic">) {
    this.sender = sender;
    this.drive = drive;
  }

  get activeLanes(): number {
    return this.isStopped ? 0 : this.sentCount;
  }

  async start(): Promise<void> {
    const { start, end } = this.drive;
    this.sender.setActiveLanes(end);
    await this.sender.reserve(end);
    this.sendGroup(start);
  }

  onResponse(slot: number, responseCount: number): void {
    if (responseCount >= this.drive.periodResponses) this.endPeriod(slot);
  }

  next(slot: number): void {
    if (this.isOver[slot] === true || this.isStopped) {
      if (this.sender.sequences?.isOpen(slot) === true) this.sender.sendEnd(slot, slot);
      return;
    }
    throw new RunError(
      "unsupported",
      "Request received final response before request period was reached. Request period must be at most the total number of responses received by any request.",
      { say: "shorter-period" },
    );
  }

  stop(): void {
    this.isStopped = true;
  }

  /** Ends the period of a failed request, which gets no more responses, so that the others continue. */
  onFailed(slot: number): void {
    this.endPeriod(slot);
  }

  private endPeriod(slot: number): void {
    if (this.isOver[slot] === true) return;
    this.isOver[slot] = true;
    this.pending--;
    if (this.pending === 0 && !this.isStopped) this.sendGroup(this.drive.step);
  }

  private sendGroup(count: number): void {
    const end = Math.min(this.drive.end, this.sentCount + count);
    this.pending += end - this.sentCount;
    while (this.sentCount < end) {
      const slot = this.sentCount++;
      this.sender.send(slot, slot, Number.NaN, false);
    }
    this.sender.flush();
  }
}
