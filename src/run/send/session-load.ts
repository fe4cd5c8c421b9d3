import type { Arrivals } from "../../load/arrivals.ts";
import { DueHeap } from "../../load/due-heap.ts";
import type { Cancel } from "../../runtime/clock.ts";
import { DueTimer } from "../../runtime/clock.ts";
import type { ActiveLoad, Sender } from "./active-load.ts";
import { DELAY_TOLERANCE_NS } from "./schedule.ts";
import { isWanted } from "./scheduled-load.ts";
import { SendSlice } from "./send-slice.ts";
import type { SessionFeed, TurnOutcome } from "./session-feed.ts";

/** A turn whose response was judged. */
interface JudgedTurn {
  readonly slot: number;
  readonly isAnswered: boolean;
  readonly endNs: number;
}

/**
 * Sends conversations: each slot runs one session after another, or each session begins at its due time on a free slot. A session sends a
 * turn, waits for the response and the following delay, and sends the next turn with the response. A failed turn ends its session.
 * Responses are decoded separately from socket reads, so that no measured time includes decoding.
 */
export class SessionLoad implements ActiveLoad {
  private readonly sender: Sender;
  private readonly sessions: SessionFeed;
  private readonly timer: DueTimer;
  /** Slots by due time of the next turn. */
  private readonly due = new DueHeap();
  /** Slots that rest after a session, until the due time of their next one. */
  private readonly resting = new Set<number>();
  private judged: JudgedTurn[] = [];
  private cancelPrepare: Cancel | undefined;
  /** Cancels the start of the remaining slots. */
  private cancelStart: Cancel | undefined;
  /** Slots whose turn got no response. */
  private readonly lost = new Set<number>();
  private concurrency = 0;
  private readonly repeats: boolean;
  /** Sessions that begin at due times; undefined when each slot begins its next session by itself. */
  private arrivals: Arrivals | undefined;
  private arrivalsStartNs = 0;
  private nextArrivalNs = Number.POSITIVE_INFINITY;
  /** With arrivals: slots without a session, and number of slots. */
  private readonly free: number[] = [];
  private slotCount = 0;

  /** @param repeats whether the sessions of the data start over when all have begun */
  constructor(sender: Sender, sessions: SessionFeed, repeats = false) {
    this.sender = sender;
    this.sessions = sessions;
    this.repeats = repeats;
    this.timer = new DueTimer(() => sender.guard(() => this.tick()), sender.clock);
    sessions.listen(
      (slot, outcome, endNs) => this.endTurn(slot, outcome, endNs),
      (count) => sender.skipRemaining(count),
    );
  }

  get activeLanes(): number {
    return this.arrivals === undefined ? this.concurrency : this.sender.laneCount;
  }

  async start(concurrency: number): Promise<void> {
    this.sender.setActiveLanes(concurrency);
    this.concurrency = concurrency;
    await this.sender.reserve(concurrency);
    this.beginFrom(0);
  }

  /** Starts sessions at these times. @param atNs start of the times. Default: now */
  arrive(arrivals: Arrivals, atNs = this.sender.clock.nowNs()): void {
    this.sender.setActiveLanes(this.sender.laneCount);
    this.arrivals = arrivals;
    this.arrivalsStartNs = atNs;
    this.awaitArrival();
    this.tick();
  }

  private awaitArrival(): void {
    this.nextArrivalNs = this.arrivalsStartNs + (this.arrivals?.() ?? Number.POSITIVE_INFINITY);
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

  /** Continues after a request without a response; responses are judged later. */
  next(slot: number): void {
    if (this.lost.delete(slot)) this.endSession(slot);
  }

  stop(): void {
    this.concurrency = 0;
    this.arrivals = undefined;
    this.nextArrivalNs = Number.POSITIVE_INFINITY;
    this.timer.clear();
    this.cancelPrepare?.();
    this.cancelPrepare = undefined;
    this.cancelStart?.();
    this.cancelStart = undefined;
    this.judged = [];
  }

  private get isStopped(): boolean {
    return this.activeLanes === 0;
  }

  /** Ends the session of a slot. @param dueNs due time of the slot's next session. Default: now */
  private endSession(slot: number, dueNs?: number): void {
    if (this.arrivals === undefined) this.begin(slot, dueNs);
    else this.free.push(slot);
  }

  private begin(slot: number, dueNs?: number): void {
    if (this.concurrency === 0 || !this.sessions.begin(slot, this.repeats)) return;
    if (dueNs === undefined) this.sender.send(slot, slot, Number.NaN, false);
    else this.sendTurn(slot, dueNs);
  }

  private beginDue(): void {
    const { nextArrivalNs: dueNs } = this;
    const slot = this.free.pop() ?? this.slotCount++;
    if (this.sessions.begin(slot, this.repeats, true)) {
      this.sendTurn(slot, dueNs);
      this.awaitArrival();
    } else {
      this.free.push(slot);
      this.nextArrivalNs = Number.POSITIVE_INFINITY;
    }
  }

  private endTurn(slot: number, outcome: TurnOutcome, endNs: number): void {
    if (this.isStopped) return;
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

  /** Encodes the next turn after each judged one. */
  private prepareNext(): void {
    const { judged, sessions } = this;
    this.judged = [];
    for (const { slot, isAnswered, endNs } of judged) {
      const dueNs = endNs + sessions.delayNs(slot);
      const rests = sessions.restsAtEnd(slot);
      const next = isAnswered ? sessions.advance(slot) : "unreadable";
      if (next === "ready") {
        this.due.push(slot, dueNs);
        continue;
      }
      if (next === "unreadable") this.sender.skipRemaining(sessions.cut(slot));
      if (rests) {
        this.resting.add(slot);
        this.due.push(slot, dueNs);
      } else this.endSession(slot);
    }
    this.tick();
  }

  /** Sends due turns. The timer fires again at once if they do not fit into one slice. */
  private tick(): void {
    if (this.isStopped) return;
    const { due, sender } = this;
    const { clock } = sender;
    const slice = new SendSlice(clock);
    for (let dueNs = due.firstDueNs; dueNs <= clock.nowNs() && slice.takeOne(); dueNs = due.firstDueNs)
      this.continue(due.pop(), dueNs);
    const canBegin = (): boolean => isWanted(sender, this.nextArrivalNs, clock.nowNs());
    while (this.nextArrivalNs <= clock.nowNs() && canBegin() && slice.takeOne()) this.beginDue();
    sender.flush();
    this.timer.set(Math.min(due.firstDueNs, canBegin() ? this.nextArrivalNs : Number.POSITIVE_INFINITY));
  }

  /** Sends the next turn of a slot, or begins its next session. */
  private continue(slot: number, dueNs: number): void {
    if (this.resting.delete(slot)) this.endSession(slot, dueNs);
    else if (this.sessions.hasFailed(slot)) {
      this.sender.skipRemaining(this.sessions.cut(slot));
      this.endSession(slot, dueNs);
    } else this.sendTurn(slot, dueNs);
  }

  private sendTurn(slot: number, dueNs: number): void {
    const { sender } = this;
    sender.send(slot, slot, dueNs, sender.clock.nowNs() - dueNs > DELAY_TOLERANCE_NS);
  }
}
