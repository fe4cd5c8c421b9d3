import { nowNs } from "../../runtime/clock.ts";
import { Call } from "../../transport/client.ts";
import { Slots } from "./slots.ts";

/** Longer than this no socket waits for answers that are looked into. */
const SLICE_NS = 200_000;
/** More are not kept: a client that has no idle moment looks into them as they come. */
const MOST_WAITING: WaitingLimits = { answers: 4096, bytes: 8 * 1024 * 1024 };
/** What a response takes besides its bytes, about. */
const RESPONSE_BYTES = 128;

/** How much may wait. */
export interface WaitingLimits {
  readonly answers: number;
  /** Of the answers, in memory. A single answer may have more. */
  readonly bytes: number;
}

/** Takes a request that waited. @param lane of the slot that carried it */
export type JudgeAnswer = (call: Call, slots: Slots, lane: number) => void;

/**
 * Ended requests whose answers are looked into once no socket has anything to say: reading and writing them out takes longer than receiving
 * them did, and what arrives or is to be sent meanwhile would get the wrong time.
 */
export class WaitingAnswers {
  private readonly judge: JudgeAnswer;
  private readonly most: WaitingLimits;
  /** Rows of what waits, used over and over; row `i` of `slots` belongs to `calls[i]`. */
  private readonly calls: Call[] = [];
  private readonly slots = new Slots();
  private readonly lanes: number[] = [];
  private readonly sizes: number[] = [];
  private readonly freeRows: number[] = [];
  /** Rows in the order in which their requests ended, from `first` on. */
  private order: number[] = [];
  private first = 0;
  private byteCount = 0;
  private timer: NodeJS.Immediate | undefined;

  /** @param most default: 4,096 answers, 8 MiB */
  constructor(judge: JudgeAnswer, most: WaitingLimits = MOST_WAITING) {
    this.judge = judge;
    this.most = most;
  }

  /** Takes a request that has ended; its slot is free for the next one. */
  add(call: Call, slots: Slots, lane: number): void {
    const size = sizeOf(call);
    while (this.count > 0 && (this.count >= this.most.answers || this.byteCount + size > this.most.bytes))
      this.judgeFirst();
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
    // One turn of the event loop later: what is to be sent first leaves in this one.
    this.timer ??= setImmediate(() => {
      this.timer = setImmediate(() => this.judgeSome());
    });
  }

  /** Looks into all that waits. */
  flush(): void {
    if (this.timer !== undefined) clearImmediate(this.timer);
    this.timer = undefined;
    while (this.count > 0) this.judgeFirst();
  }

  private judgeSome(): void {
    this.timer = undefined;
    const endNs = nowNs() + SLICE_NS;
    while (this.count > 0 && nowNs() < endNs) this.judgeFirst();
    if (this.count > 0) this.timer = setImmediate(() => this.judgeSome());
  }

  private get count(): number {
    return this.order.length - this.first;
  }

  private judgeFirst(): void {
    const row = this.order[this.first] as number;
    this.first++;
    this.byteCount -= this.sizes[row] as number;
    if (this.first === this.order.length || this.first > this.most.answers) {
      this.order = this.order.slice(this.first);
      this.first = 0;
    }
    const call = this.calls[row] as Call;
    this.judge(call, this.slots, this.lanes[row] as number);
    call.responses = [];
    call.body = undefined;
    this.freeRows.push(row);
  }
}

function sizeOf({ body, responses }: Call): number {
  let size = RESPONSE_BYTES + (body === undefined ? 0 : body.length);
  for (const response of responses) size += RESPONSE_BYTES + response.body.length;
  return size;
}
