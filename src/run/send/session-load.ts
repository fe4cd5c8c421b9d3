import { DueHeap } from "../../load/due-heap.ts";
import type { Cancel } from "../../runtime/clock.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";
import { DueTimer } from "./due-timer.ts";
import { SendSlice } from "./send-slice.ts";
import type { SessionFeed, TurnOutcome } from "./session-feed.ts";

/** A turn that is sent so much after it was due is late; less is the grain of an event loop. */
const DELAY_TOLERANCE_NS = 1e6;

/** A turn whose answer was judged. */
interface JudgedTurn {
  readonly slot: number;
  readonly isAnswered: boolean;
  readonly endNs: number;
}

/**
 * Conversations: each slot holds one session after the other, asks a turn, waits for its answer and for the pause that follows it, and asks the
 * next turn with what was answered. A turn that fails ends its session. Answers are looked into apart from the reads of sockets, so that
 * nobody's times contain it.
 */
export class SessionLoad implements ActiveLoad {
  private readonly sender: Sender;
  private readonly sessions: SessionFeed;
  private readonly timer: DueTimer;
  /** Slots by when their next turn is due. */
  private readonly due = new DueHeap();
  private judged: JudgedTurn[] = [];
  private cancelPrepare: Cancel | undefined;
  /** Begins the slots that have not begun yet. */
  private cancelStart: Cancel | undefined;
  /** Slots whose turn got no answer. */
  private readonly lost = new Set<number>();
  private concurrency = 0;

  constructor(sender: Sender, sessions: SessionFeed) {
    this.sender = sender;
    this.sessions = sessions;
    this.timer = new DueTimer(() => sender.guard(() => this.tick()), sender.clock);
    sessions.listen((slot, outcome, endNs) => this.endTurn(slot, outcome, endNs));
  }

  get activeLanes(): number {
    return this.concurrency;
  }

  /** Begins so many sessions. */
  async start(concurrency: number): Promise<void> {
    this.sender.setActiveLanes(concurrency);
    this.concurrency = concurrency;
    await this.sender.reserve(concurrency);
    this.beginFrom(0);
  }

  private beginFrom(first: number): void {
    this.cancelStart = undefined;
    const { sender } = this;
    const slice = new SendSlice(sender.clock);
    let slot = first;
    for (; slot < this.concurrency && slice.takeOne(); slot++) this.begin(slot);
    sender.flush();
    if (slot < this.concurrency)
      this.cancelStart = sender.clock.nextTurn(() => sender.guard(() => this.beginFrom(slot)));
  }

  /** Answers are judged later than their slots are free; only a request that got none is over by now. */
  next(slot: number): void {
    if (this.lost.delete(slot)) this.begin(slot);
  }

  stop(): void {
    this.concurrency = 0;
    this.timer.clear();
    this.cancelPrepare?.();
    this.cancelPrepare = undefined;
    this.cancelStart?.();
    this.cancelStart = undefined;
    this.judged = [];
  }

  private begin(slot: number): void {
    if (this.concurrency > 0 && this.sessions.begin(slot)) this.sender.send(slot, 0, Number.NaN, false);
  }

  private endTurn(slot: number, outcome: TurnOutcome, endNs: number): void {
    if (this.concurrency === 0) return;
    if (outcome === "lost") {
      this.lost.add(slot);
      this.sender.skipRemaining(this.sessions.cut(slot));
      return;
    }
    this.judged.push({ slot, isAnswered: outcome === "answered", endNs });
    this.cancelPrepare ??= this.sender.clock.nextTurn(() => {
      this.cancelPrepare = undefined;
      this.sender.guard(() => this.prepareNext());
    });
  }

  /** Makes what follows all judged turns ready. */
  private prepareNext(): void {
    const { judged, sessions } = this;
    this.judged = [];
    for (const { slot, isAnswered, endNs } of judged) {
      const dueNs = endNs + sessions.delayNs(slot);
      const next = isAnswered ? sessions.advance(slot) : "unreadable";
      if (next === "ready") {
        this.due.push(slot, dueNs);
        continue;
      }
      if (next === "unreadable") this.sender.skipRemaining(sessions.cut(slot));
      this.begin(slot);
    }
    this.tick();
  }

  /** Sends what is due by now; where that is a lot, the timer comes back for the rest at once. */
  private tick(): void {
    if (this.concurrency === 0) return;
    const { due, sender } = this;
    const { clock } = sender;
    const slice = new SendSlice(clock);
    for (let dueNs = due.firstDueNs; dueNs <= clock.nowNs() && slice.takeOne(); dueNs = due.firstDueNs)
      sender.send(due.pop(), 0, dueNs, clock.nowNs() - dueNs > DELAY_TOLERANCE_NS);
    sender.flush();
    this.timer.set(due.firstDueNs);
  }
}
