import { nowNs } from "../runtime/clock.ts";
import { Call } from "../transport/client.ts";
import { Slots } from "./slots.ts";

/** Longer than this no socket waits for answers that are looked into. */
const SLICE_NS = 200_000;
/** More are not kept: a client that has no idle moment looks into them as they come. */
const MAX_WAITING = 256;
/** Nor are more bytes of them kept. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024; // 16 MiB

/** Takes a request that waited. @param lane of the slot that carried it */
export type JudgeAnswer = (call: Call, slots: Slots, lane: number) => void;

/**
 * Ended requests whose answers are looked into once no socket has anything to say: reading and writing them out takes longer than receiving
 * them did, and what arrives or is to be sent meanwhile would get the wrong time.
 */
export class WaitingAnswers {
  private readonly judge: JudgeAnswer;
  /** Rows of what waits, used over and over; row `i` of `slots` belongs to `calls[i]`. */
  private readonly calls: Call[] = [];
  private readonly slots = new Slots();
  private readonly lanes: number[] = [];
  private first = 0;
  private count = 0;
  /** Bytes of the answers that wait; by row in `rowBytes`. */
  private bytes = 0;
  private readonly rowBytes: number[] = [];
  private timer: NodeJS.Immediate | undefined;

  constructor(judge: JudgeAnswer) {
    this.judge = judge;
  }

  /** Takes a request that has ended; its slot is free for the next one. */
  add(call: Call, slots: Slots, lane: number): void {
    if (this.count === MAX_WAITING) this.judgeFirst();
    const bytes = bytesOf(call);
    while (this.count > 0 && this.bytes + bytes > MAX_WAITING_BYTES) this.judgeFirst();
    const row = (this.first + this.count) % MAX_WAITING;
    let waiting = this.calls[row];
    if (waiting === undefined) {
      waiting = new Call(row);
      this.calls[row] = waiting;
    }
    waiting.takeOver(call);
    this.slots.copy(row, slots, call.slot);
    this.lanes[row] = lane;
    this.rowBytes[row] = bytes;
    this.bytes += bytes;
    this.count++;
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

  private judgeFirst(): void {
    const row = this.first;
    this.first = (row + 1) % MAX_WAITING;
    this.count--;
    this.bytes -= this.rowBytes[row] as number;
    const call = this.calls[row] as Call;
    this.judge(call, this.slots, this.lanes[row] as number);
    call.responses = [];
    call.body = undefined;
  }
}

/** Bytes that an answer holds. */
function bytesOf({ body, responses }: Call): number {
  let bytes = body?.length ?? 0;
  for (const response of responses) bytes += response.body.length;
  return bytes;
}
