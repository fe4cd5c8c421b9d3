import type { RecordColumns } from "../../measure/records.ts";
import type { RunTokens } from "../../measure/tokens/run-tokens.ts";
import type { Plan } from "../../plan/plan.ts";
import { RUN_EVENTS, type RunObserver } from "../../result/observer.ts";
import { type Clock, systemClock } from "../../runtime/clock.ts";
import type { PackedRequests, RequestReader } from "./packed-requests.ts";
import { RequestJournal } from "./request-journal.ts";
import { RequestOrder } from "./request-order.ts";

/** Maximum time that a finished request waits at its sender. */
const INTERVAL_MS = 250;

/**
 * Events that mark the progress of the run, for followers of single requests. All of them are passed on in order with
 * the requests.
 */
const PLACES: readonly (keyof RunObserver)[] = [
  ...(["onPrepared", "onLevelStart", "onPhase", "onWindow", "onEmptyWindow", "onAllStable", "onLevelEnd"] as const),
  ...(["onWindowStart", "onRecordsCut"] as const),
];

type Event = (...args: readonly unknown[]) => void;

export interface RequestBatch {
  /** The sender does not reuse it. */
  readonly records: RecordColumns;
  readonly count: number;
  readonly requests: PackedRequests;
}

/** Receives the requests of one sender, in order with its replies. */
export interface RequestListener {
  add(batch: RequestBatch): void;
  /** The sender has replied to a message that divides requests: see {@link DIVIDING}. */
  passed(): void;
  /** The sender is lost and reports nothing more. */
  lost(): void;
}

/** Names of the messages that divide the requests before them from those after them. */
export const DIVIDING: ReadonlySet<string> = new Set(["cut", "drain", "beginWindow"]);

/** Dependencies of {@link JoinedRequests}. */
export interface JoinedParts {
  readonly senderCount: number;
  /** The followers of the run. */
  readonly observer: RunObserver;
  readonly reader: RequestReader;
  /** Measures the tokens of all senders; undefined when tokens are not measured, or each sender measures its own. */
  readonly tokens: RunTokens | undefined;
  readonly plan: Plan;
  readonly clock?: Clock;
  /** The run cannot continue. */
  fail(error: unknown): void;
}

/** Approximate memory of a row of the records. */
const ROW_BYTES = 66;

/**
 * Passes the single requests of several senders to the followers of a run: each request once, between the same events as with a
 * single sender.
 */
export class JoinedRequests {
  readonly observer: RunObserver;
  /** Measures the tokens of all senders; undefined when tokens are not measured, or each sender measures its own. */
  readonly tokens: RunTokens | undefined;
  readonly plan: Plan;
  private order: RequestOrder<RequestBatch>;
  private readonly journal: RequestJournal<RequestBatch>;
  /** Requests of a phase that has begun, until it is announced. */
  private readonly early: RequestJournal<RequestBatch>;
  /** Events in order, starting with the first one that waits for earlier requests. */
  private readonly waiting: { readonly pass: () => void; isReady: boolean }[] = [];
  private readonly clock: Clock;
  private drainAll: () => void = () => {};
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor({ plan, senderCount, observer, reader, tokens, clock = systemClock, fail }: JoinedParts) {
    this.plan = plan;
    this.tokens = tokens;
    const sizeOf = ({ count, requests }: RequestBatch): number =>
      count * ROW_BYTES + requests.numbers.byteLength + requests.bytes.length;
    this.journal = new RequestJournal<RequestBatch>({
      ...{ clock, fail, sizeOf },
      handle: ({ records, count, requests }) => {
        reader.read(records, count, requests);
        observer.onBatch?.(records, count);
      },
    });
    this.early = new RequestJournal({ clock, fail, sizeOf, handle: (batch) => this.journal.addBatch(batch) });
    this.clock = clock;
    this.order = this.createOrder(senderCount);
    this.observer = this.follow(observer);
  }

  /** Begins. @param drainAll makes all senders drain their records */
  connect(drainAll: () => void): void {
    this.drainAll = drainAll;
    clearInterval(this.timer);
    this.timer = setInterval(() => this.divide(), INTERVAL_MS);
    this.timer.unref?.();
  }

  listenerOf(sender: number): RequestListener {
    return {
      add: (batch) => this.order.add(sender, batch),
      passed: () => this.order.passed(sender),
      lost: () => this.order.lose(sender),
    };
  }

  /**
   * Call before all senders get a message that divides requests. Resolves when the requests before it have been passed on, and none
   * after it.
   */
  begin(): Promise<void> {
    return this.order.begin();
  }

  /**
   * Makes all senders drain their records. @param action runs when these requests, and none that ended later, have been
   * passed on
   */
  divide(action?: () => void): void {
    void this.order.begin(action);
    this.drainAll();
  }

  /** Runs an action after the events and requests before it. @param then runs when the action is in its place */
  emit(run: () => void, then?: () => void): void {
    this.waiting.push({ pass: this.placing(run, then), isReady: true });
    this.passReady();
  }

  /** Resolves when everything has been passed on. Call when the senders have ended. */
  async finish(): Promise<void> {
    clearInterval(this.timer);
    this.order.finish();
    for (const event of this.waiting) event.isReady = true;
    this.passReady();
    this.early.resume();
    await this.journal.finish();
  }

  /** Changes to other senders, when the previous ones have ended. */
  renew(senderCount: number): void {
    this.order.finish();
    this.order = this.createOrder(senderCount);
  }

  private createOrder(senderCount: number): RequestOrder<RequestBatch> {
    return new RequestOrder(senderCount, (batch) => this.pass(batch), this.clock);
  }

  private pass(batch: RequestBatch): void {
    if (this.early.isIdle) this.journal.addBatch(batch);
    else this.early.addBatch(batch);
  }

  /**
   * Returns an observer that passes on the run's progress events in order with its requests. The requests come from the
   * senders.
   */
  private follow(observer: RunObserver): RunObserver {
    const followed: Record<string, Event> = {};
    for (const name of RUN_EVENTS) {
      const event = observer[name]?.bind(observer) as Event | undefined;
      if (event === undefined || name === "onBatch") continue;
      followed[name] = PLACES.includes(name) ? (...args) => this.emit(() => event(...args)) : event;
    }
    const { onLevelStart, onPhase }: RunObserver = observer;
    return {
      ...followed,
      // Both events are reported at once, when requests that ended earlier may still be at their senders.
      onPhase: (start) =>
        this.emitAfter(
          () => onPhase?.call(observer, start),
          // The results of the previous phase come first, and take time.
          () => start !== undefined && this.early.pause(),
        ),
      onLevelStart: (unit, level, isWarmup, phase) => {
        const run = (): void => onLevelStart?.call(observer, unit, level, isWarmup, phase);
        if (phase === undefined) this.emitAfter(run);
        else this.emit(run, () => this.early.resume());
      },
    };
  }

  /** Like `emit`, but also after requests that have ended and are still at their senders. */
  private emitAfter(run: () => void, then?: () => void): void {
    const event = { pass: this.placing(run, then), isReady: false };
    this.waiting.push(event);
    this.divide(() => {
      event.isReady = true;
      this.passReady();
    });
  }

  private placing(run: () => void, then: (() => void) | undefined): () => void {
    return () => {
      this.journal.addEvent(run);
      then?.();
    };
  }

  private passReady(): void {
    while (this.waiting[0]?.isReady === true) this.waiting.shift()?.pass();
  }
}
