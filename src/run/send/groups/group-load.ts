import type { ActiveLoad, Sender } from "../active-load.ts";

/**
 * Sends requests in groups of equal size, one per slot. The next group is sent when every request of the previous one has ended, failed
 * ones included. All requests of a group are due at the same time, the start of the group.
 */
export class GroupLoad implements ActiveLoad {
  private readonly sender: Sender;
  private readonly size: number;
  /** Number of requests of the current group that have not ended. */
  private pending = 0;
  private isStopped = false;

  constructor(sender: Sender, size: number) {
    this.sender = sender;
    this.size = size;
  }

  get activeLanes(): number {
    return this.isStopped ? 0 : this.size;
  }

  /** Opens the connections and sends the first group. */
  async start(): Promise<void> {
    this.sender.setActiveLanes(this.size);
    await this.sender.reserve(this.size);
    if (!this.isStopped) this.sendGroup();
  }

  next(slot: number): void {
    const { sender } = this;
    const isOver = this.isStopped || sender.quota <= 0;
    if (isOver && sender.sequences?.isOpen(slot) === true) {
      // The response to this calls `next` again.
      sender.sendEnd(slot, slot);
      return;
    }
    if (--this.pending === 0 && !isOver) this.sendGroup();
  }

  stop(): void {
    this.isStopped = true;
  }

  private sendGroup(): void {
    const count = Math.min(this.size, this.sender.quota);
    const dueNs = this.sender.clock.nowNs();
    this.pending = count;
    for (let slot = 0; slot < count; slot++) this.sender.send(slot, slot, dueNs, false);
    this.sender.flush();
  }
}
