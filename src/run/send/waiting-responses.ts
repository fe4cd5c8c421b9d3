import { type Cancel, type Clock, systemClock } from "../../runtime/clock.ts";
import { hasReads } from "../../transport/arrival.ts";
import { Call } from "../../transport/call.ts";
import { Slots } from "./slots.ts";

/** Maximum time for judging responses while sockets wait. */
const SLICE_NS = 200_000;
/** Maximum number of responses that wait for a later one. Above it, no later response is expected to decide about them. */
const MOST_UNDECIDED = 1000;
/** Default limits of deferred responses. A client without idle time judges them as they arrive. */
const MAX_WAITING: WaitingLimits = { responses: 4096, bytes: 16 * 1024 * 1024 };
/** Approximate memory per response besides its bytes. */
const RESPONSE_BYTES = 128;

/** Limits of deferred responses. */
export interface WaitingLimits {
  readonly responses: number;
  /** Memory of the responses. A single response may be larger. */
  readonly bytes: number;
}

/** Judges a deferred request. @param lane lane of its slot */
export type JudgeResponse = (call: Call, slots: Slots, lane: number) => void;

/**
 * Defers judging of responses until sockets are idle: decoding and exporting takes longer than receiving, and would delay other sends and
 * receives.
 */
export class WaitingResponses {
  private readonly judge: JudgeResponse;
  private readonly max: WaitingLimits;
  /** Reused rows of deferred requests; row `i` of `slots` belongs to `calls[i]`. */
  private readonly calls: Call[] = [];
  private readonly slots = new Slots();
  private readonly lanes: number[] = [];
  private readonly sizes: number[] = [];
  private readonly freeRows: number[] = [];
  /** Rows in the order of the requests' ends, starting at `first`. */
  private order: number[] = [];
  private first = 0;
  private byteCount = 0;
  private readonly clock: Clock;
  private cancelTurn: Cancel | undefined;
  /** Rows that wait for a later response, in the order of the requests' ends. */
  private undecided: number[] = [];
  /** Whether a response should be judged only after a later one. Undefined: never. */
  isUndecided: ((call: Call) => boolean) | undefined;
  /** Receives a response that begins to wait for a later one. */
  onUndecided: ((call: Call, slots: Slots) => void) | undefined;

  /** @param options.max default: 4,096 responses, 16 MiB */
  constructor(judge: JudgeResponse, { max = MAX_WAITING, clock = systemClock } = {}) {
    this.judge = judge;
    this.max = max;
    this.clock = clock;
  }

  /** Number of responses that wait for a later one. */
  get undecidedCount(): number {
    return this.undecided.length;
  }

  /** Adds an ended request. Its slot may then be reused. */
  add(call: Call, slots: Slots, lane: number): void {
    const size = sizeOf(call);
    while (this.count > 0 && (this.count >= this.max.responses || this.byteCount + size > this.max.bytes))
      this.judgeFirst();
    if (this.undecided.length > 0 && this.byteCount + size > this.max.bytes) this.endUndecided();
    const row = this.freeRows.pop() ?? this.calls.length;
    let waiting = this.calls[row];
    if (waiting === undefined) {
      waiting = new Call(row);
      this.calls[row] = waiting;
    }
    waiting.takeResult(call);
    this.slots.copy(row, slots, call.slot);
    this.lanes[row] = lane;
    this.sizes[row] = size;
    this.byteCount += size;
    this.order.push(row);
    // Judging waits for the next turn of the event loop, so that due requests are sent first.
    this.cancelTurn ??= this.clock.nextTurn(() => {
      this.cancelTurn = this.clock.nextTurn(() => this.judgeSome());
    });
  }

  /** Judges all deferred requests. */
  flush(): void {
    this.cancelTurn?.();
    this.cancelTurn = undefined;
    while (this.count > 0) this.judgeFirst();
    if (this.undecided.length > 0) this.judgeUndecided();
  }

  private judgeSome(): void {
    const { clock } = this;
    this.cancelTurn = undefined;
    const endNs = clock.nowNs() + (hasReads() && this.hasRoom ? 0 : SLICE_NS);
    while (this.count > 0 && clock.nowNs() < endNs) this.judgeFirst();
    if (this.count > 0) this.cancelTurn = clock.nextTurn(() => this.judgeSome());
  }

  /** Whether responses can be deferred until nothing arrives, as in a burst. */
  private get hasRoom(): boolean {
    const { responses, bytes } = this.max;
    return this.count < responses / 2 && this.byteCount < bytes / 2;
  }

  private get count(): number {
    return this.order.length - this.first;
  }

  private judgeFirst(): void {
    const row = this.order[this.first] as number;
    this.first++;
    if (this.first === this.order.length || this.first > this.max.responses) {
      this.order = this.order.slice(this.first);
      this.first = 0;
    }
    if (this.mustWait(row)) return;
    this.judgeRow(row);
  }

  /**
   * Defers a response until a later one if it must wait. Otherwise, it may decide about those that wait, which are judged first.
   */
  private mustWait(row: number): boolean {
    const { isUndecided, undecided } = this;
    if (isUndecided === undefined) return false;
    const call = this.calls[row] as Call;
    if (isUndecided(call)) {
      this.onUndecided?.(call, this.slots);
      undecided.push(row);
      if (undecided.length < MOST_UNDECIDED) return true;
      this.endUndecided();
      return true;
    }
    if (undecided.length > 0) this.judgeDecided(call.member, isUndecided);
    return false;
  }

  /** Judges the responses of a member that are no longer undecided. */
  private judgeDecided(member: number, isUndecided: (call: Call) => boolean): void {
    const callOf = (row: number): Call => this.calls[row] as Call;
    if (!this.undecided.some((row) => callOf(row).member === member)) return;
    this.judgeUndecided((row) => callOf(row).member !== member || isUndecided(callOf(row)));
  }

  /** Judges all undecided responses. No later response is expected to decide about them. */
  private endUndecided(): void {
    this.isUndecided = undefined;
    this.judgeUndecided();
  }

  /** @param stays whether a response continues to wait. Default: none does */
  private judgeUndecided(stays: (row: number) => boolean = () => false): void {
    const waiting: number[] = [];
    const decided: number[] = [];
    for (const row of this.undecided) (stays(row) ? waiting : decided).push(row);
    this.undecided = waiting;
    for (const row of decided) this.judgeRow(row);
  }

  private judgeRow(row: number): void {
    this.byteCount -= this.sizes[row] as number;
    const call = this.calls[row] as Call;
    this.judge(call, this.slots, this.lanes[row] as number);
    call.dropResponses();
    this.freeRows.push(row);
  }
}

function sizeOf({ body, heldBytes }: Call): number {
  return RESPONSE_BYTES + Math.max(heldBytes, body?.length ?? 0);
}
