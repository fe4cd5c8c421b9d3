import {
  RECORD_CANCELLED,
  RECORD_DELAYED,
  RECORD_FAILED,
  RECORD_RESENT,
  RECORD_SEQUENCE_END,
  RecordColumns,
} from "../../measure/records.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Call } from "../../transport/call.ts";
import type { LoadClient } from "../../transport/client.ts";
import { type Failure, isCancelled } from "../../transport/failure.ts";
import type { DriverWork } from "./driver-work.ts";
import type { SenderListener } from "./messages.ts";
import type { Slots } from "./slots.ts";
import { WaitingResponses } from "./waiting-responses.ts";

/** Writes a completed request and its slot's data into the columns. The caller has already written `group`. */
export function writeRecord(records: RecordColumns, call: Call, failure: Failure | undefined, slots: Slots): void {
  const { row } = records;
  const { slot } = call;
  const intendedNs = slots.intendedNs[slot] as number;
  const isScheduled = !Number.isNaN(intendedNs);
  records.intendedSendNs[row] = isScheduled ? intendedNs : call.sendStartNs;
  records.sendStartNs[row] = call.sendStartNs;
  records.sendEndNs[row] = call.sendEndNs;
  records.firstByteNs[row] = call.firstByteNs;
  records.endNs[row] = call.endNs;
  records.overNs[row] = Math.max(call.endNs, call.lastMessageNs);
  records.decodeNs[row] = call.decodeNs;
  records.responseCount[row] = call.responseCount;
  records.flags[row] =
    (failure === undefined ? 0 : isCancelled(failure) ? RECORD_FAILED | RECORD_CANCELLED : RECORD_FAILED) |
    (isScheduled && slots.isDelayed[slot] === true ? RECORD_DELAYED : 0) |
    (slots.endsSequence[slot] === true ? RECORD_SEQUENCE_END : 0) |
    (call.isResent ? RECORD_RESENT : 0);
  records.commit();
}

/** Counts of ended requests by outcome. */
export interface EndedCounts {
  readonly completedCount: number;
  readonly failedCount: number;
  /** Cancelled requests, which are neither completed nor failed. */
  readonly cancelledCount: number;
  /** Time of the last success; initially the start. */
  readonly lastSuccessNs: number;
}

/** Judges, counts and records ended requests. */
export class EndedRequests implements EndedCounts {
  failedCount = 0;
  cancelledCount = 0;
  lastSuccessNs: number;
  /** Longest latency of a successful request. */
  longestNs = 0;
  private successCount = 0;
  private readonly client: LoadClient;
  private work: DriverWork | undefined;
  private records: RecordColumns | undefined;
  private readonly waiting: WaitingResponses;

  /** @param client names the server of a failure */
  constructor(client: LoadClient, clock: Clock) {
    this.client = client;
    this.lastSuccessNs = clock.nowNs();
    this.waiting = new WaitingResponses((call, slots, lane) => this.judgeWaiting(call, slots, lane), { clock });
  }

  /** Sets the work, before the first request ends. */
  setWork(work: DriverWork): void {
    this.work = work;
    const { isUndecided, meter } = work;
    this.records = new RecordColumns((records, count) => {
      meter.add(records, count);
      this.listener.records(records, count);
    });
    this.waiting.onUndecided = work.onUndecided;
    this.waiting.isUndecided =
      isUndecided &&
      ((call) => {
        const waits = isUndecided(call);
        if (waits) this.lastSuccessNs = Math.max(this.lastSuccessNs, call.endNs);
        return waits;
      });
  }

  /** Number of completed requests, including streams that may turn out to be cut off. */
  get completedCount(): number {
    return this.successCount + this.waiting.undecidedCount;
  }

  /** Adds an ended request. Returns its failure, unless its response is judged later. The slot may then be used again. */
  add(call: Call, slots: Slots, lane: number): Failure | undefined {
    // The next response might have no room beside a large one that waits.
    if (call.failure !== undefined || !this.activeWork.canWait || call.hasLargeBody) {
      const failure = this.judge(call, slots, lane);
      call.dropResponses();
      return failure;
    }
    this.waiting.add(call, slots, lane);
    return undefined;
  }

  /** Judges the deferred responses. */
  flush(): void {
    this.waiting.flush();
  }

  /** Drains the records. Deferred responses stay deferred. */
  drainRecords(): void {
    this.records?.drain();
  }

  /** Called by the event loop, where an exception would be lost. */
  private judgeWaiting(call: Call, slots: Slots, lane: number): void {
    try {
      this.judge(call, slots, lane);
    } catch (error) {
      this.listener.broken(error);
    }
  }

  private judge(call: Call, slots: Slots, lane: number): Failure | undefined {
    const failure = this.activeWork.judge(call, slots);
    const records = this.records as RecordColumns;
    records.group[records.row] = this.activeWork.groups?.ofStep[slots.steps[call.slot] as number] ?? 0;
    writeRecord(records, call, failure, slots);
    if (failure === undefined) {
      this.successCount++;
      this.lastSuccessNs = call.endNs;
      this.longestNs = Math.max(this.longestNs, call.endNs - call.sendStartNs);
    } else {
      if (isCancelled(failure)) this.cancelledCount++;
      else this.failedCount++;
      const attributed = this.client.attribute?.(call, failure) ?? failure;
      this.listener.failed(attributed, lane, call.sendStartNs);
    }
    return failure;
  }

  private get listener(): Pick<SenderListener, "records" | "failed" | "broken"> {
    return this.activeWork.listener;
  }

  private get activeWork(): DriverWork {
    return this.work as DriverWork;
  }
}
