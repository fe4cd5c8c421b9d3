import type { Clock } from "../../runtime/clock.ts";

/** A border in the senders' reports: everything after it waits until all senders have passed it. */
interface Border extends PromiseWithResolvers<void> {
  readonly action: (() => void) | undefined;
}

const BORDER = Symbol("border");

/**
 * Brings the reports of several senders into one order. Each message that divides a sender's requests, such as the cut of a window, is a
 * border: reports after the sender's reply wait until all other senders have replied too and the conductor has received the replies.
 */
export class RequestOrder<T> {
  private readonly queues: (T | typeof BORDER)[][];
  private readonly lost = new Set<number>();
  private readonly borders: Border[] = [];
  private readonly pass: (batch: T) => void;
  private readonly clock: Pick<Clock, "nextTurn">;
  private isHeld = false;

  /** @param pass receives all batches in order */
  constructor(senderCount: number, pass: (batch: T) => void, clock: Pick<Clock, "nextTurn">) {
    this.queues = Array.from({ length: senderCount }, () => []);
    this.pass = pass;
    this.clock = clock;
  }

  /**
   * Call before all senders get a message that is a border. Resolves when everything before it has been passed on; nothing after it is
   * passed on before the next turn.
   * @param action called at the same moment
   */
  begin(action?: () => void): Promise<void> {
    const border = { action, ...Promise.withResolvers<void>() };
    this.borders.push(border);
    return border.promise;
  }

  add(sender: number, batch: T): void {
    this.queues[sender]?.push(batch);
    this.advance();
  }

  /** Records that a sender has replied to the message of the next border. */
  passed(sender: number): void {
    this.queues[sender]?.push(BORDER);
    this.advance();
  }

  /** Drops a sender that reports nothing more: no border waits for it. */
  lose(sender: number): void {
    this.lost.add(sender);
    this.advance();
  }

  /** Passes on everything that still waits: no message follows. */
  finish(): void {
    for (const sender of this.queues.keys()) this.lost.add(sender);
    this.isHeld = false;
    do {
      this.advance();
      this.isHeld = false;
    } while (this.borders.length > 0);
    this.advance();
  }

  private advance(): void {
    if (this.isHeld) return;
    for (const queue of this.queues) this.passBatches(queue);
    if (this.borders.length === 0) return;
    if (this.queues.some((queue, sender) => queue.length === 0 && !this.lost.has(sender))) return;
    for (const queue of this.queues) queue.shift();
    const border = this.borders.shift();
    border?.action?.();
    border?.resolve();
    this.isHeld = true;
    // The conductor evaluates the replies before the next turn.
    this.clock.nextTurn(() => {
      this.isHeld = false;
      this.advance();
    });
  }

  private passBatches(queue: (T | typeof BORDER)[]): void {
    while (queue.length > 0 && queue[0] !== BORDER) this.pass(queue.shift() as T);
  }
}
