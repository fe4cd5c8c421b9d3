import { RECORD_CANCELLED, RECORD_FAILED, RECORD_RESENT, type RecordColumns } from "../measure/records.ts";
import { isTimeMetric, nameOfMetric } from "../measure/tokens/metrics.ts";
import type { RequestTokens } from "../measure/tokens/request-tokens.ts";
import { type FunctionPlan, functionOf } from "../plan/functions.ts";
import { RunError } from "../plan/problem.ts";
import { nsToMs } from "../plan/units.ts";
import type { FinishedRequest, FinishedTokens, OnRecord } from "../result/finished-request.ts";
import { broadcast, type RunObserver, type RunProgress } from "../result/observer.ts";
import type { RunResult } from "../result/run-result.ts";
import { toEpochNs } from "../runtime/clock.ts";
import { describeUserError } from "../service/user-defined/user-error.ts";
import type { Failure } from "../transport/failure.ts";
import type { RequestGroups } from "./groups/request-groups.ts";
import type { RunSignal } from "./interrupt.ts";

/** Maximum number of records that wait for the function. Above it the run ends, because memory is bounded. */
const MOST_WAITING = 200_000;

/** Number of records between two turns of the event loop, so that the load is not delayed. */
const BATCH = 64;

/** Passed records stay in memory up to this number, because removing them one by one is slow. */
const FORGOTTEN = 4096;

/** Longest time that a finished request waits in its columns. */
const INTERVAL_MS = 250;

const NO_TAGS = {};

/** Fields of a record that come from its response. */
type FromResponse = Pick<FinishedRequest, "extracted"> & { readonly hasTokens: boolean };

/** A record, and whether it still waits for its tokens. */
interface Waiting {
  record: FinishedRequest;
  isComplete: boolean;
}

/** Calls a scenario's function for each finished request, in batches between the load's events. */
export class RecordHook {
  private readonly onRecord: OnRecord;
  private readonly signal: RunSignal;
  private readonly groups: RequestGroups | undefined;
  private readonly readsResponses: boolean;
  private progress: RunProgress | undefined;
  private level: FinishedRequest["level"];
  /** By the number of the request, until its record is drained. */
  private readonly fromResponses = new Map<number, FromResponse>();
  /** Records that wait for their tokens, by number. */
  private readonly awaiting = new Map<number, Waiting>();
  /** Records in the order of their ends. */
  private waiting: Waiting[] = [];
  /** Index of the first record that the function has not received. */
  private next = 0;
  /** Failures of records that are not drained yet, in the order of the records. */
  private failures: Failure[] = [];
  private count = 0;
  private working: Promise<void> | undefined;
  private error: RunError | undefined;

  /**
   * @param groups groups whose tags are part of records; undefined without groups
   * @param readsResponses whether responses are read, for extracted values or tokens. Otherwise their bodies are not kept for this
   * function.
   */
  constructor(named: FunctionPlan, signal: RunSignal, groups: RequestGroups | undefined, readsResponses = false) {
    this.onRecord = functionOf<OnRecord>(named);
    this.signal = signal;
    this.groups = groups;
    this.readsResponses = readsResponses;
  }

  /** Executes a run and passes its records to the function. The result has the function's error, if it throws. */
  async around(observer: RunObserver, execute: (observer: RunObserver) => Promise<RunResult>): Promise<RunResult> {
    const hook: RunObserver = {
      onFailed: ({ failure }) => this.failures.push(failure),
      onBatch: (records, count) => this.add(records, count),
      onProgress: (progress) => {
        this.progress = progress;
        timer = setInterval(() => progress.drainRecords(), INTERVAL_MS);
      },
      // Phases change while requests end; only `onPhase` reports this in time.
      onLevelStart: (unit, value, isWarmup, phase) => {
        if (phase === undefined) this.beginLevel({ unit, value, isWarmup });
      },
      onPhase: (start) =>
        this.beginLevel(
          start && { unit: start.unit, value: start.level, isWarmup: start.isWarmup, phase: start.label },
        ),
      ...(this.readsResponses ? this.responseEvents() : {}),
    };
    let timer: ReturnType<typeof setInterval> | undefined;
    // `hook` comes first, so that requests that ended before a level are passed on before the level is announced.
    const result = await execute(broadcast([hook, observer])).finally(() => clearInterval(timer));
    // When a run ends early, some responses are never measured, and the tokens of their requests never arrive.
    for (const entry of this.awaiting.values()) entry.isComplete = true;
    this.awaiting.clear();
    this.proceed();
    const late = this.signal.graceOver;
    let isLate = false;
    while (this.working !== undefined && !isLate)
      isLate = await Promise.race([this.working.then(() => false), late.then(() => true)]);
    // After an interrupt the function is not awaited: its promise may never settle.
    if (isLate) this.forget();
    return this.error === undefined || result.error !== undefined ? result : { ...result, error: this.error };
  }

  private responseEvents(): Pick<RunObserver, "onRecord" | "onTokens"> {
    return {
      onRecord: ({ index, extracted, hasTokens = false }) => {
        if (extracted !== undefined || hasTokens)
          this.fromResponses.set(index, { ...(extracted === undefined ? {} : { extracted }), hasTokens });
      },
      onTokens: (tokens) => {
        // The record may still be in a batch.
        if (!this.awaiting.has(tokens.index)) this.progress?.drainRecords();
        const entry = this.awaiting.get(tokens.index);
        if (entry === undefined) return;
        this.awaiting.delete(tokens.index);
        entry.record = { ...entry.record, tokens: toTokens(tokens) };
        entry.isComplete = true;
        this.proceed();
      },
    };
  }

  /** Requests that ended before belong to the previous level. */
  private beginLevel(level: FinishedRequest["level"]): void {
    this.progress?.drainRecords();
    this.level = level;
  }

  private add(records: RecordColumns, count: number): void {
    let failed = 0;
    for (let row = 0; row < count; row++) {
      const hasFailed = ((records.flags[row] as number) & RECORD_FAILED) !== 0;
      const failure = hasFailed ? this.failures[failed++] : undefined;
      this.put(this.toRecord(records, row, failure));
    }
    this.failures = this.failures.slice(failed);
    if (this.waiting.length - this.next > MOST_WAITING) {
      const cause = this.hasNext
        ? "onRecord is slower than the requests"
        : "the tokens of requests are measured too late for onRecord";
      const message = `${cause}: more than ${MOST_WAITING.toLocaleString("en-US")} records wait for it`;
      this.fail(new RunError("exception", message, "Make it faster, or lower the load."));
    }
    this.proceed();
  }

  private put(record: FinishedRequest): void {
    const { extracted, hasTokens = false } = this.fromResponses.get(record.index) ?? {};
    this.fromResponses.delete(record.index);
    if (this.error !== undefined) return;
    const entry: Waiting = {
      record: extracted === undefined ? record : { ...record, extracted },
      isComplete: !hasTokens,
    };
    if (hasTokens) this.awaiting.set(record.index, entry);
    this.waiting.push(entry);
  }

  private get hasNext(): boolean {
    return this.waiting[this.next]?.isComplete === true;
  }

  private proceed(): void {
    if (this.hasNext) this.working ??= this.work();
  }

  private toRecord(records: RecordColumns, row: number, failure: Failure | undefined): FinishedRequest {
    const sendNs = records.sendStartNs[row] as number;
    const endNs = records.endNs[row] as number;
    const firstNs = records.firstByteNs[row] as number;
    const flags = records.flags[row] as number;
    const isCancelled = (flags & RECORD_CANCELLED) !== 0;
    const hasFirst = failure === undefined || (firstNs > 0 && firstNs < endNs);
    return {
      index: this.count++,
      outcome: isCancelled ? "cancelled" : failure === undefined ? "completed" : "failed",
      sentAtMs: nsToMs(Number(toEpochNs(sendNs, this.progress?.delayNs))),
      latencyMs: nsToMs(endNs - sendNs),
      scheduledLatencyMs: nsToMs(endNs - (records.intendedSendNs[row] as number)),
      ...(hasFirst ? { firstByteMs: nsToMs(firstNs - sendNs) } : {}),
      ...((flags & RECORD_RESENT) === 0 ? {} : { isResent: true as const }),
      responses: records.responseCount[row] as number,
      tags: this.groups?.list[records.group[row] as number]?.tags ?? NO_TAGS,
      ...(this.level === undefined ? {} : { level: this.level }),
      ...(failure === undefined ? {} : { failure: toFailure(failure) }),
    };
  }

  /** Passes waiting records. Never rejects. Called when records wait, so that the promise is pending when this returns. */
  private async work(): Promise<void> {
    while (this.hasNext) {
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

  /** Takes the next records, up to the first one that waits for its tokens. */
  private takeBatch(): readonly FinishedRequest[] {
    const batch: FinishedRequest[] = [];
    for (; this.hasNext && batch.length < BATCH; this.next++) batch.push((this.waiting[this.next] as Waiting).record);
    if (this.next < this.waiting.length && this.next < FORGOTTEN) return batch;
    this.waiting.splice(0, this.next);
    this.next = 0;
    return batch;
  }

  private fail(error: RunError): void {
    this.error ??= error;
    this.forget();
    this.signal.fail(error);
  }

  /** Drops the records that the function has not received. */
  private forget(): void {
    this.waiting = [];
    this.awaiting.clear();
    this.next = 0;
  }
}

function toFailure({ kind, message, status }: Failure): NonNullable<FinishedRequest["failure"]> {
  return { kind, message, ...(status === undefined ? {} : { status }) };
}

function toTokens({ metrics, contentNs, error }: RequestTokens): FinishedTokens {
  const named = [...metrics].map(([metric, value]) =>
    isTimeMetric(metric) ? [`${nameOfMetric(metric)}Ms`, nsToMs(value)] : [metric, value],
  );
  return {
    ...Object.fromEntries(named),
    contentMs: Array.from(contentNs, nsToMs),
    ...(error === undefined ? {} : { error }),
  };
}
