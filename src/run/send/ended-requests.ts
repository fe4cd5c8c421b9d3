import { RecordColumns } from "../../measure/records.ts";
import type { Clock } from "../../runtime/clock.ts";
import type { Call, LoadClient } from "../../transport/client.ts";
import { type Failure, isGivenUp } from "../../transport/failure.ts";
import type { DriverWork } from "./driver-work.ts";
import type { Slots } from "./slots.ts";
import { WaitingAnswers } from "./waiting-answers.ts";
import { writeRecord } from "./write-record.ts";

/** How requests ended so far. */
export interface EndedCounts {
  readonly completedCount: number;
  readonly failedCount: number;
  /** Requests given up: neither completed nor failed. */
  readonly cancelledCount: number;
  /** When a request last succeeded; the start at first. */
  readonly lastSuccessNs: number;
}

/** Judges, counts and records the requests that have ended. */
export class EndedRequests implements EndedCounts {
  completedCount = 0;
  failedCount = 0;
  cancelledCount = 0;
  lastSuccessNs: number;
  private readonly client: LoadClient;
  private work: DriverWork | undefined;
  private records: RecordColumns | undefined;
  private readonly waiting: WaitingAnswers;

  /** @param client knows which server a request failed at, where there are several */
  constructor(client: LoadClient, clock: Clock) {
    this.client = client;
    this.lastSuccessNs = clock.nowNs();
    this.waiting = new WaitingAnswers((call, slots, lane) => this.judgeWaiting(call, slots, lane), { clock });
  }

  /** Says who judges and takes them, before the first one. */
  take(work: DriverWork): void {
    this.work = work;
    this.records = new RecordColumns((records, count) => work.onRecords(records, count));
  }

  /** Takes one, whose slot is free for the next then. Returns what is wrong with it, unless its answer is only looked into later. */
  add(call: Call, slots: Slots, lane: number): Failure | undefined {
    if (call.failure !== undefined || !this.todo.canWait) return this.judge(call, slots, lane);
    this.waiting.add(call, slots, lane);
    return undefined;
  }

  /** Looks into the answers that wait. */
  flush(): void {
    this.waiting.flush();
  }

  /** Hands over what was recorded since the last time; answers that wait go on waiting. */
  handOver(): void {
    this.records?.drain();
  }

  /** As the event loop calls it: an exception would be lost, and with it the run. */
  private judgeWaiting(call: Call, slots: Slots, lane: number): void {
    try {
      this.judge(call, slots, lane);
    } catch (error) {
      this.todo.onError(error);
    }
  }

  private judge(call: Call, slots: Slots, lane: number): Failure | undefined {
    const failure = this.todo.judge(call, slots);
    writeRecord(this.records as RecordColumns, call, failure, slots);
    if (failure === undefined) {
      this.completedCount++;
      this.lastSuccessNs = call.endNs;
    } else {
      if (isGivenUp(failure)) this.cancelledCount++;
      else this.failedCount++;
      this.todo.onFailure(this.client.attribute?.(call, failure) ?? failure, lane);
    }
    return failure;
  }

  private get todo(): DriverWork {
    return this.work as DriverWork;
  }
}
