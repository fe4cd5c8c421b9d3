import { RECORD_CANCELLED, RECORD_FAILED, type RecordColumns } from "../measure/records.ts";
import { type FunctionPlan, heldFunction } from "../plan/functions.ts";
import { RunError } from "../plan/problem.ts";
import { nsToMs } from "../plan/units.ts";
import type { FinishedRequest, OnRecord } from "../result/finished-request.ts";
import { broadcast, type RunObserver } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";
import { toEpochNs } from "../runtime/clock.ts";
import { describeUserError } from "../service/user-defined/user-error.ts";
import type { Failure } from "../transport/failure.ts";
import type { RunSignal } from "./run-signal.ts";
import type { RequestGroups } from "./split/request-groups.ts";

/** Records that may wait for the function. Above this the run ends, because memory is bounded. */
const MOST_WAITING = 200_000;

/** Records between two turns of the event loop, so that the load is not held up. */
const BATCH = 64;

/** Longest time that a finished request waits in its columns. */
const INTERVAL_MS = 250;

const NO_TAGS = {};

/** Calls a scenario's function for each finished request, in batches between the events of the load. */
export class RecordHook {
  private readonly onRecord: OnRecord;
  private readonly signal: RunSignal;
  private readonly groups: RequestGroups | undefined;
  private waiting: FinishedRequest[] = [];
  /** Index of the first record that the function has not received. */
  private next = 0;
  /** Failures of records that are not drained yet, in the order of the records. */
  private failures: Failure[] = [];
  private count = 0;
  private working: Promise<void> | undefined;
  private error: RunError | undefined;

  /** @param groups whose tags records carry; undefined without any */
  constructor(named: FunctionPlan, signal: RunSignal, groups: RequestGroups | undefined) {
    this.onRecord = heldFunction<OnRecord>(named);
    this.signal = signal;
    this.groups = groups;
  }

  /** Executes a run and passes its records. The result has the error of the function, if it throws. */
  async around(observer: RunObserver, execute: (observer: RunObserver) => Promise<RunResult>): Promise<RunResult> {
    const own: RunObserver = {
      onFailed: ({ failure }) => this.failures.push(failure),
      onBatch: (records, count) => this.add(records, count),
      onProgress: (progress) => {
        timer = setInterval(() => progress.drainRecords(), INTERVAL_MS);
      },
    };
    let timer: ReturnType<typeof setInterval> | undefined;
    const result = await execute(broadcast([observer, own])).finally(() => clearInterval(timer));
    while (this.working !== undefined) await this.working;
    return this.error === undefined || result.error !== undefined ? result : { ...result, error: this.error };
  }

  private add(records: RecordColumns, count: number): void {
    let failed = 0;
    for (let row = 0; row < count; row++) {
      const hasFailed = ((records.flags[row] as number) & RECORD_FAILED) !== 0;
      const failure = hasFailed ? this.failures[failed++] : undefined;
      if (this.error === undefined) this.waiting.push(this.toRecord(records, row, failure));
    }
    this.failures = this.failures.slice(failed);
    if (this.waiting.length - this.next > MOST_WAITING) {
      const message = `onRecord is slower than the requests: more than ${MOST_WAITING.toLocaleString("en-US")} records wait for it`;
      this.fail(new RunError("exception", message, "Make it faster, or lower the load."));
    }
    if (this.next < this.waiting.length) this.working ??= this.work();
  }

  private toRecord(records: RecordColumns, row: number, failure: Failure | undefined): FinishedRequest {
    const sendNs = records.sendStartNs[row] as number;
    const endNs = records.endNs[row] as number;
    const firstNs = records.firstByteNs[row] as number;
    const isCancelled = ((records.flags[row] as number) & RECORD_CANCELLED) !== 0;
    const hasFirst = failure === undefined || (firstNs > 0 && firstNs < endNs);
    return {
      index: this.count++,
      outcome: isCancelled ? "cancelled" : failure === undefined ? "completed" : "failed",
      sentAtMs: nsToMs(Number(toEpochNs(sendNs))),
      latencyMs: nsToMs(endNs - sendNs),
      scheduledLatencyMs: nsToMs(endNs - (records.intendedSendNs[row] as number)),
      ...(hasFirst ? { firstByteMs: nsToMs(firstNs - sendNs) } : {}),
      responses: records.responseCount[row] as number,
      tags: this.groups?.list[records.group[row] as number]?.tags ?? NO_TAGS,
      ...(failure === undefined ? {} : { failure: toFailure(failure) }),
    };
  }

  /** Never rejects. Called when records wait, so that it is pending when it returns. */
  private async work(): Promise<void> {
    while (this.next < this.waiting.length) {
      await new Promise<void>((resolve) => setImmediate(resolve));
      for (const record of this.takeBatch()) {
        try {
          const promise = this.onRecord(record);
          if (promise instanceof Promise) await promise;
        } catch (error) {
          const message = `onRecord throws: ${describeUserError(error)}`;
          this.fail(new RunError("exception", message, "Correct it in the scenario."));
          break;
        }
      }
    }
    this.working = undefined;
  }

  private takeBatch(): readonly FinishedRequest[] {
    const batch = this.waiting.slice(this.next, this.next + BATCH);
    this.next += batch.length;
    if (this.next < this.waiting.length) return batch;
    this.waiting = [];
    this.next = 0;
    return batch;
  }

  private fail(error: RunError): void {
    this.error ??= error;
    this.waiting = [];
    this.next = 0;
    this.signal.fail(error);
  }
}

function toFailure({ kind, message, status }: Failure): NonNullable<FinishedRequest["failure"]> {
  return { kind, message, ...(status === undefined ? {} : { status }) };
}
